// A stable sort of pairs by key: least significant digit first, eight bits at a time.
//
// A workgroup has a tile of consecutive pairs. `count` counts the digits of each tile; sums of these
// counts, digit by digit and tile by tile within a digit, give where the pairs of a tile with a digit go.
// `move_pairs` sorts each tile by the digit, so that neighbours write to neighbours, and takes it there.
//
// The count of the first digit also detects pairs that are already in order; if so, the sort ends
// there.
//
// After Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs" (2009), and
// Merrill and Grimshaw, "High performance and scalable radix sorting" (2011).

struct Sort {
    count: u32,  // pairs
    tiles: u32,
    shift: u32,  // the lowest bit of the digit
    bits: u32,   // of the digit
    grid_x: u32, // workgroups in x; y counts on from there
    groups: u32, // of tiles
    rows: u32,   // rows of counts that `add_up` sums: tiles or groups
    row: u32,    // the first of them
    order: u32,  // word of the counts that is 1 if the pairs are in order
    ends: u32,   // 0 while the first digit is counted, which sets that word; 1 afterwards
    copies: u32, // copy pairs that are in order to where the last digit would have moved them
}

const WORKGROUP = 256u;
// As many as invocations of a workgroup, each of which adds up counts of one.
const DIGITS = 256u;
// Pairs of an invocation and of a workgroup, as `TILE` in src/scatter/sort.rs.
const ITEMS = 8u;
const TILE = 2048u;
// Tiles of a group, as `GROUP` there.
const GROUP = 64u;
// Beside the counts of an invocation that has found keys out of order.
const FALLS = 0x80000000u;

@group(0) @binding(0) var<uniform> sort: Sort;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<u32>>; // key, lookup
@group(0) @binding(2) var<storage, read> starts: array<u32>;

fn number(workgroup: vec3<u32>) -> u32 {
    return workgroup.y * sort.grid_x + workgroup.x;
}

fn in_order(says: u32) -> bool {
    return (sort.ends != 0u) & (says != 0u);
}

fn digit_of(key: u32) -> u32 {
    return (key >> sort.shift) & (DIGITS - 1u);
}
