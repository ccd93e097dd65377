const PAIR_LOG2 = 0u;
const SHORT = true;
const NORMAL = false;
const PLAIN_BELOW = 0x4700u; // magnitudes below this, as bits, are plain

fn widened(words: vec2<u32>) -> vec4<u32> {
    let high = words & vec2(0xffff0000u);
    return vec4(words.x << 16u, high.x, words.y << 16u, high.y);
}
