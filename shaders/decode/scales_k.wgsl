// The scale and the minimum of part `part` of 32 elements: 6 bits each, of eight parts in 12 bytes.
fn scale_and_least(at: u32, part: u32) -> vec2<u32> {
    let own = byte_at(at + part);
    let next = byte_at(at + part + 4u);
    let before = byte_at(at + (part & 3u)); // part - 4, for the later four
    let later = vec2(next & 15u, next >> 4u) | ((vec2(before, own) >> vec2(6u)) << vec2(4u));
    return select(later, vec2(own, next) & vec2(63u), part < 4u);
}

// scale * code - minimum, with the scales of all at the start of the block.
fn scale_codes(block: u32, part: u32, codes: vec4<u32>) -> vec4<u32> {
    let parts = vec2<f32>(scale_and_least(block + 4u, part));
    let scale = half_at(block) * parts.x;
    let least = half_at(block + 2u) * parts.y;
    return bitcast<vec4<u32>>(scale * vec4<f32>(codes) - vec4(least));
}
