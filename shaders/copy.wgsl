// What the copy kernels share: the tensors, and the lookup of a row.

@group(0) @binding(2) var<storage, read> params: array<Lane>;
@group(0) @binding(3) var<storage, read_write> output: array<Out>;

fn fill_word(n: u32) -> u32 {
    return geometry.fill[n >> 2u][n & 3u];
}

struct Source {
    params: u32, // the first lane of the row
    valid: bool,
}

fn look_up(at: Place) -> Source {
    var source = Source(at.params, true);
    if (DEPTH == 0u) {
        for (var k = 0u; k < geometry.depth; k++) {
            add_coordinate(at, k, &source);
        }
        return source;
    }
    add_coordinate(at, 0u, &source);
    if (DEPTH == 3u) {
        add_coordinate(at, 1u, &source);
        if (geometry.depth > 2u) {
            add_coordinate(at, 2u, &source);
        }
    }
    return source;
}

fn add_coordinate(at: Place, k: u32, source: ptr<function, Source>) {
    let c = geometry.coordinates[k];
    let coordinate = resolve(load_index(at.indices + k * geometry.index_step), c.x);
    (*source).params += coordinate * c.y;
    (*source).valid = (*source).valid && coordinate != BAD;
}

fn load(at: u32) -> Lane {
    return params[at];
}

// Lane `column` of a row. What a bad index would read is not read: lane 0 is, which is there as
// params are bound from it on, and left out. So loads wait for no branch.
fn fetch(source: Source, column: u32) -> Lane {
    let lane = load(select(0u, source.params + column, source.valid));
    if (PLAIN) {
        return select(Lane(), lane, source.valid);
    }
    if (source.valid) {
        return lane;
    }
    return fill_lane(column % geometry.fill_length);
}
