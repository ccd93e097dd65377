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
    block: u32,           // lines of a block
}

@group(0) @binding(4) var<storage, read> scales: array<u32>;
@group(0) @binding(5) var<uniform> table: Table;

// Bits of table.options.
const HALVES = 1u;        // the output is f16,
const BFLOAT = 2u;        // or bf16
const ZERO_POINTS = 4u;   // there is a zero point for each scale, in a byte
const F16_SCALES = 8u;    // scales are f16,
const BF16_SCALES = 16u;  // or bf16

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
    let low = params[at >> 2u];
    let high = params[min((at + 3u) >> 2u, table.last_word)];
    let shift = 8u * (at & 3u);
    return (low >> shift) | ((high << 1u) << (31u - shift));
}

fn byte_at(at: u32) -> u32 {
    return (params[at >> 2u] >> (8u * (at & 3u))) & 0xffu;
}

fn bytes(word: u32) -> vec4<u32> {
    return (vec4(word) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu);
}

// Four codes of 4 bits, of 32 in 16 bytes from `at` on: the lower ones of all bytes, then the upper ones.
fn nibbles(at: u32, n: u32) -> vec4<u32> {
    return bytes(four_bytes(at + (n & 15u)) >> (4u * (n >> 4u))) & vec4(15u);
}

// The f16 at an even byte of the codes.
fn half_at(at: u32) -> f32 {
    return bitcast<f32>(from_f16(vec4((params[at >> 2u] >> (8u * (at & 3u))) & 0xffffu)).x);
}

// What a format has of its own is `decode_four(e, own)`: the bits of the four elements from `e` on, a
// multiple of four, as f32. Where they have several scales, what counts is element `own`, one of them.
