// What the kernels of pooled lookups share: the rows of a bag, and their fold. An invocation folds the
// same columns of one row after the other, in the order of the indices.
//
// The columns are up to four lanes of 32 bits: elements of f32 and of integers of up to 32 bits, f16 and
// bf16 as f32, and pairs of lanes for integers of 64 bits.

override ELEMENT: u32 = 0u; // which of these

const F32 = 0u;
const F16 = 1u;
const BF16 = 2u;
const I8 = 3u;
const I16 = 4u;
const I32 = 5u;
const I64 = 6u;

struct Pooling {
    flags: u32,
    padding: u32,       // the row that counts for nothing, and its high word
    padding_high: u32,
    each: u32,          // the lookups of a bag, where all have as many
    offsets_at: u32,    // the word of `bags` with the offset of the first bag
    weights_at: u32,    // the element of `bags` with the weight of the first lookup
    bag_step: u32,      // from bag to bag in indices, where all have as many lookups
    lookup_step: u32,   // from lookup to lookup
    weights_bag_step: u32,
    weights_step: u32,
    sign: u32,          // the sign bit of a lane; of the high one, for 64 bits
    folds_at: u32,      // the word of `bags` or of the output with the first fold of a part
    rows_step: u32,     // from the row of a lookup to that of the next, where rows lie in the order of
                        // the lookups; 0, where indices say where they are
}

// Bits of pooling.flags.
const MAX = 1u;
const MEAN = 2u;
const WEIGHTED = 4u;
const OFFSETS = 8u;
const PADDED = 16u;
const RESUMES = 32u; // goes on with a fold of an earlier dispatch
const PARTIAL = 64u; // leaves its fold to a later one

// Offsets and weights.
@group(0) @binding(4) var<storage, read> bags: array<u32>;
@group(0) @binding(13) var<uniform> pooling: Pooling;

fn pools(bit: u32) -> bool {
    return (pooling.flags & bit) != 0u;
}

struct Fold {
    lanes: vec4<u32>,
    count: u32, // how many rows it has
}

struct Row {
    source: Source,
    counts: bool, // whether it is not the padding
}

// The row that the index there selects, at the columns of `at`, and so many accesses on.
fn look_up_row(at: Place, index_at: u32, row_at: u32) -> Row {
    let c = geometry.coordinates[0];
    let index = load_index(index_at);
    var row = resolve(index, extent_of(c));
    if (rule(WRAP) & !row.valid) {
        let wrapped_row = modulo(index, extent_of(c), c.zw);
        row = Coordinate(wrapped_row.x, wrapped_row.y, true);
    }
    let high = select(0u, row.high, WIDE);
    let padding = pools(PADDED) & row.valid
        & (row.low == pooling.padding) & (high == pooling.padding_high);
    var source = Source(at.params + row_at, row.valid, true, 0u, at.params_high);
    add_steps(vec2(row.low, row.high), c, &source);
    find_segment(&source);
    return Row(source, !padding);
}

// The fold of bag number `number` at the columns of access `column`. A part of a bag is bag number 0.
fn fold_bag(number: u32, column: u32) -> Fold {
    let at = place(column);
    var lookup = 0u;
    var end = pooling.each;
    var row_at = number * pooling.each * pooling.rows_step;
    var index_at = at.indices + number * pooling.bag_step;
    var weight_at = pooling.weights_at + number * pooling.weights_bag_step;
    if (pools(OFFSETS)) {
        lookup = bags[pooling.offsets_at + number];
        end = bags[pooling.offsets_at + number + 1u];
        row_at = lookup * pooling.rows_step;
        index_at += lookup * pooling.lookup_step;
        weight_at += lookup * pooling.weights_step;
    }
    var lanes = vec4(0u);
    var count = 0u;
    if (pools(RESUMES)) {
        let left_at = pooling.folds_at + 8u * column;
        lanes = vec4(bags[left_at], bags[left_at + 1u], bags[left_at + 2u], bags[left_at + 3u]);
        count = bags[left_at + 4u];
    }
    for (; lookup < end; lookup++) {
        let row = look_up_row(at, index_at, row_at);
        if (row.counts) {
            let value = unpack(fetch_words(row.source, column));
            lanes = next_lanes(lanes, value, weight_at, count == 0u);
            count += 1u;
        }
        row_at += pooling.rows_step;
        index_at += pooling.lookup_step;
        weight_at += pooling.weights_step;
    }
    return Fold(lanes, count);
}

// The words of a fold that has all rows.
fn words_of_fold(fold: Fold) -> vec4<u32> {
    var lanes = fold.lanes;
    // (Not for integers: what passes by float arithmetic may come out as another NaN.)
    if ((ELEMENT <= BF16) & pools(MEAN) & (fold.count > 0u)) {
        lanes = bitcast<vec4<u32>>(bitcast<vec4<f32>>(lanes) / f32(fold.count));
    }
    return pack(lanes);
}

// The fold with one more value. A sum starts from zero, a maximum from its first value.
fn next_lanes(lanes: vec4<u32>, value: vec4<u32>, weight_at: u32, first: bool) -> vec4<u32> {
    var next = lanes;
    if (pools(MAX)) {
        next = select(max_lanes(lanes, value), value, vec4(first));
    } else if ((ELEMENT <= BF16) & pools(WEIGHTED)) {
        let weight = bitcast<f32>(load_weight(weight_at));
        next = bitcast<vec4<u32>>(bitcast<vec4<f32>>(lanes) + weight * bitcast<vec4<f32>>(value));
    } else {
        next = add_lanes(lanes, value);
    }
    return next;
}

fn load_weight(at: u32) -> u32 {
    var weight = 0u;
    if (ELEMENT == F32) {
        weight = bags[at];
    } else {
        let half = (bags[at >> 1u] >> (16u * (at & 1u))) & 0xffffu;
        weight = widen(vec4(half)).x;
    }
    return weight;
}

fn add_lanes(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    var sum = a + b;
    if (ELEMENT <= BF16) {
        sum = bitcast<vec4<u32>>(bitcast<vec4<f32>>(a) + bitcast<vec4<f32>>(b));
    } else if (ELEMENT == I64) {
        let carry = select(vec4(0u), vec4(1u), sum < a);
        sum += vec4(0u, carry.x, 0u, carry.z);
    }
    return sum;
}

fn max_lanes(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let sign = vec4(pooling.sign);
    var least_a = (a ^ sign) < (b ^ sign);
    if (ELEMENT <= BF16) {
        least_a = order(a) < order(b);
    } else if (ELEMENT == I64) {
        let high = least_a.yw;
        let low = (a.yw == b.yw) & (a.xz < b.xz);
        least_a = (high | low).xxyy;
    }
    let greatest = select(a, b, least_a);
    let nan = (is_nan(a) | is_nan(b)) & vec4(ELEMENT <= BF16);
    return select(greatest, vec4(0x7fc00000u), nan);
}

// Bits of floats as integers of the same order: -0 before +0.
fn order(bits: vec4<u32>) -> vec4<u32> {
    return bits ^ select(vec4(0x80000000u), vec4(0xffffffffu), bits >= vec4(0x80000000u));
}

fn is_nan(bits: vec4<u32>) -> vec4<bool> {
    return (bits & vec4(0x7fffffffu)) > vec4(0x7f800000u);
}

// The lanes of the words of an access.
fn unpack(words: vec4<u32>) -> vec4<u32> {
    var lanes = words;
    if (ELEMENT == I8) {
        lanes = (vec4(words.x) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu);
    } else if ((ELEMENT == F16) | (ELEMENT == BF16) | (ELEMENT == I16)) {
        lanes = vec4(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu, words.y >> 16u);
        lanes = widen(lanes);
    }
    return lanes;
}

// Halves as f32, exactly; integers as they are.
fn widen(halves: vec4<u32>) -> vec4<u32> {
    var wide = halves;
    if (ELEMENT == BF16) {
        wide = halves << vec4(16u);
    } else if (ELEMENT == F16) {
        let magnitude = halves & vec4(0x7fffu);
        let in_place = magnitude << vec4(13u);
        // 2^-24 is the least: as f32, subnormals are normal numbers.
        let subnormal = bitcast<vec4<u32>>(vec4<f32>(magnitude) * 5.9604644775390625e-8);
        wide = select(in_place + vec4(112u << 23u), subnormal, magnitude < vec4(0x400u));
        wide = select(wide, in_place | vec4(0x7f800000u), magnitude >= vec4(0x7c00u));
        wide |= (halves & vec4(0x8000u)) << vec4(16u);
    }
    return wide;
}

// The words of lanes: floats are rounded to their type, to nearest even, and every NaN is the same one.
fn pack(lanes: vec4<u32>) -> vec4<u32> {
    var words = lanes;
    if (ELEMENT == F32) {
        words = select(lanes, vec4(0x7fc00000u), is_nan(lanes));
    } else if (ELEMENT == F16) {
        words = join_halves(vec4(
            narrow_f16(lanes.x), narrow_f16(lanes.y), narrow_f16(lanes.z), narrow_f16(lanes.w),
        ));
    } else if (ELEMENT == BF16) {
        let odd = (lanes >> vec4(16u)) & vec4(1u);
        let rounded = (lanes + vec4(0x7fffu) + odd) >> vec4(16u);
        words = join_halves(select(rounded, vec4(0x7fc0u), is_nan(lanes)));
    } else if (ELEMENT == I16) {
        words = join_halves(lanes & vec4(0xffffu));
    } else if (ELEMENT == I8) {
        let bytes = (lanes & vec4(0xffu)) << vec4(0u, 8u, 16u, 24u);
        words = vec4(bytes.x | bytes.y | bytes.z | bytes.w, 0u, 0u, 0u);
    }
    return words;
}

fn join_halves(halves: vec4<u32>) -> vec4<u32> {
    return vec4(halves.x | (halves.y << 16u), halves.z | (halves.w << 16u), 0u, 0u);
}

// f32 to f16 by integers, as WGSL does not say how its own conversion rounds. The twin of
// `f32_to_f16` in src/halves.rs, but that a NaN has no payload.
fn narrow_f16(bits: u32) -> u32 {
    let magnitude = bits & 0x7fffffffu;
    // Normal numbers; subnormal ones, of so many of the least; too small, too large, and NaN.
    var rounded = rounded_shift(magnitude - (112u << 23u), 13u);
    if (magnitude < 0x38800000u) {
        let shift = clamp(126u - (magnitude >> 23u), 1u, 24u);
        rounded = rounded_shift((magnitude & 0x7fffffu) | 0x800000u, shift);
    }
    rounded = select(rounded, 0u, magnitude < 0x33000000u);
    rounded = select(rounded, 0x7c00u, magnitude >= 0x477ff000u);
    rounded |= (bits >> 16u) & 0x8000u;
    return select(rounded, 0x7e00u, magnitude > 0x7f800000u);
}

// `bits` without the lowest `shift` (1 to 24), rounded to nearest even.
fn rounded_shift(bits: u32, shift: u32) -> u32 {
    let odd = (bits >> shift) & 1u;
    return (bits + (1u << (shift - 1u)) - 1u + odd) >> shift;
}
