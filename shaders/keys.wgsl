// The sort key of each lookup of a scatter: the destination slice that it selects, numbered densely. The plan
// is that of a gather from a tensor with one element for each slice, so "params" strides are strides of keys.

@group(0) @binding(3) var<storage, read_write> pairs: array<vec2<u32>>; // key, lookup

// The key of row `n`. A bad index has the key `key_count`, which sorts after all others.
fn key_of_row(n: u32) -> u32 {
    let key = key_of(place(geometry.first_row + n));
    let good = (key.y == 0u) & (key.x < geometry.key_count);
    return select(geometry.key_count, key.x, good);
}

// The key as two words; a bad index has the greatest.
fn key_of(at: Place) -> vec2<u32> {
    var key = vec2(at.params, at.params_high);
    var bad = false;
    for (var k = 0u; k < geometry.depth; k++) {
        let c = geometry.coordinates[k];
        let index = load_index(at.indices + k * geometry.index_step);
        let found = resolve(index, extent_of(c));
        var coordinate = vec2(found.low, found.high);
        if (!found.valid) {
            if (rule(WRAP)) {
                coordinate = modulo(index, extent_of(c), vec2(0u));
            } else {
                bad = true;
            }
        }
        key = add_product(key, coordinate, c.yz);
    }
    return select(key, vec2(0xffffffffu), bad);
}
