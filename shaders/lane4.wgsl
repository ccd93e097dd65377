alias Lane = vec4<u32>;

fn fill_lane(n: u32) -> Lane {
    return geometry.fill[n];
}
