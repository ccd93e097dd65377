// Pooled lookups: code shared by bag_words.wgsl and bag_subword.wgsl. An invocation folds a few columns of all
// rows of a bag, in the order of the indices. The columns are the lanes of arithmetic.wgsl.

struct Pooling {
    flags: u32,
    padding: u32,       // padding index, low and high word
    padding_high: u32,
    each: u32,          // lookups of each bag, if there are no offsets
    offsets_at: u32,    // the word of `bags` with the offset of the first bag
    weights_at: u32,    // the element of `bags` with the weight of the first lookup
    bag_step: u32,      // stride of a bag in indices, if there are no offsets
    lookup_step: u32,   // stride of a lookup in indices
    weights_bag_step: u32,
    weights_step: u32,
    sign: u32,          // the sign bit of a lane; of the high one, for 64 bits
    folds_at: u32,      // the word of `bags` or of the output with the first fold of a part
    rows_step: u32,     // row stride, if rows are already in lookup order (decoded rows); 0 if the
                        // indices select them
}

// Bits of pooling.flags.
const MAX = 1u;
const MEAN = 2u;
const WEIGHTED = 4u;
const OFFSETS = 8u;
const PADDED = 16u;
const RESUMES = 32u; // resumes the partial fold of an earlier dispatch
const PARTIAL = 64u; // stores a partial fold for a later dispatch

// Offsets and weights.
@group(0) @binding(4) var<storage, read> bags: array<u32>;
@group(0) @binding(13) var<uniform> pooling: Pooling;

fn pools(bit: u32) -> bool {
    return (pooling.flags & bit) != 0u;
}

fn sign_bit() -> u32 {
    return pooling.sign;
}

struct Fold {
    lanes: vec4<u32>,
    count: u32, // how many rows it has
}

struct Row {
    source: Source,
    counts: bool, // false for the padding index
}

// Looks up the row for the index at `index_at`; `row_at` is added to its position in params.
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

// Folds access `column` of the rows of bag `number`. A dispatch over a part of a bag numbers that bag 0.
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

// Finishes a fold: the mean is divided, and the result rounded to the element type.
fn words_of_fold(fold: Fold) -> vec4<u32> {
    var lanes = fold.lanes;
    // (Not for integers: float operations may change bits that happen to be a NaN.)
    if (is_float() & pools(MEAN) & (fold.count > 0u)) {
        lanes = bitcast<vec4<u32>>(bitcast<vec4<f32>>(lanes) / f32(fold.count));
    }
    return pack(lanes);
}

// Folds one more row in. A sum starts at zero, a maximum at the first value.
fn next_lanes(lanes: vec4<u32>, value: vec4<u32>, weight_at: u32, first: bool) -> vec4<u32> {
    var next = lanes;
    if (pools(MAX)) {
        next = select(greatest(lanes, value), value, vec4(first));
    } else if (is_float() & pools(WEIGHTED)) {
        let weight = bitcast<f32>(load_weight(weight_at));
        next = bitcast<vec4<u32>>(bitcast<vec4<f32>>(lanes) + weight * bitcast<vec4<f32>>(value));
    } else {
        next = added(lanes, value);
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

// Unpacks the words of an access into lanes.
fn unpack(words: vec4<u32>) -> vec4<u32> {
    return widen(lanes_of(words));
}

// Packs lanes into words.
fn pack(lanes: vec4<u32>) -> vec4<u32> {
    return words_of_lanes(narrow(lanes));
}
