// Conversions: floats of the formats to f32, and f32 to the float type of the output. Must match
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

// f16 to f32.
fn f16_value(bits: u32) -> f32 {
    return bitcast<f32>(from_f16(vec4(bits)).x);
}

// The magnitude of an f16 is below 8: it is finite, and so are its products with codes of any format, as f16.
fn is_moderate(bits: u32) -> bool {
    return (bits & 0x7fffu) < 0x4800u;
}

// least <= magnitude <= most for two f32, all as bits. Compared as integers, because compilers may assume that
// floats are not NaN.
fn are_within(bits: vec2<u32>, least: u32, most: u32) -> bool {
    let above = (bits & vec2(0x7fffffffu)) - vec2(least);
    return max(above.x, above.y) < most - least;
}

// Rounds four f32 to f16 or bf16, and packs two into each word.
fn rounded(bits: vec4<u32>) -> vec2<u32> {
    var halves = vec4<u32>();
    if (option(BFLOAT)) {
        halves = to_bf16(bits);
    } else {
        halves = to_f16(bits);
    }
    return halves.xz | (halves.yw << vec2(16u));
}

// The same, for elements with plain scales: finite and below the largest f16.
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

// f32 below the largest f16 to f16, rounded to nearest even.
fn plain_f16(bits: vec4<u32>) -> vec2<u32> {
    var words = vec2<u32>();
    if (NORMAL) {
        // Round by integer arithmetic first: the conversion is then exact in any rounding mode.
        let odd = (bits >> vec4(13u)) & vec4(1u);
        let values = bitcast<vec4<f32>>((bits + odd + vec4(0xfffu)) & vec4(0xffffe000u));
        words = vec2(pack2x16float(values.xy), pack2x16float(values.zw));
    } else {
        words = any_plain_f16(bits);
    }
    return words;
}

// Used where results may be subnormal as f16, which a conversion may flush. A normal result is rounded as an
// integer and rebiased: minus 112 << 23, modulo 2^32. A subnormal result is a multiple of 2^-24: adding 0.5
// leaves it in the lowest bits of the mantissa, rounded.
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
