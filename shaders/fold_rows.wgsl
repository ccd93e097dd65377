// A workgroup takes free steps of one pair only, so its loads of pairs are uniform. Each invocation takes up
// to `STEPS` of them, in each of which neighbours read and write contiguous bytes. More would load pairs less
// often, but leave fewer pairs to a dispatch: the loop over the pairs of a key runs once for each step.

const WORKGROUP = 32u;
const STEPS = 2u;

fn pair_number(group: u32, invocation: u32) -> u32 {
    return divide(group, fold.free_divisor);
}

fn fold_steps(at: Start, group: u32, invocation: u32) {
    let of_group = WORKGROUP * STEPS;
    let groups_of_pair = (fold.free_count + of_group - 1u) / of_group;
    let start = (group - pair_number(group, invocation) * groups_of_pair) * of_group;
    let end = min(fold.free_count, start + of_group);
    for (var free = start + invocation; free < end; free += WORKGROUP) {
        fold_step(at, free);
    }
}
