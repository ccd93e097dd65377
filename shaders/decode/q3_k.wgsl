// 32 bytes of third bits, 64 of two bits, 12 of scales, a scale of all.
fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 8u) * 110u;
    let n = e & 255u;
    let part = n >> 4u;
    let low = (byte_at(block + 96u + (part & 7u)) >> ((part >> 3u) << 2u)) & 15u;
    let high = (byte_at(block + 104u + (part & 3u)) >> ((part >> 2u) << 1u)) & 3u;
    let scale = half_at(block + 108u) * (f32(low | (high << 4u)) - 32.0);
    let two = bytes(four_bytes(block + 32u + ((n >> 7u) << 5u) + (n & 31u)));
    let third = bytes(four_bytes(block + (n & 31u))) >> vec4(n >> 5u);
    let codes = ((two >> vec4(((n >> 5u) & 3u) << 1u)) & vec4(3u)) | ((third & vec4(1u)) << vec4(2u));
    return bitcast<vec4<u32>>(scale * (vec4<f32>(codes) - vec4(4.0)));
}
