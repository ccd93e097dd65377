// Floats of 8 bits times powers of two.

fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let codes = codes_of_four(e) >> vec4(24u);
    let scale = scale_byte(table.scales_offset + block_of(own));
    return vec4(
        decode_one(codes.x, scale),
        decode_one(codes.y, scale),
        decode_one(codes.z, scale),
        decode_one(codes.w, scale),
    );
}

fn decode_one(code: u32, scale: u32) -> u32 {
    let exponent = (code >> 3u) & 15u;
    let mantissa = (code & 7u) | select(8u, 0u, exponent == 0u);
    let value = scaled((code & 0x80u) << 24u, mantissa, i32(max(exponent, 1u) + scale) - 137);
    return select(value, QUIET_NAN, ((code & 0x7fu) == 0x7fu) | (scale == 255u));
}
