// (code - zero point) * scale

const SHORT = false;
const NORMAL = true;

struct Raw {
    codes: vec2<u32>,
    scales: vec2<u32>, // as stored
    zeros: vec2<i32>,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block_a = block_of(a);
    let block_b = block_of(b);
    return Raw(
        vec2(four_codes(a), four_codes(b)),
        vec2(scale_at(block_a), scale_at(block_b)),
        vec2(zero_of(block_a), zero_of(block_b)),
    );
}

fn scale_at(block: u32) -> u32 {
    let at = table.scales_offset + (block << table.scale_log2);
    return scales[at >> 2u] >> (8u * (at & 2u));
}

fn zero_of(block: u32) -> i32 {
    var zero = bitcast<i32>(table.zero);
    if (option(ZERO_POINTS)) {
        let stored = scale_byte(table.zeros_offset + block);
        let extended = bitcast<i32>(stored << 24u) >> 24u;
        zero = select(bitcast<i32>(stored), extended, table.is_signed != 0u);
    }
    return zero;
}

// Converts a scale to the bits of an f32.
fn scale_bits(stored: u32) -> u32 {
    var bits = stored;
    if (option(F16_SCALES)) {
        bits = from_f16(vec4(stored & 0xffffu)).x;
    }
    if (option(BF16_SCALES)) {
        bits = stored << 16u;
    }
    return bits;
}

// Plain: from the smallest normal f16 up to 128. Code differences are below 256, so products are below 2^15.
fn is_plain(raw: Raw) -> bool {
    let both = vec2(scale_bits(raw.scales.x), scale_bits(raw.scales.y));
    return are_within(both, 0x38800000u, 0x43000000u);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    return Eight(
        of_integers(raw.codes.x, raw.zeros.x, bitcast<f32>(scale_bits(raw.scales.x))),
        of_integers(raw.codes.y, raw.zeros.y, bitcast<f32>(scale_bits(raw.scales.y))),
    );
}

// Flipping the sign bit turns signed codes into unsigned ones, larger by half of the range.
fn of_integers(codes: u32, zero: i32, scale: f32) -> vec4<u32> {
    let bits = 1u << table.bits_log2;
    let mask = (1u << bits) - 1u;
    let sign = table.is_signed << (bits - 1u);
    let unsigned = vec4(
        codes & mask,
        (codes >> bits) & mask,
        (codes >> (2u * bits)) & mask,
        (codes >> (3u * bits)) & mask,
    ) ^ vec4(sign);
    let origin = f32(bitcast<i32>(sign) + zero);
    return bitcast<vec4<u32>>((vec4<f32>(unsigned) - vec4(origin)) * scale);
}
