// Pooled lookups of rows that are not whole, aligned words. An invocation owns one output word and folds its
// elements one after another; they may belong to two bags.

override ACCESS_BYTES: u32 = 1u; // bytes of an element

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let per_word = 4u / ACCESS_BYTES;
    let skipped = geometry.output_offset % per_word; // elements of the first word before the output
    let total = skipped + geometry.row_count * geometry.row_length;
    let word = workgroup_number(workgroup) * WORKGROUP + invocation;
    let end = min((word + 1u) * per_word, total);
    var bytes = 0u;
    var mine = 0u;
    for (var n = max(word * per_word, skipped); n < end; n++) {
        let element = n - skipped;
        let number = divide(element, geometry.row_divisor);
        let fold = fold_bag(number, element - number * geometry.row_length);
        let shift = 8u * ACCESS_BYTES * (n % per_word);
        if (pools(PARTIAL)) {
            leave(element, fold);
        } else {
            bytes |= (words_of_fold(fold).x & byte_mask(ACCESS_BYTES)) << shift;
            mine |= byte_mask(ACCESS_BYTES) << shift;
        }
    }
    if (mine != 0u) {
        store_masked(geometry.output_offset / per_word + word, bytes, mine);
    }
}

// The word with one element of a row.
fn fetch_row(source: Source, column: u32) -> Vector {
    return load(source.segment, byte_of(source) >> 2u);
}

fn byte_of(source: Source) -> u32 {
    return select(0u, source.params * ACCESS_BYTES, is_read(source));
}

// That element, or the fill value for a bad index.
fn row_words(word: Vector, source: Source, column: u32) -> vec4<u32> {
    let shifted = word >> (8u * (byte_of(source) & 3u));
    let element = or_fill(shifted, source, column * ACCESS_BYTES) & byte_mask(ACCESS_BYTES);
    return vec4(element, 0u, 0u, 0u);
}
