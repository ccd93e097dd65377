// 8-bit floats (E4M3) times a power of two for each block.

const SHORT = true;
const NORMAL = false;

struct Raw {
    codes: vec2<u32>,
    scales: vec2<u32>,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let at = vec2(table.scales_offset) + vec2(block_of(a), block_of(b));
    let codes = vec2(table.codes_offset) + vec2(a, b);
    return Raw(vec2(codes_at(codes.x), codes_at(codes.y)), vec2(scale_byte(at.x), scale_byte(at.y)));
}

// Plain: no element is NaN, subnormal as f32, or above the largest f16.
fn is_plain(raw: Raw) -> bool {
    let nans = ((raw.codes & vec2(0x7f7f7f7fu)) + vec2(0x01010101u)) & vec2(0x80808080u);
    let moderate = (raw.scales >= vec2(10u)) & (raw.scales <= vec2(134u));
    return all(moderate) & ((nans.x | nans.y) == 0u);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    var eight = Eight();
    if (plain) {
        eight = Eight(plain_scaled(raw.codes.x, raw.scales.x), plain_scaled(raw.codes.y, raw.scales.y));
    } else {
        eight = Eight(any_scaled(raw.codes.x, raw.scales.x), any_scaled(raw.codes.y, raw.scales.y));
    }
    return eight;
}

// Moves exponent and mantissa into those of an f32, as `from_f16` does: 2^-8 of the number.
fn plain_scaled(codes: u32, scale: u32) -> vec4<u32> {
    let places = vec4(codes << 20u, codes << 12u, codes << 4u, codes >> 4u);
    let magnitudes = bitcast<vec4<f32>>((places & vec4(0x07f00000u)) | vec4(112u << 23u));
    let unscaled = min(magnitudes, 2.0 * magnitudes - vec4(LEAST_NORMAL));
    let values = bitcast<vec4<u32>>(unscaled * bitcast<f32>((scale + 8u) << 23u));
    let signs = vec4(codes << 24u, codes << 16u, codes << 8u, codes) & vec4(0x80000000u);
    return values | signs;
}

fn any_scaled(word: u32, scale: u32) -> vec4<u32> {
    let codes = bytes(word);
    return vec4(
        decode_one(codes.x, scale),
        decode_one(codes.y, scale),
        decode_one(codes.z, scale),
        decode_one(codes.w, scale),
    );
}

fn decode_one(code: u32, scale: u32) -> u32 {
    let exponent = (code >> 3u) & 15u;
    let mantissa = (code & 7u) | select(8u, 0u, exponent == 0u);
    let value = scaled((code & 0x80u) << 24u, mantissa, i32(max(exponent, 1u) + scale) - 137);
    return select(value, QUIET_NAN, ((code & 0x7fu) == 0x7fu) | (scale == 255u));
}
