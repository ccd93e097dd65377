// Where the pairs of each tile end among those with the same digit: prefix sums of the counts over the tiles, the last
// of which is the number of pairs with the digit. A workgroup has a few neighbouring digits, whose counts of a tile fill
// a sector; for each of them, an invocation has a block of consecutive tiles.

@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

const COLUMNS = 8u; // digits of a workgroup, as in src/scatter/sort.rs
const BLOCKS = 32u;

var<workgroup> totals: array<u32, WORKGROUP>; // of each block and digit

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let column = invocation % COLUMNS;
    let block = invocation / COLUMNS;
    let digit = number(workgroup) * COLUMNS + column;
    let tiles = (sort.tiles + BLOCKS - 1u) / BLOCKS;
    let first = min(block * tiles, sort.tiles);
    let end = min(first + tiles, sort.tiles);
    totals[invocation] = total_of(first, end, digit);
    workgroupBarrier(); // after the totals
    var before = 0u;
    var all = 0u;
    for (var n = 0u; n < BLOCKS; n++) {
        let total = totals[n * COLUMNS + column];
        before = select(before, all, n == block);
        all = added(all, total);
    }
    sum_tiles(first, end, digit, before & ~FALLS);
    if ((block == 0u) & (digit == 0u) & (sort.ends == 0u)) {
        counts[sort.order] = select(1u, 0u, (all & FALLS) != 0u);
    }
}

fn added(a: u32, b: u32) -> u32 {
    return ((a | b) & FALLS) | ((a & ~FALLS) + (b & ~FALLS));
}

// The counts of a digit in four tiles, which are in flight together.
fn four_counts(tile: u32, digit: u32) -> vec4<u32> {
    let at = tile * DIGITS + digit;
    return vec4(counts[at], counts[at + DIGITS], counts[at + 2u * DIGITS], counts[at + 3u * DIGITS]);
}

fn four_added(found: vec4<u32>) -> u32 {
    return added(added(found.x, found.y), added(found.z, found.w));
}

fn total_of(first: u32, end: u32, digit: u32) -> u32 {
    var total = 0u;
    var tile = first;
    for (; tile + 7u < end; tile += 8u) {
        let low = four_counts(tile, digit);
        let high = four_counts(tile + 4u, digit);
        total = added(total, added(four_added(low), four_added(high)));
    }
    for (; tile < end; tile++) {
        total = added(total, counts[tile * DIGITS + digit]);
    }
    return total;
}

// Replaces each count by the sum of the counts up to it.
fn sum_tiles(first: u32, end: u32, digit: u32, before: u32) {
    var sum = before;
    var tile = first;
    for (; tile + 7u < end; tile += 8u) {
        let low = four_counts(tile, digit);
        let high = four_counts(tile + 4u, digit);
        sum = sum_four(tile, digit, low, sum);
        sum = sum_four(tile + 4u, digit, high, sum);
    }
    for (; tile < end; tile++) {
        sum += counts[tile * DIGITS + digit] & ~FALLS;
        counts[tile * DIGITS + digit] = sum;
    }
}

fn sum_four(tile: u32, digit: u32, found: vec4<u32>, before: u32) -> u32 {
    let at = tile * DIGITS + digit;
    let count = found & vec4(~FALLS);
    let first = before + count.x;
    let second = first + count.y;
    let third = second + count.z;
    let fourth = third + count.w;
    counts[at] = first;
    counts[at + DIGITS] = second;
    counts[at + 2u * DIGITS] = third;
    counts[at + 3u * DIGITS] = fourth;
    return fourth;
}
