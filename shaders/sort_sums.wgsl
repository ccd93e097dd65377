// Exclusive prefix sums of the digit counts; an invocation owns one digit. `add_groups` sums each group of
// tiles, `add_up` scans the sums of groups (or the tiles, if they are few), and `spread` scans within each
// group.

@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

fn added(a: u32, b: u32) -> u32 {
    return ((a | b) & FALLS) | ((a & ~FALLS) + (b & ~FALLS));
}

// The counts of a digit in eight rows from `row` on, which are in flight together.
struct Eight {
    low: vec4<u32>,
    high: vec4<u32>,
}

fn eight_counts(row: u32, digit: u32) -> Eight {
    return Eight(four_counts(row, digit), four_counts(row + 4u, digit));
}

fn four_counts(row: u32, digit: u32) -> vec4<u32> {
    let at = row * DIGITS + digit;
    return vec4(counts[at], counts[at + DIGITS], counts[at + 2u * DIGITS], counts[at + 3u * DIGITS]);
}

// Replaces each count by the sum of the counts before it.
fn sum_rows(first: u32, rows: u32, digit: u32, start: u32) {
    let end = first + rows;
    var sum = start;
    var row = first;
    for (; row + 7u < end; row += 8u) {
        let found = eight_counts(row, digit);
        sum = sum_four(row, digit, found.low, sum);
        sum = sum_four(row + 4u, digit, found.high, sum);
    }
    for (; row < end; row++) {
        let count = counts[row * DIGITS + digit] & ~FALLS;
        counts[row * DIGITS + digit] = sum;
        sum += count;
    }
}

fn sum_four(row: u32, digit: u32, found: vec4<u32>, start: u32) -> u32 {
    let at = row * DIGITS + digit;
    let count = found & vec4(~FALLS);
    let second = start + count.x;
    let third = second + count.y;
    let fourth = third + count.z;
    counts[at] = start;
    counts[at + DIGITS] = second;
    counts[at + 2u * DIGITS] = third;
    counts[at + 3u * DIGITS] = fourth;
    return fourth + count.w;
}

fn total_of(first: u32, rows: u32, digit: u32) -> u32 {
    let end = first + rows;
    var total = 0u;
    var row = first;
    for (; row + 7u < end; row += 8u) {
        let found = eight_counts(row, digit);
        total = added(total, added(four_added(found.low), four_added(found.high)));
    }
    for (; row < end; row++) {
        total = added(total, counts[row * DIGITS + digit]);
    }
    return total;
}

fn four_added(found: vec4<u32>) -> u32 {
    return added(added(found.x, found.y), added(found.z, found.w));
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
