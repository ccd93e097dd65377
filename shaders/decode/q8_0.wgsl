const PAIR_LOG2 = 4u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: vec2<u32>,
    scale: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 5u) * 34u;
    let codes = block + 2u + (a & 15u);
    return Raw(vec2(codes_from(codes), codes_from(codes + 16u)), half_at(block));
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let scale = f16_value(raw.scale);
    return Eight(of_signed(raw.codes.x, scale), of_signed(raw.codes.y, scale));
}

fn of_signed(codes: u32, scale: f32) -> vec4<u32> {
    return bitcast<vec4<u32>>((vec4<f32>(bytes(codes ^ 0x80808080u)) - vec4(128.0)) * scale);
}
