// A window of a quantized table: elements that lie together, whose codes and scales are bound. Elements
// count from the start of the window; `params` are its codes, as words.

struct Table {
    count: u32,           // elements of the window
    codes_offset: u32,    // bytes from the start of the binding to its codes
    last_word: u32,       // the last word that has some of them
    fills: u32,           // 1: this dispatch writes what bad indices leave
    options: u32,         // bits: see below
    row_length: u32,      // elements of a row with scale and bias
    row_divisor: vec2<u32>,
    // Where codes, scales and zero points lie apart:
    bits_log2: u32,       // of a code: 1, 2 or 3
    lead: u32,            // codes in the first byte that come before the window
    is_signed: u32,
    zero: u32,            // what is subtracted from each code, if there are no zero points
    zeros_offset: u32,    // bytes from the start of the binding of scales
    scales_offset: u32,
    scale_log2: u32,      // bytes of a scale: 0, 1 or 2
    extent: u32,          // lines of an axis
    along: u32,           // blocks along it
    inner: u32,           // elements of a line
    extent_divisor: vec2<u32>,
    inner_divisor: vec2<u32>,
    block_divisor: vec2<u32>,
    block_log2: u32,      // elements of a block, unless they are odd
}

@group(0) @binding(4) var<storage, read> scales: array<u32>;
@group(0) @binding(5) var<uniform> table: Table;

// Bits of table.options.
const HALVES = 1u;        // the output is f16,
const BFLOAT = 2u;        // or bf16
const ZERO_POINTS = 4u;   // there is a zero point for each scale, in a byte
const F16_SCALES = 8u;    // scales are f16,
const BF16_SCALES = 16u;  // or bf16
const ODD_BLOCKS = 32u;   // the block of an element takes more than a shift
const SEVERAL_ROWS = 64u; // a row of the output takes elements of several rows with a scale and a bias

fn option(bit: u32) -> bool {
    return (table.options & bit) != 0u;
}

// Each element is held against the window by itself, as rows may cross its bounds.
fn find_segment(source: ptr<function, Source>) {
}

fn load(segment: u32, at: u32) -> Vector {
    return params[at];
}

// An element of a row.
struct Spot {
    element: u32, // in the window; 0, if it is not there or its index is bad
    stored: bool, // whether this dispatch writes it
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

// Four bytes of the codes, from byte `at` of the binding on. Behind the last word, that is repeated.
fn four_bytes(at: u32) -> u32 {
    return funnelled(at, min(at + 3u, 4u * table.last_word + 3u), 8u * (at & 3u));
}

// The bytes from `at` to `last`, of which the first is shifted so far in its word.
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

// Codes of 4 bits: the lower and the upper ones of four bytes.
fn low_nibbles(word: u32) -> u32 {
    return word & 0x0f0f0f0fu;
}

fn high_nibbles(word: u32) -> u32 {
    return (word >> 4u) & 0x0f0f0f0fu;
}

// Four bits, as bit 4 of four bytes.
fn fifth_bits(bits: u32) -> u32 {
    return (((bits & 15u) * 0x204081u) << 4u) & 0x10101010u;
}

// The two bytes at an even byte of the codes, in the lower half.
fn two_bytes(at: u32) -> u32 {
    return params[at >> 2u] >> (8u * (at & 3u));
}

// The bits of the f16 there.
fn half_at(at: u32) -> u32 {
    return two_bytes(at) & 0xffffu;
}

// Four elements of two bytes.
fn four_halves(e: u32) -> vec2<u32> {
    let at = table.codes_offset + 2u * e;
    let high = at + select(0u, 4u, e + 2u < table.count); // if there are so many
    return vec2(codes_at(at), codes_at(high));
}

// Whether the magnitudes of four halves are below one.
fn are_below(words: vec2<u32>, most: u32) -> bool {
    let beyond = (words & vec2(0x7fff7fffu)) + vec2((0x8000u - most) * 0x10001u);
    return ((beyond.x | beyond.y) & 0x80008000u) == 0u;
}

// Two fours of elements, as the bits of f32.
struct Eight {
    a: vec4<u32>,
    b: vec4<u32>,
}

// What a format has of its own:
// - `PAIR_LOG2`: two fours so far apart share their scales or the words of their codes, and are decoded
//   together; 0, if none do.
// - `Raw`, what is loaded for two fours, and `load_pair(a, b)`, which loads it for the fours from elements `a`
//   and `b` on. All loads come before all arithmetic, so that they do not wait for each other.
// - `is_plain(raw)`: whether the scales are such as tables have. Of these, all elements are below the
//   largest f16, and `decode` and `plain_f16` are short.
// - `SHORT`: whether elements have no more bits than a bf16 has.
// - `NORMAL`: whether elements of plain scales are normal as f16, or zero.
// - `decode(raw, plain)`: the elements. `plain` may be false for plain scales, too.
// A single element is the first of a four: where `load_pair` is given no multiple of four, that one is right.
