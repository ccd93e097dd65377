// Rows of less than a word: single elements of 1 or 2 bytes, and rows of 3 bytes. An invocation owns one output
// word and looks each of its accesses up: two or four lookups that are in flight together.

override ACCESS_BYTES: u32 = 1u; // bytes of an access

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let per_word = 4u / ACCESS_BYTES;
    let total = geometry.row_count * geometry.row_length;
    let skipped = geometry.output_offset % per_word; // accesses of the first word before the output
    let word = workgroup_number(workgroup) * WORKGROUP + invocation;
    if (word * per_word >= total + skipped) {
        return;
    }
    // Accesses before the start of the output and past its end repeat the first or the last one.
    let first = word * per_word - skipped;
    let a = start_at(select(first, 0u, word == 0u));
    let b = next(a, first + 1u);
    var c = b;
    var d = b;
    var source_a = look_up(a.at);
    var source_b = look_up(b.at);
    var source_c = source_b;
    var source_d = source_b;
    if (ACCESS_BYTES == 1u) {
        c = next(b, first + 2u);
        d = next(c, first + 3u);
        source_c = look_up(c.at);
        source_d = look_up(d.at);
    }
    if (wraps()) {
        source_a = wrapped(a.at, source_a);
        source_b = wrapped(b.at, source_b);
        source_c = wrapped(c.at, source_c);
        source_d = wrapped(d.at, source_d);
    }
    let word_a = fetch_word(source_a, a.column);
    let word_b = fetch_word(source_b, b.column);
    var bytes = 0u;
    var mine = mask_of(source_a, 0u) | mask_of(source_b, 1u);
    if (ACCESS_BYTES == 1u) {
        let word_c = fetch_word(source_c, c.column);
        let word_d = fetch_word(source_d, d.column);
        bytes = (or_fill_subword(word_c, source_c, c.column) << 16u)
            | (or_fill_subword(word_d, source_d, d.column) << 24u);
        mine |= mask_of(source_c, 2u) | mask_of(source_d, 3u);
    }
    bytes |= or_fill_subword(word_a, source_a, a.column)
        | (or_fill_subword(word_b, source_b, b.column) << (8u * ACCESS_BYTES));
    let start = select(0u, skipped, word == 0u);
    let end = min(per_word, total + skipped - word * per_word);
    let mask = byte_mask(end * ACCESS_BYTES) & ~byte_mask(start * ACCESS_BYTES) & mine;
    store_masked(geometry.output_offset / per_word + word, bytes, mask);
    raise_flag(source_a.valid & source_b.valid & source_c.valid & source_d.valid);
}

struct Cell {
    at: Place,
    row: u32,
    column: u32,
}

// Access `n` of the output.
fn start_at(n: u32) -> Cell {
    let row = divide(n, geometry.row_divisor);
    return Cell(place(row), row, n - row * geometry.row_length);
}

// Access `n` of the output, the successor of `cell`; `cell` itself if `n` is out of range or the first.
fn next(cell: Cell, n: u32) -> Cell {
    let further = n - 1u < geometry.row_count * geometry.row_length - 1u;
    let column = cell.column + select(0u, 1u, further);
    let ends = column == geometry.row_length;
    let row = cell.row + select(0u, 1u, ends);
    return Cell(walk(cell.at, select(0xffffffffu, row, ends)), row, select(column, 0u, ends));
}

// Loads the word of params that holds the access.
fn fetch_word(source: Source, column: u32) -> u32 {
    return load(source.segment, first_byte(source, column) >> 2u);
}

fn first_byte(source: Source, column: u32) -> u32 {
    return select(0u, (source.params + column) * ACCESS_BYTES, is_read(source));
}

// Extracts the access from the fetched word; the fill value for a bad index.
fn or_fill_subword(word: u32, source: Source, column: u32) -> u32 {
    let shifted = word >> (8u * (first_byte(source, column) & 3u));
    return or_fill(shifted, source, column * ACCESS_BYTES) & byte_mask(ACCESS_BYTES);
}

// Mask of the bytes of access `n` of the word; empty if another pass writes it.
fn mask_of(source: Source, n: u32) -> u32 {
    return select(0u, byte_mask(ACCESS_BYTES) << (8u * ACCESS_BYTES * n), source.mine);
}
