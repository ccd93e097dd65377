fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 5u) * 34u;
    return bitcast<vec4<u32>>(vec4<f32>(signed_bytes(four_bytes(block + 2u + (e & 31u)))) * half_at(block));
}

fn signed_bytes(word: u32) -> vec4<i32> {
    return bitcast<vec4<i32>>(vec4(word) << vec4(24u, 16u, 8u, 0u)) >> vec4(24u);
}
