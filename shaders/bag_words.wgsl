// Pooled lookups of rows of whole words: an invocation folds one vector of columns of a bag.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let n = workgroup_number(workgroup) * WORKGROUP + invocation;
    if (n >= geometry.row_count * geometry.row_length) {
        return;
    }
    let number = divide(n, geometry.row_divisor);
    let fold = fold_bag(number, n - number * geometry.row_length);
    if (pools(PARTIAL)) {
        leave(n, fold);
    } else {
        output[geometry.output_offset + n] = vector_of(words_of_fold(fold));
    }
}

// One vector of a row.
fn fetch_row(source: Source, column: u32) -> Vector {
    return fetch(source, 0u);
}

// Its words, or those of the fill value for a bad index.
fn row_words(vector: Vector, source: Source, column: u32) -> vec4<u32> {
    return words_of(or_fill_vector(vector, source, column));
}
