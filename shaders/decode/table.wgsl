// A window of a quantized table: the contiguous elements whose codes and scales are bound. Element numbers
// start at the window; `params` holds its codes, as words.

struct Table {
    count: u32,           // elements of the window
    codes_offset: u32,    // bytes from the start of the binding to its codes
    last_word: u32,       // last word with codes of the window
    fills: u32,           // 1: this dispatch writes the fill value for bad indices
    options: u32,         // bits: see below
    row_length: u32,      // elements of a row, in formats with a scale and bias per row
    row_divisor: vec2<u32>,
    // For split formats (codes, scales and zero points in separate arrays):
    bits_log2: u32,       // of a code: 1, 2 or 3
    lead: u32,            // codes in the first byte that come before the window
    is_signed: u32,
    zero: u32,            // subtracted from each code, if there are no zero points
    zeros_offset: u32,    // of the zero points, in bytes from the start of the binding of scales
    scales_offset: u32,
    scale_log2: u32,      // bytes of a scale: 0, 1 or 2
    extent: u32,          // lines of an axis
    along: u32,           // blocks along it
    inner: u32,           // elements of a line
    extent_divisor: vec2<u32>,
    inner_divisor: vec2<u32>,
    block_divisor: vec2<u32>,
    block_log2: u32,      // elements of a block, as a power of two, unless ODD_BLOCKS
}

@group(0) @binding(4) var<storage, read> scales: array<u32>;
@group(0) @binding(5) var<uniform> table: Table;

// Bits of table.options.
const HALVES = 1u;        // the output is f16,
const BFLOAT = 2u;        // or bf16
const ZERO_POINTS = 4u;   // there is a zero point for each scale, in a byte
const F16_SCALES = 8u;    // scales are f16,
const BF16_SCALES = 16u;  // or bf16
const ODD_BLOCKS = 32u;   // the block of an element takes divisions, not one shift
const SEVERAL_ROWS = 64u; // an output row spans several rows of the table, each with a scale and a bias

fn option(bit: u32) -> bool {
    return (table.options & bit) != 0u;
}

// Elements are checked against the window one by one, as rows may cross its bounds.
fn find_segment(source: ptr<function, Source>) {
}

fn load(segment: u32, at: u32) -> Vector {
    return params[at];
}

// An element of a row.
struct Spot {
    element: u32, // within the window; 0 if it lies outside or its index is bad
    stored: bool, // this dispatch writes it
}

fn find_spot(source: Source, column: u32) -> Spot {
    let element = source.params + column;
    var inside = element < table.count;
    if (WIDE) {
        let high = source.params_high + select(0u, 1u, element < column);
        inside = inside & (high == 0u);
    }
    let stored = select(table.fills != 0u, inside, source.valid);
    return Spot(select(0u, element, inside & source.valid), stored);
}

// Four bytes of codes at byte `at` of the binding. Reads past the last word repeat it.
fn four_bytes(at: u32) -> u32 {
    return funnelled(at, min(at + 3u, 4u * table.last_word + 3u), 8u * (at & 3u));
}

// Funnel shift: the word that holds byte `at` and the word that holds byte `last`, right by `shift` bits.
fn funnelled(at: u32, last: u32, shift: u32) -> u32 {
    let low = params[at >> 2u];
    let high = params[last >> 2u];
    return (low >> shift) | ((high << 1u) << (31u - shift));
}

fn byte_at(at: u32) -> u32 {
    return (params[at >> 2u] >> (8u * (at & 3u))) & 0xffu;
}

fn bytes(word: u32) -> vec4<u32> {
    return (vec4(word) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu);
}

// Unpacks 4-bit codes: the low nibbles and the high nibbles of four bytes.
fn low_nibbles(word: u32) -> u32 {
    return word & 0x0f0f0f0fu;
}

fn high_nibbles(word: u32) -> u32 {
    return (word >> 4u) & 0x0f0f0f0fu;
}

// Spreads four bits to bit 4 of four bytes.
fn fifth_bits(bits: u32) -> u32 {
    return (((bits & 15u) * 0x204081u) << 4u) & 0x10101010u;
}

// Two bytes at an even byte of the codes, in the lower half of the word.
fn two_bytes(at: u32) -> u32 {
    return params[at >> 2u] >> (8u * (at & 3u));
}

// The bits of an f16 at an even byte of the codes.
fn half_at(at: u32) -> u32 {
    return two_bytes(at) & 0xffffu;
}

// Four elements of two bytes.
fn four_halves(e: u32) -> vec2<u32> {
    let at = table.codes_offset + 2u * e;
    let high = at + select(0u, 4u, e + 2u < table.count); // if there are more than two
    return vec2(codes_at(at), codes_at(high));
}

// The magnitudes of four 16-bit floats are all below `most`; both as bits.
fn are_below(words: vec2<u32>, most: u32) -> bool {
    let beyond = (words & vec2(0x7fff7fffu)) + vec2((0x8000u - most) * 0x10001u);
    return ((beyond.x | beyond.y) & 0x80008000u) == 0u;
}

// Two groups of four elements, as the bits of f32.
struct Eight {
    a: vec4<u32>,
    b: vec4<u32>,
}

// A format defines:
// - `PAIR_LOG2`: log2 of the distance, in elements, of two groups of four that share scales or words of codes
//   and are decoded together; 0 if none do.
// - `Raw`: the loaded words of two groups. `load_pair(a, b)` loads those of the groups that start at elements
//   `a` and `b`. All loads come before all arithmetic, so that they are in flight together.
// - `is_plain(raw)`: the scales are in the range of ordinary tables. Then every element is below the largest
//   f16, and the short path of `decode` and `plain_f16` applies.
// - `SHORT`: elements have at most the significant bits of a bf16.
// - `NORMAL`: elements with plain scales are normal as f16, or zero.
// - `decode(raw, plain)`: the elements. `plain` may be false for plain scales, too.
// A single element is decoded as the first of a group: for an `a` or `b` that is not a multiple of four, only
// the first element of the group is right.
