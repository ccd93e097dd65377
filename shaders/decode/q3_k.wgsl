// Block: 32 bytes of third bits, 64 bytes of the lower two bits, 12 bytes of scales, f16 super-scale.
const PAIR_LOG2 = 5u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: u32,
    thirds: u32,
    parts: vec2<u32>,
    scale: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 8u) * 110u;
    let n = a & 255u;
    let part = n >> 4u;
    let low = block + 96u + (part & 7u);
    let high = block + 104u + (part & 3u);
    let lows = vec2(byte_at(low), byte_at(low + 2u)) >> vec2((part >> 3u) << 2u);
    let highs = vec2(byte_at(high), byte_at(high + 2u)) >> vec2((part >> 2u) << 1u);
    let codes = codes_from(block + 32u + ((n >> 7u) << 5u) + (n & 31u));
    return Raw(
        codes >> ((n >> 4u) & 4u),
        codes_from(block + (n & 31u)) >> (n >> 5u),
        (lows & vec2(15u)) | ((highs & vec2(3u)) << vec2(4u)),
        half_at(block + 108u),
    );
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let scales = f16_value(raw.scale) * (vec2<f32>(raw.parts) - vec2(32.0));
    let a = (raw.codes & 0x03030303u) | ((raw.thirds << 2u) & 0x04040404u);
    let b = ((raw.codes >> 2u) & 0x03030303u) | ((raw.thirds << 1u) & 0x04040404u);
    return Eight(
        bitcast<vec4<u32>>(scales.x * (vec4<f32>(bytes(a)) - vec4(4.0))),
        bitcast<vec4<u32>>(scales.y * (vec4<f32>(bytes(b)) - vec4(4.0))),
    );
}
