// Sums of values before each value, run by run: `scan` within the runs, `add_sums` those of the runs
// before, once these have been scanned themselves.

@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn scan(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let run = number(workgroup, invocation);
    if ((run * RUN < sort.count) & !in_order(counts[sort.order])) {
        let end = min(run * RUN + RUN, sort.count);
        var sum = 0u;
        for (var n = run * RUN; n < end; n++) {
            let value = counts[sort.values + n];
            counts[sort.values + n] = sum;
            sum += value;
        }
        counts[sort.sums + run] = sum;
    }
}

@compute @workgroup_size(WORKGROUP)
fn add_sums(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let n = number(workgroup, invocation);
    if ((n < sort.count) & !in_order(counts[sort.order])) {
        counts[sort.values + n] += counts[sort.sums + n / RUN];
    }
}
