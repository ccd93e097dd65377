// As bytes.wgsl, for rows of at least 16 bytes and outputs that are whole vectors of 16 bytes: an
// invocation owns four words, which hold bytes of at most two rows. The row number is taken apart
// and the indices resolved once for all four, five loads fill them, one store writes them.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let vector = workgroup_number(workgroup) * WORKGROUP + invocation;
    let first = vector * 16u;
    if (first >= geometry.row_count * geometry.row_length) {
        return;
    }
    let row = divide(first, geometry.row_divisor);
    let column = first - row * geometry.row_length;
    let left = geometry.row_length - column; // bytes of this row from here on
    var words = load_vector(look_up(place(row)), column);
    if (left < 16u) { // the next row is there, as the output is whole vectors
        let next = load_vector(look_up(place(row + 1u)), 0u - left);
        let mask = vec4(
            byte_mask(left),
            byte_mask(max(left, 4u) - 4u),
            byte_mask(max(left, 8u) - 8u),
            byte_mask(max(left, 12u) - 12u),
        );
        words = (words & mask) | (next & ~mask);
    }
    output[(geometry.output_offset >> 4u) + vector] = words;
}

// 16 bytes of a row from byte `column` on, which may lie before the row. What lies beside the row
// is not read: words of the row are, in its place.
fn load_vector(source: Source, column: u32) -> vec4<u32> {
    let start = select(0u, source.params, source.valid);
    let low = i32(start >> 2u);
    let high = i32((start + select(0u, geometry.row_length - 1u, source.valid)) >> 2u);
    let byte = start + column; // below zero, if before the binding
    let word = i32(byte) >> 2u;
    let a = load(source.segment, u32(clamp(word, low, high)));
    let b = load(source.segment, u32(clamp(word + 1, low, high)));
    let c = load(source.segment, u32(clamp(word + 2, low, high)));
    let d = load(source.segment, u32(clamp(word + 3, low, high)));
    let e = load(source.segment, u32(clamp(word + 4, low, high)));
    let words = vec4(funnel(a, b, byte), funnel(b, c, byte), funnel(c, d, byte), funnel(d, e, byte));
    return select(vec4(fill_bytes(column)), words, source.valid);
}
