// bytes.wgsl for rows of at least 16 bytes: an invocation owns four words, with bytes of at most two rows.
// It divides the row number and resolves the index once for all four words, and fills them with five loads.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let total = geometry.row_count * geometry.row_length;
    let skipped = geometry.output_offset & 3u; // bytes of the first word before the output
    let vector = workgroup_number(workgroup) * WORKGROUP + invocation;
    if (vector * 16u >= total + skipped) {
        return;
    }
    // These words hold output bytes from byte `slot` to byte `end` of the 16.
    let slot = select(0u, skipped, vector == 0u);
    let end = total + skipped - vector * 16u;
    let first = vector * 16u + slot - skipped;
    let row = divide(first, geometry.row_divisor);
    let column = first - slot - row * geometry.row_length; // negative if bytes are skipped
    let left = geometry.row_length - column; // bytes up to the end of this row
    let at = place(row);
    var source = look_up(at);
    var next_at = at;
    var next = source;
    let ends = left < min(16u, end);
    if (ends) {
        next_at = walk(at, row + 1u);
        next = look_up(next_at);
    }
    if (wraps()) {
        source = wrapped(at, source);
        next = wrapped(next_at, next);
    }
    var words = load_vector(source, column);
    if (ends) {
        let taken = byte_masks(left);
        words = (words & taken) | (load_vector(next, 0u - left) & ~taken);
    }
    let mine = Mine(slot, end, left, source.mine, next.mine);
    store_vector((geometry.output_offset >> 2u) + vector * 4u, words, mine);
    raise_flag(source.valid & next.valid);
}

// Mask of the bytes that this pass writes: slot..end, without the bytes before `left` if the first row belongs
// to another pass, or those from `left` on if the second does.
struct Mine {
    slot: u32,
    end: u32,
    left: u32,
    row: bool,
    next: bool,
}

// Mask of the lowest `count` bytes of four words.
fn byte_masks(count: u32) -> vec4<u32> {
    return vec4(
        byte_mask(count),
        byte_mask(max(count, 4u) - 4u),
        byte_mask(max(count, 8u) - 8u),
        byte_mask(max(count, 12u) - 12u),
    );
}

// 16 bytes of a row, starting at byte `column`, which may be negative. Words outside the row are not read;
// a word of the row is loaded instead.
fn load_vector(source: Source, column: u32) -> vec4<u32> {
    let start = select(0u, source.params, is_read(source));
    let low = i32(start >> 2u);
    let high = i32((start + select(0u, geometry.row_length - 1u, is_read(source))) >> 2u);
    let byte = start + column; // negative if before the binding
    let word = i32(byte) >> 2u;
    let a = load(source.segment, u32(clamp(word, low, high)));
    let b = load(source.segment, u32(clamp(word + 1, low, high)));
    let c = load(source.segment, u32(clamp(word + 2, low, high)));
    let d = load(source.segment, u32(clamp(word + 3, low, high)));
    let e = load(source.segment, u32(clamp(word + 4, low, high)));
    let low_words = vec4(a, b, c, d);
    let high_words = vec4(b, c, d, e);
    let shift = 8u * (byte & 3u);
    let words = (low_words >> vec4(shift)) | ((high_words << vec4(1u)) << vec4(31u - shift));
    let fill = vec4(
        fill_bytes(column),
        fill_bytes(column + 4u),
        fill_bytes(column + 8u),
        fill_bytes(column + 12u),
    );
    return select(fill, words, source.valid);
}
