// Conversions between floats, by integers: the rounding of `pack2x16float` is not specified, and GPUs may
// flush subnormals. Their twins on the host are in src/halves.rs and src/quantized/float.rs.

const QUIET_NAN = 0x7fc00000u;

// The bits of an f32 with the value of an f16. A subnormal is a whole number of 2^-24.
fn from_f16(half: u32) -> u32 {
    let magnitude = half & 0x7fffu;
    let small = bitcast<u32>(f32(magnitude) * 5.9604644775390625e-8);
    let special = (magnitude << 13u) | 0x7f800000u;
    let normal = (magnitude << 13u) + (112u << 23u);
    let found = select(normal, special, magnitude >= 0x7c00u);
    return select(found, small, magnitude < 0x400u) | ((half & 0x8000u) << 16u);
}

// mantissa * 2^exponent with a sign bit, for a mantissa below 2^23 and an exponent of -149 or more.
fn scaled(sign: u32, mantissa: u32, exponent: i32) -> u32 {
    let top = firstLeadingBit(max(mantissa, 1u));
    let biased = exponent + i32(top) + 127;
    let normal = (u32(biased) << 23u) | ((mantissa << (23u - top)) & 0x7fffffu);
    let subnormal = mantissa << (u32(exponent + 149) & 31u);
    let finite = select(subnormal, normal, biased > 0);
    let magnitude = select(finite, 0x7f800000u, biased > 254);
    return sign | select(magnitude, 0u, mantissa == 0u);
}

// value / 2^shift to nearest even, for shifts from 1 on.
fn nearest_even(value: vec4<u32>, shift: vec4<u32>) -> vec4<u32> {
    let below_half = (vec4(1u) << (shift - vec4(1u))) - vec4(1u);
    return (value + below_half + ((value >> shift) & vec4(1u))) >> shift;
}

// The bits of four f32 as those of f16 or bf16.
fn rounded(bits: vec4<u32>) -> vec4<u32> {
    let magnitude = bits & vec4(0x7fffffffu);
    let is_nan = magnitude > vec4(0x7f800000u);
    let sign = (bits >> vec4(16u)) & vec4(0x8000u);
    var halves = vec4<u32>();
    if (!option(BFLOAT)) {
        let normal = min(nearest_even(magnitude, vec4(13u)) - vec4(112u << 10u), vec4(0x7c00u));
        let mantissa = (magnitude & vec4(0x7fffffu)) | vec4(0x800000u);
        let shift = clamp(vec4(126u) - (magnitude >> vec4(23u)), vec4(1u), vec4(25u));
        let small = nearest_even(mantissa, shift);
        let number = select(small, normal, magnitude >= vec4(0x38800000u));
        let nan = ((magnitude >> vec4(13u)) & vec4(0x3ffu)) | vec4(0x7e00u);
        halves = sign | select(number, nan, is_nan);
    } else {
        let nan = (bits >> vec4(16u)) | vec4(0x40u);
        halves = select(nearest_even(bits, vec4(16u)), nan, is_nan);
    }
    return halves;
}
