// The predicate for indices: one coordinate at a time, at full width. Its twin on the host is
// `Rules::resolve` in src/rules.rs.

override INDEX_WORDS: u32 = 1u; // 2: 64 bits

// Bits of geometry.index_rules. They matter only for an index that is not plainly inside, so they
// are no overrides: one pipeline serves all rules.
const SIGNED = 1u;
const FROM_END = 2u; // negative indices count from the end, once
const CLIP = 4u;
const WRAP = 8u;

const BAD = 0xffffffffu; // no coordinate: extents are below 2^31

fn rule(bit: u32) -> bool {
    return (geometry.index_rules & bit) != 0u;
}

// An index, sign-extended to 64 bits: low word, high word.
fn load_index(at: u32) -> vec2<u32> {
    if (INDEX_WORDS == 2u) {
        return vec2(indices[2u * at], indices[2u * at + 1u]);
    }
    let low = indices[at];
    return vec2(low, select(0u, 0xffffffffu, low >= 0x80000000u && rule(SIGNED)));
}

// Without branches, as far as most rules go: neighbours may hold good and bad indices.
fn resolve(index: vec2<u32>, extent: u32) -> u32 {
    let from_end = select(0u, extent, is_negative(index) && rule(FROM_END));
    let low = index.x + from_end;
    let high = index.y + select(0u, 1u, low < from_end); // the carry
    if (PLAIN) {
        return select(BAD, low, high == 0u && low < extent);
    }
    if (high == 0u && low < extent) {
        return low;
    }
    return resolve_outside(vec2(low, high), extent);
}

fn is_negative(index: vec2<u32>) -> bool {
    return index.y >= 0x80000000u && rule(SIGNED);
}

fn resolve_outside(value: vec2<u32>, extent: u32) -> u32 {
    let negative = is_negative(value);
    if (rule(CLIP)) {
        return select(extent - 1u, 0u, negative);
    }
    if (rule(WRAP)) {
        return modulo(value, negative, extent);
    }
    return BAD;
}

// value modulo extent, never negative. Long division by bits: the remainder stays below 2^31.
fn modulo(value: vec2<u32>, negative: bool, extent: u32) -> u32 {
    var low = value.x;
    var high = value.y;
    if (negative) { // its magnitude
        low = ~low + 1u;
        high = ~high + select(0u, 1u, low == 0u);
    }
    var rest = high % extent;
    for (var bit = 32u; bit > 0u; bit--) {
        rest = ((rest << 1u) | ((low >> (bit - 1u)) & 1u)) % extent;
    }
    return select(rest, extent - rest, negative && rest != 0u);
}
