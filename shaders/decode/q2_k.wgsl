// 16 scales, 64 bytes of codes, a scale of all and one of the minima.
fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 8u) * 84u;
    let n = e & 255u;
    let scales = byte_at(block + (n >> 4u));
    let word = four_bytes(block + 16u + ((n >> 7u) << 5u) + (n & 31u));
    let codes = vec4<f32>((bytes(word) >> vec4(((n >> 5u) & 3u) << 1u)) & vec4(3u));
    let scale = half_at(block + 80u) * f32(scales & 15u);
    let least = half_at(block + 82u) * f32(scales >> 4u);
    return bitcast<vec4<u32>>(scale * codes - vec4(least));
}
