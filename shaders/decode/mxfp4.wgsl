// A power of two as a byte, then floats of 4 bits. Negative zero counts as zero.
fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let block = table.codes_offset + (e >> 5u) * 17u;
    let exponent = i32(byte_at(block)) - 128;
    let codes = nibbles(block + 1u, e & 31u);
    let sign = select(vec4(0u), vec4(0x80000000u), codes > vec4(8u));
    // Twice what the lower three bits mean: 0 1 2 3 4 6 8 12.
    let doubled = (vec4(0xc8643210u) >> ((codes & vec4(7u)) << vec4(2u))) & vec4(15u);
    return vec4(
        scaled(sign.x, doubled.x, exponent),
        scaled(sign.y, doubled.y, exponent),
        scaled(sign.z, doubled.z, exponent),
        scaled(sign.w, doubled.w, exponent),
    );
}
