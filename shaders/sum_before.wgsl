var<workgroup> sums: array<u32, 272>; // of each invocation, then of each block of 16

// Exclusive prefix sum over a workgroup of 256, and the total.
fn sum_before(value: u32, invocation: u32) -> vec2<u32> {
    let block = invocation / 16u;
    sums[invocation] = value;
    workgroupBarrier(); // after the values
    // From this one on.
    var rest = value;
    for (var n = invocation + 1u; n < block * 16u + 16u; n++) {
        rest += sums[n];
    }
    if ((invocation & 15u) == 0u) {
        sums[256u + block] = rest;
    }
    workgroupBarrier(); // after the blocks
    var all = 0u;
    for (var n = 0u; n < 16u; n++) {
        rest += select(0u, sums[256u + n], n > block);
        all += sums[256u + n];
    }
    return vec2(all - rest, all);
}
