fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 5u) * 22u;
    let n = e & 31u;
    let fifth = (vec4(four_bytes(block + 2u) >> n) >> vec4(0u, 1u, 2u, 3u)) & vec4(1u);
    let codes = nibbles(block + 6u, n) | (fifth << vec4(4u));
    return bitcast<vec4<u32>>(half_at(block) * (vec4<f32>(codes) - vec4(16.0)));
}
