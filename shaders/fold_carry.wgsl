// Where sums stay from pass to pass that are not in the destination: those of pieces, one for each piece and
// free step; and of a key that the next pass goes on with, where a sum is wider than an element. The latter
// are written in one half and read in the other, as another invocation may still read what it holds.

@group(0) @binding(4) var<storage, read_write> carry: array<vec4<u32>>;

// Whether the sum of a key that the next pass goes on with is wider than an element.
fn carries() -> bool {
    return (ELEMENT == F16) | (ELEMENT == BF16);
}

fn carried(at: u32) -> vec4<u32> {
    return carry[at];
}

fn carry_over(at: u32, sum: vec4<u32>) {
    carry[at] = sum;
}
