// Counts the bad lookups and finds the first, in row-major order of indices, without disturbing
// the gather. Dispatched over the lookups, each index tuple once; `locate` then stores the values
// of the first bad tuple, so that the error can name them.

// 0: how many are bad. 1: the complement of the first bad lookup's number, so that a cleared
// buffer means none. From 2 on, two words each: the index values of that lookup.
@group(0) @binding(4) var<storage, read_write> status: array<atomic<u32>>;

fn is_bad(at: Place) -> bool {
    var bad = false;
    for (var k = 0u; k < geometry.depth; k++) {
        let index = load_index(at.indices + k * geometry.index_step);
        bad = bad || resolve(index, geometry.coordinates[k].x) == BAD;
    }
    return bad;
}

@compute @workgroup_size(WORKGROUP)
fn count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let lookup = workgroup_number(workgroup) * WORKGROUP + invocation;
    if (lookup < geometry.row_count && is_bad(place(lookup))) {
        atomicAdd(&status[0], 1u);
        atomicMax(&status[1], ~lookup);
    }
}

@compute @workgroup_size(1)
fn locate() {
    if (atomicLoad(&status[0]) == 0u) {
        return;
    }
    let at = place(~atomicLoad(&status[1]));
    for (var k = 0u; k < geometry.depth; k++) {
        let index = load_index(at.indices + k * geometry.index_step);
        atomicStore(&status[2u + 2u * k], index.x);
        atomicStore(&status[3u + 2u * k], index.y);
    }
}
