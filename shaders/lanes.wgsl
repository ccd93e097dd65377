// Packs and unpacks elements: words in memory to the lanes of arithmetic.wgsl, four elements of up to 32 bits
// or two of 64.

fn lanes_of(words: vec4<u32>) -> vec4<u32> {
    var lanes = words;
    if (ELEMENT == I8) {
        lanes = (vec4(words.x) >> vec4(0u, 8u, 16u, 24u)) & vec4(0xffu);
    } else if ((ELEMENT == F16) | (ELEMENT == BF16) | (ELEMENT == I16)) {
        lanes = vec4(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu, words.y >> 16u);
    }
    return lanes;
}

fn words_of_lanes(lanes: vec4<u32>) -> vec4<u32> {
    var words = lanes;
    if (ELEMENT == I8) {
        let bytes = (words & vec4(0xffu)) << vec4(0u, 8u, 16u, 24u);
        words = vec4(bytes.x | bytes.y | bytes.z | bytes.w, 0u, 0u, 0u);
    } else if ((ELEMENT == F16) | (ELEMENT == BF16) | (ELEMENT == I16)) {
        let halves = words & vec4(0xffffu);
        words = vec4(halves.x | (halves.y << 16u), halves.z | (halves.w << 16u), 0u, 0u);
    }
    return words;
}
