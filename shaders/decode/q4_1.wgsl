fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 5u) * 20u;
    let codes = vec4<f32>(nibbles(block + 4u, e & 31u));
    return bitcast<vec4<u32>>(half_at(block) * codes + vec4(half_at(block + 2u)));
}
