// 16-bit floats, unscaled.

struct Raw {
    a: vec2<u32>,
    b: vec2<u32>,
}

fn load_pair(a: u32, b: u32) -> Raw {
    return Raw(four_halves(a), four_halves(b));
}

fn is_plain(raw: Raw) -> bool {
    return are_below(raw.a, PLAIN_BELOW) & are_below(raw.b, PLAIN_BELOW);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    return Eight(widened(raw.a), widened(raw.b));
}
