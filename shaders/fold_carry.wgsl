// Where the sum of a key that goes on in the next pass stays meanwhile: it is wider than an element.
// Written in one half and read in the other, as another invocation may still read what it holds.

@group(0) @binding(4) var<storage, read_write> carry: array<u32>;

fn resumed(sum: vec4<u32>, free: u32) -> vec4<u32> {
    var sums = sum;
    sums.x = carry[fold.turn * fold.free_count + free];
    return sums;
}

// Whether the sum is held here, if it is to be.
fn held(sum: vec4<u32>, free: u32, open: bool) -> bool {
    if (open) {
        carry[(1u - fold.turn) * fold.free_count + free] = sum.x;
    }
    return true;
}
