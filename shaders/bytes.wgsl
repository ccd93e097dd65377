// Rows of at least four bytes that are not whole words or do not start at one: an access is a byte.
// An invocation owns one output word, so no two write to the same word and no atomics are needed. The word
// holds bytes of at most two rows; each part is loaded as two words of params and a funnel shift.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let total = geometry.row_count * geometry.row_length;
    let skipped = geometry.output_offset & 3u; // bytes of the first word before the output
    let word = workgroup_number(workgroup) * WORKGROUP + invocation;
    // This word holds output bytes first..end, starting at byte `slot` of the word.
    let slot = select(0u, skipped, word == 0u);
    let first = word * 4u + slot - skipped;
    let end = min(word * 4u + 4u - skipped, total);
    if (first >= end) {
        return;
    }
    let row = divide(first, geometry.row_divisor);
    let column = first - row * geometry.row_length;
    let taken = byte_mask(geometry.row_length - column);
    let at = place(row);
    var source = look_up(at);
    var next_at = at;
    var next = source;
    let ends = column + 4u > geometry.row_length;
    if (ends) {
        next_at = walk(at, row + 1u);
        next = look_up(next_at);
    }
    if (wraps()) {
        source = wrapped(at, source);
        next = wrapped(next_at, next);
    }
    var bytes = load_bytes(source, column) & taken;
    var mine = select(0u, taken, source.mine);
    if (ends) {
        bytes |= load_bytes(next, 0u) << (8u * (geometry.row_length - column));
        mine |= select(0u, ~taken, next.mine);
    }
    let mask = (byte_mask(end - first) & mine) << (8u * slot);
    store_masked((geometry.output_offset >> 2u) + word, bytes << (8u * slot), mask);
    raise_flag(source.valid & next.valid);
}

// Four bytes of a row, starting at byte `column`. Reads nothing beyond the row.
fn load_bytes(source: Source, column: u32) -> u32 {
    let byte = select(0u, source.params + column, is_read(source));
    let last = select(0u, source.params + geometry.row_length - 1u, is_read(source));
    let low = load(source.segment, byte >> 2u);
    let high = load(source.segment, min((byte >> 2u) + 1u, last >> 2u));
    return or_fill(funnel(low, high, byte), source, column);
}
