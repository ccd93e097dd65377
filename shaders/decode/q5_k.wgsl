// Two scales of all, 12 bytes of scales, 32 of fifth bits, 128 of four bits.
fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 8u) * 176u;
    let part = (e >> 5u) & 7u;
    let word = four_bytes(block + 48u + ((part >> 1u) << 5u) + (e & 31u));
    let fifth = (bytes(four_bytes(block + 16u + (e & 31u))) >> vec4(part)) & vec4(1u);
    let codes = (bytes(word) >> vec4((part & 1u) << 2u)) & vec4(15u);
    return scale_codes(block, part, codes | (fifth << vec4(4u)));
}
