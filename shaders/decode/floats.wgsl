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

// The value of an f16.
fn f16_value(bits: u32) -> f32 {
    return bitcast<f32>(from_f16(vec4(bits)).x);
}

// Whether an f16 is below 8. Then it is finite, and so are, as f16, its products with codes of any format.
fn is_moderate(bits: u32) -> bool {
    return (bits & 0x7fffu) < 0x4800u;
}

// Whether the magnitudes of two f32 are from `least` up to `most`, both as bits: by integers, as compilers
// may assume that there is no NaN.
fn are_within(bits: vec2<u32>, least: u32, most: u32) -> bool {
    let above = (bits & vec2(0x7fffffffu)) - vec2(least);
    return max(above.x, above.y) < most - least;
}

// The bits of four f32 as those of f16 or bf16, two in a word.
fn rounded(bits: vec4<u32>) -> vec2<u32> {
    var halves = vec4<u32>();
    if (option(BFLOAT)) {
        halves = to_bf16(bits);
    } else {
        halves = to_f16(bits);
    }
    return halves.xz | (halves.yw << vec2(16u));
}

// The same for elements of plain scales.
fn rounded_plain(bits: vec4<u32>) -> vec2<u32> {
    var words = vec2<u32>();
    if (option(BFLOAT)) {
        var halves = bits;
        if (!SHORT) {
            halves = bits + ((bits >> vec4(16u)) & vec4(1u)) + vec4(0x7fffu);
        }
        words = (halves.xz >> vec2(16u)) | (halves.yw & vec2(0xffff0000u));
    } else {
        words = plain_f16(bits);
    }
    return words;
}

// f32 below the largest f16 as f16, to nearest even.
fn plain_f16(bits: vec4<u32>) -> vec2<u32> {
    var words = vec2<u32>();
    if (NORMAL) {
        // Rounded as an integer, so that the conversion is exact, however it rounds.
        let odd = (bits >> vec4(13u)) & vec4(1u);
        let values = bitcast<vec4<f32>>((bits + odd + vec4(0xfffu)) & vec4(0xffffe000u));
        words = vec2(pack2x16float(values.xy), pack2x16float(values.zw));
    } else {
        words = any_plain_f16(bits);
    }
    return words;
}

// A conversion may make subnormal ones zero. A normal number is rounded as an integer, with the difference of
// the exponents: 112 << 23, here 2^32 less. A subnormal one counts the least: with 0.5 added, it is in the
// lowest bits.
fn any_plain_f16(bits: vec4<u32>) -> vec2<u32> {
    var normal = (bits + vec4(0xc8000000u)) >> vec4(13u);
    if (!SHORT) {
        normal = (bits + ((bits >> vec4(13u)) & vec4(1u)) + vec4(0xc8000fffu)) >> vec4(13u);
    }
    let magnitude = abs(bitcast<vec4<f32>>(bits));
    let small = bitcast<vec4<u32>>(magnitude + vec4(0.5));
    let halves = select(normal, small, magnitude < vec4(LEAST_NORMAL));
    let words = (halves.xz & vec2(0xffffu)) | (halves.yw << vec2(16u));
    let signs = (bits.xz >> vec2(16u)) | (bits.yw & vec2(0xffff0000u));
    return (words & vec2(0x7fff7fffu)) | (signs & vec2(0x80008000u));
}
