const PAIR_LOG2 = 4u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: u32,
    fifths: vec2<u32>,
    scale: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 5u) * 22u;
    let n = a & 15u;
    let fifths = block + 2u + (n >> 3u);
    return Raw(
        codes_from(block + 6u + n),
        vec2(byte_at(fifths), byte_at(fifths + 2u)) >> vec2(n & 7u),
        half_at(block),
    );
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let scale = f16_value(raw.scale);
    return Eight(
        of_five(low_nibbles(raw.codes) | fifth_bits(raw.fifths.x), scale),
        of_five(high_nibbles(raw.codes) | fifth_bits(raw.fifths.y), scale),
    );
}

fn of_five(codes: u32, scale: f32) -> vec4<u32> {
    return bitcast<vec4<u32>>(scale * (vec4<f32>(bytes(codes)) - vec4(16.0)));
}
