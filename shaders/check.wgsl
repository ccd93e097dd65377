// Counts the bad lookups and finds the first, in row-major order of indices, without disturbing
// the gather. Dispatched over the lookups, each index tuple once; `locate` then stores the values
// of the first bad tuple, so that the error can name them. `count_and_locate` does both. Where indices
// take several dispatches, they run in order: the first that finds a bad lookup has found the first of all.
//
// Nearly always there is none. Where the output has room for a flag behind its data, the copy kernel raises it
// at a bad index, and the indices are read a second time only if it is raised.

// The output up to and including the flag. Unused without the rule FLAG.
@group(0) @binding(3) var<storage, read_write> output: array<u32>;

// Words 0, 1: the count. 2: complement of the position of the first bad lookup in its dispatch, so that a
// cleared buffer means none. 3: number of the plan that found it, plus one; 0 until it is located. 4, 5: its
// position among the lookups of that plan. 6: number of the plan that is counting, if several share the status.
// From 7 on: its index values, two words each.
@group(0) @binding(4) var<storage, read_write> status: array<atomic<u32>>;

// Lookups of an invocation, as `CHECKED` in src/plan/kernels.rs.
const CHECKED = 64u;

fn is_bad(at: Place) -> bool {
    var bad = false;
    for (var k = 0u; k < geometry.depth; k++) {
        let index = load_index(at.indices + k * geometry.index_step);
        bad = bad | !resolve(index, extent_of(geometry.coordinates[k])).valid;
    }
    return bad;
}

// One atomic addition per invocation, not per lookup: many bad lookups would contend for one word. (Not one per
// workgroup: where the flag is down, its barriers would cost more than everything else.)
fn count_from(first: u32, end: u32) {
    var bad = 0u;
    var lowest = 0xffffffffu;
    for (var lookup = first; lookup < end; lookup += WORKGROUP) {
        if (is_bad(place(lookup))) {
            bad += 1u;
            lowest = min(lowest, lookup);
        }
    }
    if (bad > 0u) {
        if (atomicAdd(&status[0], bad) > 0xffffffffu - bad) {
            atomicAdd(&status[1], 1u);
        }
        if (atomicLoad(&status[3]) == 0u) {
            atomicMax(&status[2], ~lowest);
        }
    }
}

// No lookups are checked if the flag is down.
fn unless_down(lookups: u32) -> u32 {
    var end = lookups;
    if (rule(FLAG)) {
        end = select(0u, end, output[geometry.flag_at] == RAISED);
    }
    return end;
}

fn locate_first() {
    if (rule(FLAG)) {
        output[geometry.flag_at] = 0u;
    }
    if (atomicLoad(&status[2]) == 0u || atomicLoad(&status[3]) != 0u) {
        return;
    }
    let lookup = ~atomicLoad(&status[2]);
    let number = geometry.first_lookup + lookup;
    let carry = select(0u, 1u, number < lookup);
    atomicStore(&status[3], atomicLoad(&status[6]) + 1u);
    atomicStore(&status[4], number);
    atomicStore(&status[5], geometry.first_lookup_high + carry);
    let at = place(lookup);
    for (var k = 0u; k < geometry.depth; k++) {
        let index = load_index(at.indices + k * geometry.index_step);
        atomicStore(&status[7u + 2u * k], index.x);
        atomicStore(&status[8u + 2u * k], index.y);
    }
}

@compute @workgroup_size(WORKGROUP)
fn count(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let group = workgroup_number(workgroup) * WORKGROUP * CHECKED;
    let end = min(geometry.row_count, group + WORKGROUP * CHECKED);
    count_from(group + invocation, unless_down(end));
}

@compute @workgroup_size(1)
fn locate() {
    locate_first();
}

// Counts and locates in one workgroup: for few lookups, and for more of them where a flag makes a count rare.
@compute @workgroup_size(WORKGROUP)
fn count_and_locate(@builtin(local_invocation_index) invocation: u32) {
    count_from(invocation, unless_down(geometry.row_count));
    storageBarrier(); // after the counts
    if (invocation == 0u) {
        locate_first();
    }
}
