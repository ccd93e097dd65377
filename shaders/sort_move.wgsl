@group(0) @binding(3) var<storage, read_write> sorted: array<vec2<u32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let tile = number(workgroup, invocation);
    let ended = in_order(starts[sort.order]);
    if ((tile < sort.tiles) & (!ended | (sort.copies != 0u))) {
        let end = min(tile * TILE + TILE, sort.count);
        var before = vec4(0u); // pairs of the tile with each digit
        for (var n = tile * TILE; n < end; n++) {
            let pair = pairs[n];
            let digit = digit_of(pair);
            let to = starts[digit * sort.tiles + tile] + count_of(before, digit);
            sorted[select(to, n, ended)] = pair;
            before += one(digit);
        }
    }
}
