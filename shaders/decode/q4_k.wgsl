// Two scales of all, 12 bytes of scales, 128 of codes.
fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 8u) * 144u;
    let part = (e >> 5u) & 7u;
    let word = four_bytes(block + 16u + ((part >> 1u) << 5u) + (e & 31u));
    return scale_codes(block, part, (bytes(word) >> vec4((part & 1u) << 2u)) & vec4(15u));
}
