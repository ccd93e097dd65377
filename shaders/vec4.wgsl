alias Vector = vec4<u32>;

fn fill_vector(n: u32) -> Vector {
    return geometry.fill[n];
}
