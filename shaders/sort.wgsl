// A stable sort of pairs by key: least significant digit first, four bits at a time.
//
// An invocation has a tile of consecutive pairs. `count` counts the digits of each tile; a scan of the
// counts, digit by digit and tile by tile within a digit, gives where the pairs of a tile with a digit
// go; `move_pairs` takes them there in their order. So pairs with equal digits stay in order without a
// barrier, and without anything that two invocations write.
//
// The count of the first digit finds the tiles that are out of order, too, and their number is a part of
// the scan's total. If there are none, the sort ends there.
//
// After Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs"
// (2009), with tiles of an invocation instead of a workgroup.

struct Sort {
    count: u32,  // pairs; of a scan, values
    tiles: u32,
    shift: u32,  // the lowest bit of the digit
    grid_x: u32, // workgroups in x; y counts on from there
    values: u32, // a scan: where its values are, and where the sums of its runs go
    sums: u32,
    order: u32,  // where the total of the first digit is
    all: u32,    // that total, if no tile is out of order: the pairs
    ends: u32,   // whether it is known by now
    copies: u32, // whether sorted pairs are to be moved all the same, to where the last digit ends
}

const WORKGROUP = 256u;
const DIGITS = 16u;
// Pairs of an invocation, as `TILE` in src/scatter/sort.rs: less than 256, as a count has 8 bits.
const TILE = 32u;
// Values that an invocation adds up, as `RUN` there.
const RUN = 32u;

@group(0) @binding(0) var<uniform> sort: Sort;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;

fn number(workgroup: vec3<u32>, invocation: u32) -> u32 {
    return (workgroup.y * sort.grid_x + workgroup.x) * WORKGROUP + invocation;
}

fn in_order(total: u32) -> bool {
    return (sort.ends != 0u) & (total == sort.all);
}

fn digit_of(pair: vec2<u32>) -> u32 {
    return (pair.x >> sort.shift) & (DIGITS - 1u);
}

// One for the digit, among 16 counts of 8 bits.
fn one(digit: u32) -> vec4<u32> {
    let word = vec4(digit >> 2u) == vec4(0u, 1u, 2u, 3u);
    return select(vec4(0u), vec4(1u << (8u * (digit & 3u))), word);
}

// Among such counts, that of the digit.
fn count_of(counts: vec4<u32>, digit: u32) -> u32 {
    let word = vec4(digit >> 2u) == vec4(0u, 1u, 2u, 3u);
    let words = select(vec4(0u), counts, word);
    return ((words.x | words.y | words.z | words.w) >> (8u * (digit & 3u))) & 0xffu;
}
