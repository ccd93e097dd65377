// What the copy kernels share: the tensors, and the lookup of a row.

@group(0) @binding(2) var<storage, read> params: array<Vector>;
@group(0) @binding(3) var<storage, read_write> output: array<Out>;

fn fill_word(n: u32) -> u32 {
    return geometry.fill[n >> 2u][n & 3u];
}

struct Source {
    params: u32,      // the first vector of the row, in its segment
    valid: bool,      // whether the indices are good
    mine: bool,       // whether this pass writes the row
    segment: u32,     // 0, unless there are several
    params_high: u32, // while it is looked up, if WIDE
}

fn look_up(at: Place) -> Source {
    var source = Source(at.params, true, true, 0u, at.params_high);
    if (DEPTH == 0u) {
        for (var k = 0u; k < geometry.depth; k++) {
            add_coordinate(at, k, &source);
        }
    } else {
        add_coordinate(at, 0u, &source);
        if (DEPTH > 1u) {
            add_coordinate(at, 1u, &source);
        }
        if (DEPTH > 2u) {
            add_coordinate(at, 2u, &source);
        }
    }
    find_segment(&source);
    return source;
}

fn add_coordinate(at: Place, k: u32, source: ptr<function, Source>) {
    let c = geometry.coordinates[k];
    let coordinate = resolve(load_component(at, k), extent_of(c));
    // No `valid = valid & coordinate.valid`: FXC takes that for true when a loop carries it.
    if (!coordinate.valid) {
        (*source).valid = false;
    }
    add_steps(vec2(coordinate.low, coordinate.high), c, source);
}

// Component `k` of an index tuple. Behind the last, where a pipeline has more coordinates than the nest,
// the last once more: its steps are of length 0 there.
fn load_component(at: Place, k: u32) -> vec2<u32> {
    return load_index(at.indices + min(k, geometry.depth - 1u) * geometry.index_step);
}

fn add_steps(count: vec2<u32>, c: vec4<u32>, source: ptr<function, Source>) {
    if (WIDE) {
        let sum = vec2((*source).params, (*source).params_high);
        let next = add_product(sum, count, c.yz);
        (*source).params = next.x;
        (*source).params_high = next.y;
    } else {
        (*source).params += count.x * c.y;
    }
}

// Whether indices wrap around. Pipelines for two loops and one coordinate leave that out: its code would
// take registers, and so waves, from all other rules.
fn wraps() -> bool {
    return ((DEPTH != 1u) | (LOOPS == 4u)) & rule(WRAP);
}

// The row with indices wrapped around, if one is outside. A division for each lookup: an invocation
// looks all its rows up first and then comes here, in a branch that all take or none, so that loads do
// not wait for each other.
fn wrapped(at: Place, source: Source) -> Source {
    var found = source;
    if (!source.valid) {
        found = Source(at.params, true, true, 0u, at.params_high);
        for (var k = 0u; k < geometry.depth; k++) {
            let c = geometry.coordinates[k];
            add_steps(modulo(load_component(at, k), extent_of(c), c.zw), c, &found);
        }
        find_segment(&found);
    }
    return found;
}

// Tells the count of bad indices (check.wgsl) that there is something to count. All that do so write
// the same.
fn raise_flag(valid: bool) {
    if (!valid & rule(FLAG)) {
        output[geometry.flag_at] = Out(RAISED);
    }
}

// Vector `column` of a row. What a bad index would read is not read: vector 0 is, which is there as
// params are bound from it on. So loads wait for no branch. They wait for none of each other, if all of
// an invocation's come before the first `or_fill_vector`, and all of those before the branches around
// stores: compilers move loads down to their use.
fn fetch(source: Source, column: u32) -> Vector {
    return load(source.segment, select(0u, source.params + column, is_read(source)));
}

// What was fetched there, or what a bad index leaves.
fn or_fill_vector(vector: Vector, source: Source, column: u32) -> Vector {
    return select(fill_vector(fill_column(column)), vector, source.valid);
}

// Which access of the fill value belongs there: the only one, but for values that do not repeat with
// every access. Zeros do.
fn fill_column(column: u32) -> u32 {
    var n = 0u;
    if (LOOPS == 0u) {
        n = column % geometry.fill_length;
    }
    return n;
}

// Whether the row's vectors may be read.
fn is_read(source: Source) -> bool {
    return source.valid & source.mine;
}
