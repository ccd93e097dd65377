// A stable sort of pairs by key: least significant digit first, eight bits at a time.
//
// A workgroup has a tile of consecutive pairs. Three dispatches for each digit: the first counts the digits of each
// tile; the second adds these counts up, tile by tile for each digit; the third sorts each tile by the digit, so that
// neighbours write to neighbours, and takes its pairs to where those with smaller digits, and those of the tiles before
// with the same one, end. Of few tiles, the third adds up the counts itself, and there is no second: to wait for another
// dispatch takes longer.
//
// The count of the first digit also detects pairs that are already in order; if so, the sort ends there.
//
// After Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs" (2009), and
// Merrill and Grimshaw, "High performance and scalable radix sorting" (2011).

struct Sort {
    count: u32,  // pairs
    tiles: u32,
    shift: u32,  // the lowest bit of the digit
    bits: u32,   // of the digit
    grid_x: u32, // workgroups in x; y counts on from there
    order: u32,  // word of the counts that is 1 if the pairs are in order; of few tiles, the first of a word for each
    ends: u32,   // 0 while the first digit is counted, which sets these words; 1 afterwards
    copies: u32, // copy pairs that are in order to where the last digit would have moved them
}

const WORKGROUP = 256u;
// As many as invocations of a workgroup, each of which adds up counts of one.
const DIGITS = 256u;
// Pairs of an invocation and of a workgroup, as `TILE` in src/scatter/sort.rs.
const ITEMS = 8u;
const TILE = 2048u;
// A tile reads no more of the counts of so many than of its pairs. As in src/scatter/sort.rs.
const FEW_TILES = 16u;
// Beside the count of the first digit of a tile that has keys out of order.
const FALLS = 0x80000000u;

@group(0) @binding(0) var<uniform> sort: Sort;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<u32>>; // key, lookup
@group(0) @binding(2) var<storage, read> ends: array<u32>;

fn number(workgroup: vec3<u32>) -> u32 {
    return workgroup.y * sort.grid_x + workgroup.x;
}

fn are_few() -> bool {
    return sort.tiles <= FEW_TILES;
}

fn digit_of(key: u32) -> u32 {
    return (key >> sort.shift) & (DIGITS - 1u);
}
