// Partial sums kept from pass to pass outside the destination: one for each piece and free step, and that of
// the key which the next pass resumes, if a sum is wider than an element. The latter are double-buffered, as
// another invocation may still read the old value.

@group(0) @binding(4) var<storage, read_write> carry: array<vec4<u32>>;

// The sum of a resumed key is wider than an element, so it cannot stay in the destination.
fn carries() -> bool {
    return (ELEMENT == F16) | (ELEMENT == BF16);
}

fn carried(at: u32) -> vec4<u32> {
    return carry[at];
}

fn carry_over(at: u32, sum: vec4<u32>) {
    carry[at] = sum;
}
