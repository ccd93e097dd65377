const PAIR_LOG2 = 0u;
const SHORT = true;
const NORMAL = false;

struct Raw {
    a: vec2<u32>,
    b: vec2<u32>,
}

fn load_pair(a: u32, b: u32) -> Raw {
    return Raw(four_halves(a), four_halves(b));
}

fn is_plain(raw: Raw) -> bool {
    return are_below(raw.a, 0x4700u) & are_below(raw.b, 0x4700u);
}

fn decode(raw: Raw, plain: bool) -> Eight {
    return Eight(widened(raw.a), widened(raw.b));
}

fn widened(words: vec2<u32>) -> vec4<u32> {
    let high = words & vec2(0xffff0000u);
    return vec4(words.x << 16u, high.x, words.y << 16u, high.y);
}
