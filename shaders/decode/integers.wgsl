// (code - zero point) * scale

fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let codes = codes_of_four(e);
    let right = vec4(32u - (1u << table.bits_log2));
    let unsigned = bitcast<vec4<i32>>(codes >> right);
    let integers = select(unsigned, bitcast<vec4<i32>>(codes) >> right, table.is_signed != 0u);
    let block = block_of(own);
    let differences = vec4<f32>(integers - vec4(zero_of(block)));
    return bitcast<vec4<u32>>(differences * scale_of(block));
}

fn zero_of(block: u32) -> i32 {
    var zero = bitcast<i32>(table.zero);
    if (option(ZERO_POINTS)) {
        let stored = scale_byte(table.zeros_offset + block);
        let extended = bitcast<i32>(stored << 24u) >> 24u;
        zero = select(bitcast<i32>(stored), extended, table.is_signed != 0u);
    }
    return zero;
}

fn scale_of(block: u32) -> f32 {
    let at = table.scales_offset + (block << table.scale_log2);
    let word = scales[at >> 2u];
    let short = (word >> (8u * (at & 2u))) & 0xffffu;
    var bits = word;
    if (option(F16_SCALES)) {
        bits = from_f16(vec4(short)).x;
    }
    if (option(BF16_SCALES)) {
        bits = short << 16u;
    }
    return bitcast<f32>(bits);
}
