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
    // Those that are not the output's, before its first and behind its last, repeat it.
    let first = word * per_word - skipped;
    let a = start_at(select(first, 0u, word == 0u));
    let b = next(a, first + 1u);
    let part_a = load_subword(a);
    let part_b = load_subword(b);
    var bytes = part_a.bytes | (part_b.bytes << (8u * ACCESS_BYTES));
    var mine = mask_of(part_a, 0u) | mask_of(part_b, 1u);
    if (ACCESS_BYTES == 1u) {
        let c = next(b, first + 2u);
        let d = next(c, first + 3u);
        let part_c = load_subword(c);
        let part_d = load_subword(d);
        bytes |= (part_c.bytes << 16u) | (part_d.bytes << 24u);
        mine |= mask_of(part_c, 2u) | mask_of(part_d, 3u);
    }
    let start = select(0u, skipped, word == 0u);
    let end = min(per_word, total + skipped - word * per_word);
    let mask = byte_mask(end * ACCESS_BYTES) & ~byte_mask(start * ACCESS_BYTES) & mine;
    store_masked(geometry.output_offset / per_word + word, bytes, mask);
}

struct Cell {
    at: Place,
    row: u32,
    column: u32,
}

// Access number `n` of the output.
fn start_at(n: u32) -> Cell {
    let row = divide(n, geometry.row_divisor);
    return Cell(place(row), row, n - row * geometry.row_length);
}

// Access number `n` of the output, which comes behind `cell`; `cell` itself, if `n` is no number of one,
// or the first.
fn next(cell: Cell, n: u32) -> Cell {
    let further = n - 1u < geometry.row_count * geometry.row_length - 1u;
    let column = cell.column + select(0u, 1u, further);
    let ends = column == geometry.row_length;
    let row = cell.row + select(0u, 1u, ends);
    return Cell(walk(cell.at, select(0xffffffffu, row, ends)), row, select(column, 0u, ends));
}

struct Subword {
    bytes: u32,
    mine: bool, // whether this pass writes it
}

fn load_subword(cell: Cell) -> Subword {
    let source = look_up(cell.at);
    let column = cell.column;
    let byte = select(0u, (source.params + column) * ACCESS_BYTES, is_read(source));
    let word = load(source.segment, byte >> 2u) >> (8u * (byte & 3u));
    let bytes = or_fill(word, source, column * ACCESS_BYTES) & byte_mask(ACCESS_BYTES);
    return Subword(bytes, source.mine);
}

// The bytes of the word that access `n` of it is, if this pass writes it.
fn mask_of(part: Subword, n: u32) -> u32 {
    return select(0u, byte_mask(ACCESS_BYTES) << (8u * ACCESS_BYTES * n), part.mine);
}
