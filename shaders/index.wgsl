// The predicate for indices: one coordinate at a time, at full width. Its twin on the host is
// `Rules::resolve` in src/rules.rs.

override INDEX_WORDS: u32 = 0u; // 1; 2: 64-bit indices; 0: bit LONG of the rules decides

// Bits of geometry.index_rules: one pipeline serves all rules.
const SIGNED = 1u;
const FROM_END = 2u; // negative indices count from the end, once
const CLIP = 4u;
const WRAP = 8u;
const LONG = 16u; // indices have 64 bits
const FLAG = 32u; // a bad index raises the flag

// A coordinate in params; the high word only if WIDE, where extents may be beyond 2^31.
struct Coordinate {
    low: u32,
    high: u32,
    valid: bool,
}

fn extent_of(c: vec4<u32>) -> vec2<u32> {
    return vec2(c.x, select(0u, c.w, WIDE));
}

fn rule(bit: u32) -> bool {
    return (geometry.index_rules & bit) != 0u;
}

// An index, sign-extended to 64 bits: low word, high word. A pipeline for both widths always loads two words:
// a load inside a branch would wait for the loads before it.
fn load_index(at: u32) -> vec2<u32> {
    let step = select(0u, 1u, is_long());
    let low = indices[at << step];
    var high = select(0u, 0xffffffffu, (low >= 0x80000000u) & rule(SIGNED));
    if (INDEX_WORDS != 1u) {
        high = select(high, indices[(at << step) + step], is_long());
    }
    return vec2(low, high);
}

// Indices are of 64 bits.
fn is_long() -> bool {
    return (INDEX_WORDS == 2u) | ((INDEX_WORDS == 0u) & rule(LONG));
}

// Branch-free, as good and bad indices are mixed within a wave: every rule is a select, and the clipped index
// is computed for all. (Hence `&` and `|`, here and elsewhere: `&&` and `||` branch.) Only wrapping needs
// more: see `wrapped` in copy.wgsl.
fn resolve(index: vec2<u32>, extent: vec2<u32>) -> Coordinate {
    let from_end = is_negative(index) & rule(FROM_END);
    let low = index.x + select(0u, extent.x, from_end);
    var high = index.y + select(0u, 1u, low < index.x); // the carry
    if (WIDE) {
        high += select(0u, extent.y, from_end);
    }
    let value = vec2(low, high);
    let inside = is_inside(value, extent);
    let clips = !inside & rule(CLIP);
    let last = vec2(extent.x - 1u, extent.y - select(0u, 1u, extent.x == 0u));
    let found = select(value, select(last, vec2(0u), is_negative(value)), clips);
    return Coordinate(found.x, found.y, inside | rule(CLIP));
}

fn is_negative(index: vec2<u32>) -> bool {
    return (select(index.y, index.x, is_short()) >= 0x80000000u) & rule(SIGNED);
}

fn is_inside(value: vec2<u32>, extent: vec2<u32>) -> bool {
    if (WIDE) {
        return is_less(value, extent);
    }
    return (value.x < extent.x) & ((value.y == 0u) | is_short());
}

// The low word is enough: for 32-bit indices and extents below 2^31, what is out of range in 64 bits is also
// out of range in wrapping 32-bit arithmetic.
fn is_short() -> bool {
    return (INDEX_WORDS == 1u) & !WIDE;
}

fn is_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}

// Euclidean remainder of index by extent. `divisor` is the multiplier and shift for the extent, unless WIDE.
fn modulo(index: vec2<u32>, extent: vec2<u32>, divisor: vec2<u32>) -> vec2<u32> {
    let negative = is_negative(index);
    let magnitude = select(index, subtract(vec2(0u), index), negative);
    var rest = magnitude;
    if (WIDE) {
        let steps = select(64u, 0u, is_less(magnitude, extent));
        rest = select(long_division(magnitude, extent, steps), rest, steps == 0u);
    } else {
        let short = is_short() | (magnitude.y == 0u);
        rest = vec2(short_remainder(select(magnitude.y, magnitude.x, short), extent.x, divisor), 0u);
        // The low word, bit by bit, if there is a high one. Extents are below 2^31: doubling does not overflow.
        var bits = magnitude.x;
        for (var n = select(32u, 0u, short); n > 0u; n--) {
            let twice = (rest.x << 1u) | (bits >> 31u);
            bits <<= 1u;
            rest.x = select(twice, twice - extent.x, twice >= extent.x);
        }
    }
    return select(rest, subtract(extent, rest), negative & any(rest != vec2(0u)));
}

// Remainder of a word. `divide` takes values below 2^31, so it divides the half.
fn short_remainder(value: u32, extent: u32, divisor: vec2<u32>) -> u32 {
    let half = value >> 1u;
    let twice = 2u * (half - divide(half, divisor) * extent) + (value & 1u);
    return select(twice, twice - extent, twice >= extent);
}

// Remainder by binary long division, over 64 steps, or none if it is not needed. Extents are below 2^63, so
// doubling a remainder does not overflow 64 bits.
fn long_division(value: vec2<u32>, extent: vec2<u32>, steps: u32) -> vec2<u32> {
    var bits = value;
    var rest = vec2(0u);
    for (var n = 0u; n < steps; n++) {
        rest = vec2((rest.x << 1u) | (bits.y >> 31u), (rest.y << 1u) | (rest.x >> 31u));
        bits = vec2(bits.x << 1u, (bits.y << 1u) | (bits.x >> 31u));
        if (!is_less(rest, extent)) {
            rest = subtract(rest, extent);
        }
    }
    return rest;
}

fn subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}
