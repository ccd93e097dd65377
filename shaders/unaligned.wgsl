// What the kernels share that move bytes.

// The lowest `count` bytes of a word.
fn byte_mask(count: u32) -> u32 {
    return select((1u << (8u * (count & 3u))) - 1u, 0xffffffffu, count >= 4u);
}

// Two words of params, shifted so that byte 0 of the result is byte `byte` of `low`.
fn funnel(low: u32, high: u32, byte: u32) -> u32 {
    let shift = 8u * (byte & 3u);
    return (low >> shift) | ((high << 1u) << (31u - shift));
}

fn fill_byte(n: u32) -> u32 {
    let byte = n % geometry.fill_length;
    return (fill_word(byte >> 2u) >> (8u * (byte & 3u))) & 0xffu;
}

// `word`, or four bytes of the fill value, from byte `column` of a row on.
fn or_fill(word: u32, source: Source, column: u32) -> u32 {
    var bytes = word;
    if (PLAIN) {
        bytes = select(0u, word, source.valid);
    } else if (!source.valid) {
        bytes = fill_byte(column) | (fill_byte(column + 1u) << 8u)
            | (fill_byte(column + 2u) << 16u) | (fill_byte(column + 3u) << 24u);
    }
    return bytes;
}
