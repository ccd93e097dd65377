// The destination holds the sum of a key that goes on in the next pass.

fn resumed(sum: vec4<u32>, free: u32) -> vec4<u32> {
    return sum;
}

fn held(sum: vec4<u32>, free: u32, open: bool) -> bool {
    return false;
}
