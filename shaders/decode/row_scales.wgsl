// Rows of unsigned bytes with a scale and a bias at their end.

fn decode_four(e: u32, own: u32) -> vec4<u32> {
    let row = divide(own, table.row_divisor);
    let start = table.codes_offset + row * (table.row_length + 8u);
    let tail = start + table.row_length;
    // Before the start of a row are the bytes of the one before.
    let codes = bytes(four_bytes(start + (own - row * table.row_length) - (own & 3u)));
    return bitcast<vec4<u32>>(vec4<f32>(codes) * float_at(tail) + vec4(float_at(tail + 4u)));
}

fn float_at(at: u32) -> f32 {
    return bitcast<f32>(four_bytes(at));
}
