const PAIR_LOG2 = 0u;
const SHORT = false;
const NORMAL = false;

struct Raw {
    a: vec2<u32>,
    b: vec2<u32>,
}

fn load_pair(a: u32, b: u32) -> Raw {
    return Raw(four_halves(a), four_halves(b));
}

fn is_plain(raw: Raw) -> bool {
    return are_below(raw.a, 0x7c00u) & are_below(raw.b, 0x7c00u);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    return Eight(widened(raw.a), widened(raw.b));
}

fn widened(words: vec2<u32>) -> vec4<u32> {
    let low = words & vec2(0xffffu);
    let high = words >> vec2(16u);
    return from_f16(vec4(low.x, high.x, low.y, high.y));
}
