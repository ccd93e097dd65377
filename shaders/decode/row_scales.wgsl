// Rows of unsigned bytes with a scale and a bias at their end.

fn decode_four(e: u32) -> vec4<u32> {
    var found = vec4<f32>();
    if (table.one_scale != 0u) {
        let at = row_at(e);
        let codes = bytes(four_bytes(at.x));
        found = vec4<f32>(codes) * float_at(at.y) + vec4(float_at(at.y + 4u));
    } else {
        let last = table.count - 1u;
        found = vec4(
            decode_one(e),
            decode_one(min(e + 1u, last)),
            decode_one(min(e + 2u, last)),
            decode_one(min(e + 3u, last)),
        );
    }
    return bitcast<vec4<u32>>(found);
}

fn decode_one(e: u32) -> f32 {
    let at = row_at(e);
    return f32(byte_at(at.x)) * float_at(at.y) + float_at(at.y + 4u);
}

// Where the code of an element lies, and the scale of its row.
fn row_at(e: u32) -> vec2<u32> {
    let row = divide(e, table.row_divisor);
    let start = table.codes_offset + row * (table.row_length + 8u);
    return vec2(start + (e - row * table.row_length), start + table.row_length);
}

fn float_at(at: u32) -> f32 {
    return bitcast<f32>(four_bytes(at));
}
