fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 5u) * 18u;
    let codes = vec4<f32>(nibbles(block + 2u, e & 31u)) - vec4(8.0);
    return bitcast<vec4<u32>>(half_at(block) * codes);
}
