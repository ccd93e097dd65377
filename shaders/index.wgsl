// The predicate for indices: one coordinate at a time, at full width. Its twin on the host is
// `Rules::resolve` in src/rules.rs.

override INDEX_WORDS: u32 = 1u; // 2: 64 bits

// Bits of geometry.index_rules. They matter only for an index that is not plainly inside, so they
// are no overrides: one pipeline serves all rules.
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

// Without branches, as far as most rules go: neighbours may hold good and bad indices. (So `&`
// and `|`, here and elsewhere: `&&` and `||` are branches.)
fn resolve(index: vec2<u32>, extent: vec2<u32>) -> Coordinate {
    let from_end = is_negative(index) & rule(FROM_END);
    let low = index.x + select(0u, extent.x, from_end);
    var high = index.y + select(0u, 1u, low < index.x); // the carry
    if (WIDE) {
        high += select(0u, extent.y, from_end);
    }
    var coordinate = Coordinate(low, high, is_inside(vec2(low, high), extent));
    if (!PLAIN & !coordinate.valid) {
        coordinate = resolve_outside(vec2(low, high), extent);
    }
    return coordinate;
}

fn is_negative(index: vec2<u32>) -> bool {
    return (index.y >= 0x80000000u) & rule(SIGNED);
}

fn is_inside(value: vec2<u32>, extent: vec2<u32>) -> bool {
    if (WIDE) {
        return is_less(value, extent);
    }
    return (value.y == 0u) & (value.x < extent.x);
}

fn is_less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}

fn resolve_outside(value: vec2<u32>, extent: vec2<u32>) -> Coordinate {
    let negative = is_negative(value);
    var inside = vec2(0u);
    if (rule(CLIP)) {
        let last = vec2(extent.x - 1u, extent.y - select(0u, 1u, extent.x == 0u));
        inside = select(last, vec2(0u), negative);
    } else if (rule(WRAP)) {
        inside = modulo(value, negative, extent);
    }
    return Coordinate(inside.x, inside.y, rule(CLIP | WRAP));
}

// value modulo extent, never negative. Long division by bits: extents are below 2^63, so that
// twice a remainder stays below 2^64.
fn modulo(value: vec2<u32>, negative: bool, extent: vec2<u32>) -> vec2<u32> {
    var bits = value;
    if (negative) { // its magnitude
        bits = negate(bits);
    }
    var rest = vec2(0u);
    for (var n = 0u; n < 64u; n++) {
        rest = vec2((rest.x << 1u) | (bits.y >> 31u), (rest.y << 1u) | (rest.x >> 31u));
        bits = vec2(bits.x << 1u, (bits.y << 1u) | (bits.x >> 31u));
        if (!is_less(rest, extent)) {
            rest = subtract(rest, extent);
        }
    }
    if (negative && any(rest != vec2(0u))) {
        rest = subtract(extent, rest);
    }
    return rest;
}

fn negate(value: vec2<u32>) -> vec2<u32> {
    return subtract(vec2(0u), value);
}

fn subtract(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}
