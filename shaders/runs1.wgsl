alias Out = vec4<u32>;

fn store_four(first: u32, a: Lane, b: Lane, c: Lane, d: Lane) {
    output[first >> 2u] = vec4(a, b, c, d);
}
