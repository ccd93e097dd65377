// Rows of less than a word: single elements of 1 or 2 bytes, and rows of 3 bytes. An invocation
// owns an output word and looks each of its units up: four or two lookups that do not wait for
// each other.

override UNIT: u32 = 1u; // bytes of a lane

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let per_word = 4u / UNIT;
    let total = geometry.row_count * geometry.row_length;
    let skipped = geometry.output_offset % per_word; // units of the first word that are not ours
    let word = workgroup_number(workgroup) * WORKGROUP + invocation;
    if (word * per_word >= total + skipped) {
        return;
    }
    // Where a unit is not the output's, its number is below 0, so beyond `total`, or beyond it.
    let first = word * per_word - skipped;
    let a = load_unit(min(first, total - 1u));
    let b = load_unit(min(first + 1u, total - 1u));
    var bytes = a.bytes | (b.bytes << (8u * UNIT));
    var mine = mask_of(a, 0u) | mask_of(b, 1u);
    if (UNIT == 1u) {
        let c = load_unit(min(first + 2u, total - 1u));
        let d = load_unit(min(first + 3u, total - 1u));
        bytes |= (c.bytes << 16u) | (d.bytes << 24u);
        mine |= mask_of(c, 2u) | mask_of(d, 3u);
    }
    let start = select(0u, skipped, word == 0u);
    let end = min(per_word, total + skipped - word * per_word);
    let mask = byte_mask(end * UNIT) & ~byte_mask(start * UNIT) & mine;
    store_bytes(geometry.output_offset / per_word + word, bytes, mask);
}

struct Unit {
    bytes: u32,
    mine: bool, // whether this pass writes it
}

// Unit number `unit` of the output.
fn load_unit(unit: u32) -> Unit {
    let row = divide(unit, geometry.row_divisor);
    let column = unit - row * geometry.row_length;
    let source = look_up(place(row));
    let byte = select(0u, (source.params + column) * UNIT, is_read(source));
    let word = load(source.segment, byte >> 2u) >> (8u * (byte & 3u));
    return Unit(or_fill(word, source, column * UNIT) & byte_mask(UNIT), source.mine);
}

// The bytes of the word that unit `n` of it is, if this pass writes it.
fn mask_of(unit: Unit, n: u32) -> u32 {
    return select(0u, byte_mask(UNIT) << (8u * UNIT * n), unit.mine);
}
