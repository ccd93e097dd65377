// Rows of less than a word: single elements of 1 or 2 bytes, and rows of 3 bytes. An invocation
// owns an output word and looks each of its accesses up: four or two lookups that do not wait for
// each other.

override ACCESS_BYTES: u32 = 1u; // bytes of an access

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let per_word = 4u / ACCESS_BYTES;
    let total = geometry.row_count * geometry.row_length;
    let skipped = geometry.output_offset % per_word; // those of the first word that are not ours
    let word = workgroup_number(workgroup) * WORKGROUP + invocation;
    if (word * per_word >= total + skipped) {
        return;
    }
    // Where an access is not the output's, its number is below 0, so beyond `total`, or beyond it.
    let first = word * per_word - skipped;
    let a = load_subword(min(first, total - 1u));
    let b = load_subword(min(first + 1u, total - 1u));
    var bytes = a.bytes | (b.bytes << (8u * ACCESS_BYTES));
    var mine = mask_of(a, 0u) | mask_of(b, 1u);
    if (ACCESS_BYTES == 1u) {
        let c = load_subword(min(first + 2u, total - 1u));
        let d = load_subword(min(first + 3u, total - 1u));
        bytes |= (c.bytes << 16u) | (d.bytes << 24u);
        mine |= mask_of(c, 2u) | mask_of(d, 3u);
    }
    let start = select(0u, skipped, word == 0u);
    let end = min(per_word, total + skipped - word * per_word);
    let mask = byte_mask(end * ACCESS_BYTES) & ~byte_mask(start * ACCESS_BYTES) & mine;
    store_masked(geometry.output_offset / per_word + word, bytes, mask);
}

struct Subword {
    bytes: u32,
    mine: bool, // whether this pass writes it
}

// Access number `n` of the output.
fn load_subword(n: u32) -> Subword {
    let row = divide(n, geometry.row_divisor);
    let column = n - row * geometry.row_length;
    let source = look_up(place(row));
    let byte = select(0u, (source.params + column) * ACCESS_BYTES, is_read(source));
    let word = load(source.segment, byte >> 2u) >> (8u * (byte & 3u));
    let bytes = or_fill(word, source, column * ACCESS_BYTES) & byte_mask(ACCESS_BYTES);
    return Subword(bytes, source.mine);
}

// The bytes of the word that access `n` of it is, if this pass writes it.
fn mask_of(part: Subword, n: u32) -> u32 {
    return select(0u, byte_mask(ACCESS_BYTES) << (8u * ACCESS_BYTES * n), part.mine);
}
