// Code shared by the kernels that move bytes.

// Mask of the lowest `count` bytes of a word.
fn byte_mask(count: u32) -> u32 {
    return select((1u << (8u * (count & 3u))) - 1u, 0xffffffffu, count >= 4u);
}

// Funnel shift of two words of params: byte 0 of the result is byte `byte` of `low`.
fn funnel(low: u32, high: u32, byte: u32) -> u32 {
    let shift = 8u * (byte & 3u);
    return (low >> shift) | ((high << 1u) << (31u - shift));
}

fn fill_byte(n: u32) -> u32 {
    let byte = n % geometry.fill_length;
    return (fill_word(byte >> 2u) >> (8u * (byte & 3u))) & 0xffu;
}

// Four bytes of the fill value, for byte `column` of a row. Values of 1 and 2 bytes are the same in every word,
// because a column is the start of an element.
fn fill_bytes(column: u32) -> u32 {
    var bytes = geometry.fill[0].x;
    if (LOOPS == 0u) {
        if (geometry.fill_length > 4u) {
            bytes = fill_byte(column) | (fill_byte(column + 1u) << 8u)
                | (fill_byte(column + 2u) << 16u) | (fill_byte(column + 3u) << 24u);
        }
    }
    return bytes;
}

// `word`, or for a bad index four bytes of the fill value, for byte `column` of a row.
fn or_fill(word: u32, source: Source, column: u32) -> u32 {
    return select(fill_bytes(column), word, source.valid);
}
