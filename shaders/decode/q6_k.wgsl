// 128 bytes of four bits, 64 of two more, 16 signed scales, a scale of all.
fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 8u) * 210u;
    let n = e & 255u;
    let low = bytes(four_bytes(block + ((n >> 7u) << 6u) + (n & 63u)));
    let high = bytes(four_bytes(block + 128u + ((n >> 7u) << 5u) + (n & 31u)));
    let codes = ((low >> vec4(((n >> 6u) & 1u) << 2u)) & vec4(15u))
        | (((high >> vec4(((n >> 5u) & 3u) << 1u)) & vec4(3u)) << vec4(4u));
    let part = bitcast<i32>(byte_at(block + 192u + (n >> 4u)) << 24u) >> 24u;
    let scale = half_at(block + 208u) * f32(part);
    return bitcast<vec4<u32>>(scale * (vec4<f32>(codes) - vec4(32.0)));
}
