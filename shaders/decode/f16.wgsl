fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let at = table.codes_offset + 2u * e;
    let low = four_bytes(at);
    let high = four_bytes(at + select(0u, 4u, e + 2u < table.count)); // if there are so many
    return from_f16(vec4(low & 0xffffu, low >> 16u, high & 0xffffu, high >> 16u));
}
