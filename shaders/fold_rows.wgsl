// A workgroup takes free steps of one pair only, so its loads of pairs are uniform. Each invocation takes up
// to `STEPS` of them. Eight neighbours own one block of the row, and read and write 128 contiguous bytes at a
// time.

const WORKGROUP = 32u;
const STEPS = 8u;
const NEIGHBOURS = 8u;

fn pair_number(group: u32, invocation: u32) -> u32 {
    return divide(group, fold.free_divisor);
}

fn fold_steps(at: Start, group: u32, invocation: u32) {
    let of_group = WORKGROUP * STEPS;
    let groups_of_pair = (fold.free_count + of_group - 1u) / of_group;
    let start = (group - pair_number(group, invocation) * groups_of_pair) * of_group;
    let count = min(fold.free_count - start, of_group);
    let block = (count + WORKGROUP - 1u) / WORKGROUP * NEIGHBOURS;
    let own = invocation / NEIGHBOURS * block;
    let end = start + min(own + block, count);
    for (var free = start + own + invocation % NEIGHBOURS; free < end; free += NEIGHBOURS) {
        fold_step(at, free);
    }
}
