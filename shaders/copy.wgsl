// Code shared by the copy kernels: bindings, and the lookup of a row.

@group(0) @binding(2) var<storage, read> params: array<Vector>;
@group(0) @binding(3) var<storage, read_write> output: array<Out>;

fn fill_word(n: u32) -> u32 {
    return geometry.fill[n >> 2u][n & 3u];
}

struct Source {
    params: u32,      // first vector of the row, within its segment
    valid: bool,      // all coordinates are in range
    mine: bool,       // this pass writes the row
    segment: u32,     // 0, unless there are several
    params_high: u32, // used during the lookup, if WIDE
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
    // Not `valid = valid & coordinate.valid`: FXC miscompiles a bool that a loop carries through `&`.
    if (!coordinate.valid) {
        (*source).valid = false;
    }
    add_steps(vec2(coordinate.low, coordinate.high), c, source);
}

// Component `k` of an index tuple. If the pipeline has more coordinates than the loop nest, the last component
// is repeated; its stride is 0 there.
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

// Indices wrap around. Pipelines for two loops and one coordinate leave this rule out: its code would raise the
// register count, and so lower the occupancy, of all other rules, and take longer to compile than all the rest.
fn wraps() -> bool {
    return ((DEPTH != 1u) | (LOOPS == 4u)) & rule(WRAP);
}

// Resolves the row again with indices taken modulo their extents, if one was out of range. Divides for each
// lookup, so it runs in a uniform branch after all rows of the invocation are looked up, where it delays no
// load.
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

// Raises the flag that makes check.wgsl count bad indices. All writers store the same value.
fn raise_flag(valid: bool) {
    if (!valid & rule(FLAG)) {
        output[geometry.flag_at] = Out(RAISED);
    }
}

// Vector `column` of a row. Branch-free: an invalid row loads vector 0, where the binding of params starts.
//
// Compilers move loads down to their first use. For an invocation's loads to be in flight together, all must
// come before the first `or_fill_vector`, and every `or_fill_vector` before the branches around stores.
fn fetch(source: Source, column: u32) -> Vector {
    return load(source.segment, select(0u, source.params + column, is_read(source)));
}

// The fetched vector, or the fill value for a bad index.
fn or_fill_vector(vector: Vector, source: Source, column: u32) -> Vector {
    return select(fill_vector(fill_column(column)), vector, source.valid);
}

// The access of the fill value that belongs at `column`: access 0, unless the value is wider than an access.
fn fill_column(column: u32) -> u32 {
    var n = 0u;
    if (LOOPS == 0u) {
        n = column % geometry.fill_length;
    }
    return n;
}

// The row is in range, and belongs to this pass.
fn is_read(source: Source) -> bool {
    return source.valid & source.mine;
}
