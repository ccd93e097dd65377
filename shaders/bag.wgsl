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

// The coordinate of a lookup, and the index that it comes from.
struct Found {
    index: vec2<u32>,
    row: Coordinate,
}

struct Row {
    source: Source,
    counts: bool, // false for the padding index
}

fn find_row(index_at: u32) -> Found {
    let index = load_index(index_at);
    return Found(index, resolve(index, extent_of(geometry.coordinates[0])));
}

// Wraps an index that is out of range around.
fn wrapped_row(found: Found) -> Found {
    let c = geometry.coordinates[0];
    var row = found.row;
    if (!row.valid) {
        let rest = modulo(found.index, extent_of(c), c.zw);
        row = Coordinate(rest.x, rest.y, true);
    }
    return Found(found.index, row);
}

// Where a row lies; `row_at` is added to its position in params.
fn row_of(at: Place, row: Coordinate, row_at: u32) -> Row {
    let high = select(0u, row.high, WIDE);
    let padding = pools(PADDED) & row.valid
        & (row.low == pooling.padding) & (high == pooling.padding_high);
    var source = Source(at.params + row_at, row.valid, true, 0u, at.params_high);
    add_steps(vec2(row.low, row.high), geometry.coordinates[0], &source);
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
    var fold = Fold(vec4(0u), 0u);
    if (pools(RESUMES)) {
        let left_at = pooling.folds_at + 8u * column;
        fold.lanes = vec4(bags[left_at], bags[left_at + 1u], bags[left_at + 2u], bags[left_at + 3u]);
        fold.count = bags[left_at + 4u];
    }
    // The loads of four rows are in flight together: none is used before the last is made (see `fetch` in copy.wgsl).
    while ((lookup < end) && (end - lookup >= 4u)) {
        var found = find_four(index_at);
        if (rule(WRAP)) {
            found = wrapped_four(found);
        }
        let rows = rows_of(at, found, row_at);
        let vectors = fetch_four(rows, column);
        fold = with_four(fold, rows, vectors, column, weight_at);
        lookup += 4u;
        row_at += 4u * pooling.rows_step;
        index_at += 4u * pooling.lookup_step;
        weight_at += 4u * pooling.weights_step;
    }
    for (; lookup < end; lookup++) {
        var found = find_row(index_at);
        if (rule(WRAP)) {
            found = wrapped_row(found);
        }
        let row = row_of(at, found.row, row_at);
        fold = with_row(fold, row, fetch_row(row.source, column), column, weight_at);
        row_at += pooling.rows_step;
        index_at += pooling.lookup_step;
        weight_at += pooling.weights_step;
    }
    return fold;
}

struct FourFound {
    a: Found,
    b: Found,
    c: Found,
    d: Found,
}

struct FourRows {
    a: Row,
    b: Row,
    c: Row,
    d: Row,
}

struct FourVectors {
    a: Vector,
    b: Vector,
    c: Vector,
    d: Vector,
}

fn find_four(index_at: u32) -> FourFound {
    let step = pooling.lookup_step;
    return FourFound(
        find_row(index_at),
        find_row(index_at + step),
        find_row(index_at + 2u * step),
        find_row(index_at + 3u * step),
    );
}

fn wrapped_four(found: FourFound) -> FourFound {
    return FourFound(
        wrapped_row(found.a), wrapped_row(found.b), wrapped_row(found.c), wrapped_row(found.d),
    );
}

fn rows_of(at: Place, found: FourFound, row_at: u32) -> FourRows {
    let step = pooling.rows_step;
    return FourRows(
        row_of(at, found.a.row, row_at),
        row_of(at, found.b.row, row_at + step),
        row_of(at, found.c.row, row_at + 2u * step),
        row_of(at, found.d.row, row_at + 3u * step),
    );
}

fn fetch_four(rows: FourRows, column: u32) -> FourVectors {
    return FourVectors(
        fetch_row(rows.a.source, column),
        fetch_row(rows.b.source, column),
        fetch_row(rows.c.source, column),
        fetch_row(rows.d.source, column),
    );
}

fn with_four(before: Fold, rows: FourRows, vectors: FourVectors, column: u32, weight_at: u32) -> Fold {
    let step = pooling.weights_step;
    var fold = with_row(before, rows.a, vectors.a, column, weight_at);
    fold = with_row(fold, rows.b, vectors.b, column, weight_at + step);
    fold = with_row(fold, rows.c, vectors.c, column, weight_at + 2u * step);
    return with_row(fold, rows.d, vectors.d, column, weight_at + 3u * step);
}

// Folds one more row in, unless it is that of the padding index.
fn with_row(before: Fold, row: Row, vector: Vector, column: u32, weight_at: u32) -> Fold {
    var fold = before;
    if (row.counts) {
        let value = unpack(row_words(vector, row.source, column));
        fold.lanes = next_lanes(before.lanes, value, weight_at, before.count == 0u);
        fold.count += 1u;
    }
    return fold;
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
