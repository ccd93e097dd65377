const PAIR_LOG2 = 4u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: u32,
    scale: u32,
    least: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 5u) * 20u;
    return Raw(codes_at(block + 4u + (a & 15u)), half_at(block), half_at(block + 2u));
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale) & is_moderate(raw.least);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let scale = f16_value(raw.scale);
    let least = f16_value(raw.least);
    return Eight(
        bitcast<vec4<u32>>(scale * vec4<f32>(bytes(low_nibbles(raw.codes))) + vec4(least)),
        bitcast<vec4<u32>>(scale * vec4<f32>(bytes(high_nibbles(raw.codes))) + vec4(least)),
    );
}
