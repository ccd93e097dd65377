@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let tile = number(workgroup, invocation);
    if (tile < sort.tiles) {
        let end = min(tile * TILE + TILE, sort.count);
        var found = vec4(0u);
        for (var n = tile * TILE; n < end; n++) {
            found += one(digit_of(pairs[n]));
        }
        for (var digit = 0u; digit < DIGITS; digit++) {
            counts[digit * sort.tiles + tile] = count_of(found, digit);
        }
    }
}
