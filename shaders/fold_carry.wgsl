// Where the sum of a key that goes on in the next pass stays meanwhile: it is wider than an element.
// Written in one half and read in the other, as another invocation may still read what it holds.

@group(0) @binding(4) var<storage, read_write> carry: array<u32>;

fn resumed(sum: vec4<u32>, free: u32) -> vec4<u32> {
    let at = LANES * (fold.turn * fold.free_count + free);
    var sums = sum;
    sums.x = carry[at];
    if (LANES == 4u) {
        sums = vec4(sums.x, carry[at + 1u], carry[at + 2u], carry[at + 3u]);
    }
    return sums;
}

// Whether the sum is held here, if it is to be.
fn held(sum: vec4<u32>, free: u32, open: bool) -> bool {
    let at = LANES * ((1u - fold.turn) * fold.free_count + free);
    if (open) {
        carry[at] = sum.x;
    }
    if (open & (LANES == 4u)) {
        carry[at + 1u] = sum.y;
        carry[at + 2u] = sum.z;
        carry[at + 3u] = sum.w;
    }
    return true;
}
