@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let tile = number(workgroup, invocation);
    if ((tile < sort.tiles) & !in_order(counts[sort.order])) {
        let end = min(tile * TILE + TILE, sort.count);
        var found = vec4(0u);
        var before = pairs[max(tile * TILE, 1u) - 1u].x;
        var falls = 0u; // whether a key is less than the one before
        for (var n = tile * TILE; n < end; n++) {
            let pair = pairs[n];
            found += one(digit_of(pair));
            falls |= select(0u, 1u, pair.x < before);
            before = pair.x;
        }
        for (var digit = 0u; digit < DIGITS; digit++) {
            counts[digit * sort.tiles + tile] = count_of(found, digit);
        }
        counts[DIGITS * sort.tiles + tile] = falls;
    }
}
