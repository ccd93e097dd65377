// 64-bit products, which WGSL lacks, and division by multiplication.

// The high word of a * b.
fn high_product(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u);
}

// value / d for value < 2^31: the high word of 2 * value * multiplier, shifted. The multiplier
// and the shift are from `divisor` in src/plan/divisor.rs. Integer division takes several times as
// long, as GPUs have no instruction for it.
fn divide(value: u32, divisor: vec2<u32>) -> u32 {
    return high_product(value << 1u, divisor.x) >> divisor.y;
}

// sum + a * b in 64 bits, low word first; two's complement.
fn add_product(sum: vec2<u32>, a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let product = a.x * b.x;
    let x = sum.x + product;
    let high = high_product(a.x, b.x) + a.x * b.y + a.y * b.x;
    return vec2(x, sum.y + high + select(0u, 1u, x < product));
}
