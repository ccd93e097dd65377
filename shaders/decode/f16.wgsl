const PAIR_LOG2 = 0u;
const SHORT = false;
const NORMAL = false;
const PLAIN_BELOW = 0x7c00u; // magnitudes below this, as bits, are plain

fn widened(words: vec2<u32>) -> vec4<u32> {
    let low = words & vec2(0xffffu);
    let high = words >> vec2(16u);
    return from_f16(vec4(low.x, high.x, low.y, high.y));
}
