// Consecutive invocations take the free steps of one pair, then those of the next.

const WORKGROUP = 256u;

fn pair_number(group: u32, invocation: u32) -> u32 {
    return divide(group * WORKGROUP + invocation, fold.free_divisor);
}

fn fold_steps(at: Start, group: u32, invocation: u32) {
    let n = group * WORKGROUP + invocation;
    fold_step(at, n - pair_number(group, invocation) * fold.free_count);
}
