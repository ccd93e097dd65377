// Counts the bad lookups and finds the first, in row-major order of indices, without disturbing
// the gather. Dispatched over the lookups, each index tuple once; `locate` then stores the values
// of the first bad tuple, so that the error can name them. Where indices take several dispatches,
// they run in order: the first that finds a bad lookup has found the first of all.

// 0, 1: how many are bad, in two words. 2: the complement of the number that the first bad lookup
// has in its dispatch, so that a cleared buffer means none. 3: whether it is located. 4, 5: its
// number among all. From 6 on, two words each: its index values.
@group(0) @binding(4) var<storage, read_write> status: array<atomic<u32>>;

fn is_bad(at: Place) -> bool {
    var bad = false;
    for (var k = 0u; k < geometry.depth; k++) {
        let index = load_index(at.indices + k * geometry.index_step);
        bad = bad | !resolve(index, geometry.coordinates[k].xw).valid;
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
        if (atomicAdd(&status[0], 1u) == 0xffffffffu) {
            atomicAdd(&status[1], 1u);
        }
        if (atomicLoad(&status[3]) == 0u) {
            atomicMax(&status[2], ~lookup);
        }
    }
}

@compute @workgroup_size(1)
fn locate() {
    if (atomicLoad(&status[2]) == 0u || atomicLoad(&status[3]) != 0u) {
        return;
    }
    let lookup = ~atomicLoad(&status[2]);
    let number = geometry.first_lookup + lookup;
    let carry = select(0u, 1u, number < lookup);
    atomicStore(&status[3], 1u);
    atomicStore(&status[4], number);
    atomicStore(&status[5], geometry.first_lookup_high + carry);
    let at = place(lookup);
    for (var k = 0u; k < geometry.depth; k++) {
        let index = load_index(at.indices + k * geometry.index_step);
        atomicStore(&status[6u + 2u * k], index.x);
        atomicStore(&status[7u + 2u * k], index.y);
    }
}
