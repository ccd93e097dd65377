// (code - zero point) * scale

fn decode_four(e: u32) -> vec4<u32> {
    let codes = codes_of_four(e);
    let right = vec4(32u - (1u << table.bits_log2));
    let unsigned = bitcast<vec4<i32>>(codes >> right);
    let integers = select(unsigned, bitcast<vec4<i32>>(codes) >> right, table.is_signed != 0u);
    let blocks = blocks_of_four(e);
    var zeros = vec4(zero_of(blocks.x));
    var factors = vec4(scale_of(blocks.x));
    if (table.one_scale == 0u) {
        zeros = vec4(zeros.x, zero_of(blocks.y), zero_of(blocks.z), zero_of(blocks.w));
        factors = vec4(factors.x, scale_of(blocks.y), scale_of(blocks.z), scale_of(blocks.w));
    }
    return bitcast<vec4<u32>>(vec4<f32>(integers - zeros) * factors);
}

fn zero_of(block: u32) -> i32 {
    var zero = bitcast<i32>(table.zero);
    if (table.has_zeros != 0u) {
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
    if (table.scale_type == F16) {
        bits = from_f16(short);
    }
    if (table.scale_type == BF16) {
        bits = short << 16u;
    }
    return bitcast<f32>(bits);
}
