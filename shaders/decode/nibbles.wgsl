// Blocks of a scale and 32 codes of 4 bits in 16 bytes: all low nibbles first, then the high ones.

const PAIR_LOG2 = 4u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    codes: u32,
    scale: u32,
}

fn load_pair(a: u32, b: u32) -> Raw {
    let block = table.codes_offset + (a >> 5u) * 18u;
    return Raw(codes_from(block + 2u + (a & 15u)), half_at(block));
}

fn is_plain(raw: Raw) -> bool {
    return is_moderate(raw.scale);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    let scale = f16_value(raw.scale);
    return Eight(
        of_nibbles(low_nibbles(raw.codes), scale),
        of_nibbles(high_nibbles(raw.codes), scale),
    );
}
