alias Out = vec4<u32>;

fn store_four(first: u32, a: Vector, b: Vector, c: Vector, d: Vector) {
    output[first >> 2u] = vec4(a, b, c, d);
}
