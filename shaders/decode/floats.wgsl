// Floats of formats as f32, and f32 as the floats of the output. Their twins on the host are in
// src/quantized/float.rs.

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

// The bits of four f32 as those of f16 or bf16.
fn rounded(bits: vec4<u32>) -> vec4<u32> {
    var halves = vec4<u32>();
    if (option(BFLOAT)) {
        halves = to_bf16(bits);
    } else {
        halves = to_f16(bits);
    }
    return halves;
}
