const PAIR_LOG2 = 4u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: u32,
    fifths: vec2<u32>,
    scale: u32,
    least: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 5u) * 24u;
    let n = a & 15u;
    let fifths = block + 4u + (n >> 3u);
    return Raw(
        codes_at(block + 8u + n),
        vec2(byte_at(fifths), byte_at(fifths + 2u)) >> vec2(n & 7u),
        half_at(block),
        half_at(block + 2u),
    );
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale) & is_moderate(raw.least);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let scale = f16_value(raw.scale);
    let least = f16_value(raw.least);
    let low = bytes(low_nibbles(raw.codes) | fifth_bits(raw.fifths.x));
    let high = bytes(high_nibbles(raw.codes) | fifth_bits(raw.fifths.y));
    return Eight(
        bitcast<vec4<u32>>(scale * vec4<f32>(low) + vec4(least)),
        bitcast<vec4<u32>>(scale * vec4<f32>(high) + vec4(least)),
    );
}
