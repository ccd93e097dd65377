// Exclusive prefix sums of the digit counts; an invocation owns one digit. `add_groups` sums each group of
// tiles, `add_up` scans the sums of groups (or the tiles, if they are few), and `spread` scans within each
// group.

@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

fn added(a: u32, b: u32) -> u32 {
    return ((a | b) & FALLS) | ((a & ~FALLS) + (b & ~FALLS));
}

// Replaces each count by the sum of the counts before it.
fn sum_rows(first: u32, rows: u32, digit: u32, start: u32) {
    var sum = start;
    for (var row = first; row < first + rows; row++) {
        let count = counts[row * DIGITS + digit] & ~FALLS;
        counts[row * DIGITS + digit] = sum;
        sum += count;
    }
}

fn total_of(first: u32, rows: u32, digit: u32) -> u32 {
    var total = 0u;
    for (var row = first; row < first + rows; row++) {
        total = added(total, counts[row * DIGITS + digit]);
    }
    return total;
}

@compute @workgroup_size(WORKGROUP)
fn add_groups(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) digit: u32,
) {
    let group = number(workgroup);
    if (group < sort.groups) {
        let tiles = min(GROUP, sort.tiles - group * GROUP);
        counts[(sort.tiles + group) * DIGITS + digit] = total_of(group * GROUP, tiles, digit);
    }
}

@compute @workgroup_size(WORKGROUP)
fn add_up(@builtin(local_invocation_index) digit: u32) {
    let total = total_of(sort.row, sort.rows, digit);
    let before = sum_before(total & ~FALLS, digit).x;
    if (sort.ends == 0u) {
        let falls = sum_before(total >> 31u, digit).y;
        if (digit == 0u) {
            counts[sort.order] = select(0u, 1u, falls == 0u);
        }
    }
    sum_rows(sort.row, sort.rows, digit, before);
}

@compute @workgroup_size(WORKGROUP)
fn spread(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) digit: u32,
) {
    let group = number(workgroup);
    if (group < sort.groups) {
        let tiles = min(GROUP, sort.tiles - group * GROUP);
        sum_rows(group * GROUP, tiles, digit, counts[(sort.tiles + group) * DIGITS + digit]);
    }
}
