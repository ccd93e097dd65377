// Block: f16 super-scale and super-minimum, 12 bytes of scales and minima, 32 bytes of fifth bits, 128 bytes of
// the lower four bits.
const PAIR_LOG2 = 5u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: u32,
    fifths: u32,
    part: u32,
    parts: vec3<u32>,
    scale: u32,
    least: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 8u) * 176u;
    let part = (a >> 5u) & 7u;
    return Raw(
        codes_at(block + 48u + ((part >> 1u) << 5u) + (a & 31u)),
        codes_at(block + 16u + (a & 31u)) >> part,
        part,
        fetch_parts(block + 4u, part),
        half_at(block),
        half_at(block + 2u),
    );
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale) & is_moderate(raw.least);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let parts = parts_of(raw.parts, raw.part);
    let a = low_nibbles(raw.codes) | ((raw.fifths << 4u) & 0x10101010u);
    let b = high_nibbles(raw.codes) | ((raw.fifths << 3u) & 0x10101010u);
    return scale_codes(a, b, parts, f16_value(raw.scale), f16_value(raw.least));
}
