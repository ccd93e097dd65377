// MXFP4: a power of two in a byte (E8M0), then 4-bit floats (E2M1). Negative zero decodes to zero.
const PAIR_LOG2 = 4u;
const SHORT = true;
const NORMAL = false;

struct Raw {
    codes: u32,
    exponent: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 5u) * 17u;
    return Raw(codes_from(block + 1u + (a & 15u)), byte_at(block));
}

// Plain: half of the scale, the unit of codes, is at least 2^-24, the smallest subnormal f16; six times the
// scale, the largest element, is below the largest f16.
fn is_plain(raw: Raw) -> bool {
    return (raw.exponent >= 104u) & (raw.exponent <= 140u);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let low = low_nibbles(raw.codes);
    let high = high_nibbles(raw.codes);
    var eight = Eight();
    if (plain) {
        let unit = bitcast<f32>((raw.exponent - 1u) << 23u);
        eight = Eight(times_unit(low, unit), times_unit(high, unit));
    } else {
        let exponent = i32(raw.exponent) - 128;
        eight = Eight(any_scaled(low, exponent), any_scaled(high, exponent));
    }
    return eight;
}

// Twice the magnitude of a code, from its lower three bits: 0 1 2 3 4 6 8 12. Four bytes at once: codes from
// 4 on add their lower two bits a second time, and 2 more if both are set.
fn doubled(codes: u32) -> u32 {
    let fours = (codes >> 2u) & 0x01010101u;
    let again = codes & (fours * 3u);
    return (codes & 0x07070707u) + again + ((again & (again >> 1u)) & 0x01010101u) * 2u;
}

// Signed integers from -12 to 12, biased to bytes from 20 to 44: an integer zero has no sign.
fn times_unit(codes: u32, unit: f32) -> vec4<u32> {
    let negative = (codes >> 3u) & 0x01010101u;
    let ones = (negative << 5u) - negative;
    let biased = ((doubled(codes) ^ ones) + 0x20202020u) - ones;
    return bitcast<vec4<u32>>((vec4<f32>(bytes(biased)) - vec4(32.0)) * unit);
}

fn any_scaled(codes: u32, exponent: i32) -> vec4<u32> {
    let sign = select(vec4(0u), vec4(0x80000000u), bytes(codes) > vec4(8u));
    let magnitude = bytes(doubled(codes));
    return vec4(
        scaled(sign.x, magnitude.x, exponent),
        scaled(sign.y, magnitude.y, exponent),
        scaled(sign.z, magnitude.z, exponent),
        scaled(sign.w, magnitude.w, exponent),
    );
}
