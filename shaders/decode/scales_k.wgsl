// 6-bit scales and minima of the eight sub-blocks of 32 elements, packed into 12 bytes.

// The bytes that hold the scales and minima of sub-blocks `part` (even) and `part + 1`.
fn fetch_parts(at: u32, part: u32) -> vec3<u32> {
    // Sub-blocks 4 to 7 keep their upper two bits with sub-block part - 4.
    return vec3(two_bytes(at + part), two_bytes(at + part + 4u), two_bytes(at + (part & 3u)));
}

// Unpacks two scales and two minima, a byte each.
fn parts_of(loaded: vec3<u32>, part: u32) -> vec2<u32> {
    let early = loaded.xy & vec2(0x3f3fu);
    let later = (vec2(loaded.y, loaded.y >> 4u) & vec2(0x0f0fu)) | ((loaded.zx >> vec2(2u)) & vec2(0x3030u));
    return select(later, early, part < 4u);
}

// d * scale * code - dmin * minimum.
fn scale_codes(a: u32, b: u32, parts: vec2<u32>, scale: f32, least: f32) -> Eight {
    let scales = scale * vec2<f32>(vec2(parts.x & 0xffu, parts.x >> 8u));
    let minima = least * vec2<f32>(vec2(parts.y & 0xffu, parts.y >> 8u));
    return Eight(
        bitcast<vec4<u32>>(scales.x * vec4<f32>(bytes(a)) - vec4(minima.x)),
        bitcast<vec4<u32>>(scales.y * vec4<f32>(bytes(b)) - vec4(minima.y)),
    );
}
