// The predicate for indices: one coordinate at a time, at full width. Its twin on the host is
// `Rules::resolve` in src/rules.rs.

override INDEX_WORDS: u32 = 1u; // 2: 64 bits

// Bits of geometry.index_rules: one pipeline serves all rules.
const SIGNED = 1u;
const FROM_END = 2u; // negative indices count from the end, once
const CLIP = 4u;
const WRAP = 8u;

// A coordinate in params; the high word only if WIDE, where extents may be beyond 2^31.
struct Coordinate {
    low: u32,
    high: u32,
    valid: bool,
}

fn rule(bit: u32) -> bool {
    return (geometry.index_rules & bit) != 0u;
}

// An index, sign-extended to 64 bits: low word, high word.
fn load_index(at: u32) -> vec2<u32> {
    if (INDEX_WORDS == 2u) {
        return vec2(indices[2u * at], indices[2u * at + 1u]);
    }
    let low = indices[at];
    return vec2(low, select(0u, 0xffffffffu, (low >= 0x80000000u) & rule(SIGNED)));
}

// Neighbours may hold good and bad indices, so no rule is a branch that waits: what an index would be
// clipped to is worked out for all. Only wrapping loops, which pipelines for small nests leave out: with
// a branch in them, loads would wait for each other. (So `&` and `|`, here and elsewhere: `&&` and `||`
// are branches.)
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
    var found = select(value, select(last, vec2(0u), is_negative(value)), clips);
    if (LOOPS == 0u) {
        if (rule(WRAP)) {
            found = modulo(value, extent, inside);
        }
    }
    return Coordinate(found.x, found.y, inside | rule(CLIP | WRAP));
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

// Whether the low word says it all: extents are below 2^31, so what lies outside in 64 bits does so
// in 32 bits that wrap around.
fn is_short() -> bool {
    return (INDEX_WORDS == 1u) & !WIDE;
}

fn is_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}

// value modulo extent, never negative; value itself, if it is inside. Long division by bits: extents
// are below 2^63, so that twice a remainder stays below 2^64.
fn modulo(value: vec2<u32>, extent: vec2<u32>, inside: bool) -> vec2<u32> {
    let negative = is_negative(value);
    var bits = select(value, subtract(vec2(0u), value), negative); // its magnitude
    var rest = vec2(0u);
    let steps = select(64u, 0u, inside);
    for (var n = 0u; n < steps; n++) {
        rest = vec2((rest.x << 1u) | (bits.y >> 31u), (rest.y << 1u) | (rest.x >> 31u));
        bits = vec2(bits.x << 1u, (bits.y << 1u) | (bits.x >> 31u));
        if (!is_less(rest, extent)) {
            rest = subtract(rest, extent);
        }
    }
    let from_end = negative & any(rest != vec2(0u));
    return select(select(rest, subtract(extent, rest), from_end), value, inside);
}

fn subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}
