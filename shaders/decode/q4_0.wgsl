fn of_nibbles(codes: u32, scale: f32) -> vec4<u32> {
    return bitcast<vec4<u32>>(scale * (vec4<f32>(bytes(codes)) - vec4(8.0)));
}
