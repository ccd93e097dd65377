// What the copy kernels share: the tensors, and the lookup of a row.

@group(0) @binding(2) var<storage, read> params: array<Lane>;
@group(0) @binding(3) var<storage, read_write> output: array<Lane>;

fn fill_word(n: u32) -> u32 {
    return geometry.fill[n >> 2u][n & 3u];
}

struct Source {
    params: u32, // the first lane of the row
    valid: bool,
}

fn look_up(at: Place) -> Source {
    var source = Source(at.params, true);
    for (var k = 0u; k < geometry.depth; k++) {
        let c = geometry.coordinates[k];
        let coordinate = resolve(load_index(at.indices + k * geometry.index_step), c.x);
        if (coordinate == BAD) {
            source.valid = false;
        }
        source.params += coordinate * c.y;
    }
    return source;
}
