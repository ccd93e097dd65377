// Block: 128 bytes of the lower four bits, 64 bytes of the upper two, 16 signed scales, f16 super-scale.
const PAIR_LOG2 = 6u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    low: u32,
    high: u32,
    parts: vec2<u32>,
    scale: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 8u) * 210u;
    let n = a & 255u;
    let parts = block + 192u + (n >> 4u);
    return Raw(
        codes_from(block + ((n >> 7u) << 6u) + (n & 63u)),
        codes_from(block + 128u + ((n >> 7u) << 5u) + (n & 31u)) >> ((n >> 4u) & 2u),
        vec2(byte_at(parts), byte_at(parts + 4u)),
        half_at(block + 208u),
    );
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let parts = bitcast<vec2<i32>>(raw.parts << vec2(24u)) >> vec2(24u);
    let scales = f16_value(raw.scale) * vec2<f32>(parts);
    let a = low_nibbles(raw.low) | ((raw.high << 4u) & 0x30303030u);
    let b = high_nibbles(raw.low) | (raw.high & 0x30303030u);
    return Eight(
        bitcast<vec4<u32>>(scales.x * (vec4<f32>(bytes(a)) - vec4(32.0))),
        bitcast<vec4<u32>>(scales.y * (vec4<f32>(bytes(b)) - vec4(32.0))),
    );
}
