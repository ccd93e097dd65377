// Block: 16 bytes of scales and minima, 64 bytes of codes, f16 super-scale `d` and super-minimum.
const PAIR_LOG2 = 5u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: u32,
    parts: vec2<u32>,
    scale: u32,
    least: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 8u) * 84u;
    let n = a & 255u;
    let parts = block + (n >> 4u);
    let codes = codes_at(block + 16u + ((n >> 7u) << 5u) + (n & 31u));
    return Raw(
        codes >> ((n >> 4u) & 4u),
        vec2(byte_at(parts), byte_at(parts + 2u)),
        half_at(block + 80u),
        half_at(block + 82u),
    );
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale) & is_moderate(raw.least);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let scales = f16_value(raw.scale) * vec2<f32>(raw.parts & vec2(15u));
    let least = f16_value(raw.least) * vec2<f32>(raw.parts >> vec2(4u));
    let a = bytes(raw.codes & 0x03030303u);
    let b = bytes((raw.codes >> 2u) & 0x03030303u);
    return Eight(
        bitcast<vec4<u32>>(scales.x * vec4<f32>(a) - vec4(least.x)),
        bitcast<vec4<u32>>(scales.y * vec4<f32>(b) - vec4(least.y)),
    );
}
