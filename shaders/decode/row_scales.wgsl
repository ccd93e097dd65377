// FBGEMM rows: unsigned bytes, followed by the row's f32 scale and bias.
const PAIR_LOG2 = 0u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: vec2<u32>,
    a: vec2<u32>,
    b: vec2<u32>,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let row_a = divide(a, table.row_divisor);
    var row_b = row_a;
    if (option(SEVERAL_ROWS)) {
        row_b = divide(b, table.row_divisor);
    }
    // The rows before this one each take 8 bytes more, of scale and bias.
    let codes = vec2(a + 8u * row_a, b + 8u * row_b) + vec2(table.codes_offset);
    return Raw(
        vec2(codes_at(codes.x), codes_at(codes.y)),
        scale_and_bias(row_a),
        scale_and_bias(row_b),
    );
}

fn scale_and_bias(row: u32) -> vec2<u32> {
    let tail = table.codes_offset + row * (table.row_length + 8u) + table.row_length;
    return vec2(row_word(tail), row_word(tail + 4u));
}

// Plain: scale below 128 and bias below 2^14.
fn is_plain(raw: Raw) -> bool {
    return are_within(vec2(raw.a.x, raw.b.x), 0u, 0x43000000u)
        & are_within(vec2(raw.a.y, raw.b.y), 0u, 0x46800000u);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    return Eight(of_row(raw.codes.x, raw.a), of_row(raw.codes.y, raw.b));
}

fn of_row(codes: u32, row: vec2<u32>) -> vec4<u32> {
    let factors = bitcast<vec2<f32>>(row);
    return bitcast<vec4<u32>>(vec4<f32>(bytes(codes)) * factors.x + vec4(factors.y));
}
