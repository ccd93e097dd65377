// Units of 1 or 2 bytes, packed into words: elements of those sizes, and slices that are not
// whole words or do not start at one. Each output word belongs to one invocation, so nothing is
// written twice and nothing needs an atomic.
//
// A word that lies within one row is two words of params and a funnel shift. One that holds the
// end of a row is put together unit by unit. The first and the last word may hold bytes that are
// not the output's: those keep their value.

override UNIT: u32 = 1u; // bytes

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let per_word = 4u / UNIT;
    let total = geometry.row_count * geometry.row_length;
    let skipped = geometry.output_offset % per_word; // units of the first word that are not ours
    let word = workgroup_number(workgroup) * WORKGROUP + invocation;
    // The units of the output in this word: first..end.
    let first = select(word * per_word - skipped, 0u, word == 0u);
    let end = min(word * per_word + per_word - skipped, total);
    if (first >= end) {
        return;
    }
    let to = geometry.output_offset / per_word + word;
    let row = first / geometry.row_length;
    let column = first - row * geometry.row_length;
    if (end - first == per_word && column + per_word <= geometry.row_length) {
        output[to] = load_word(look_up(place(row)), column);
        return;
    }
    output[to] = assemble(output[to], row, column, (first + skipped) % per_word, end - first);
}

// Four bytes of a row from `column` on.
fn load_word(source: Source, column: u32) -> u32 {
    if (!source.valid) {
        var word = 0u;
        for (var n = 0u; n < 4u / UNIT; n++) {
            word |= fill_unit(column + n) << (8u * UNIT * n);
        }
        return word;
    }
    let byte = (source.params + column) * UNIT;
    let shift = 8u * (byte & 3u);
    let low = params[byte >> 2u] >> shift;
    if (shift == 0u) {
        return low;
    }
    return low | (params[(byte >> 2u) + 1u] << (32u - shift));
}

// `word` with `count` units replaced, from unit `slot` of the word on; they start at `column` of
// `row` and may run into the next rows.
fn assemble(word: u32, row: u32, column: u32, slot: u32, count: u32) -> u32 {
    let unit_mask = (1u << (8u * UNIT)) - 1u;
    var result = word;
    var at_row = row;
    var at_column = column;
    var source = look_up(place(row));
    for (var n = 0u; n < count; n++) {
        let shift = 8u * UNIT * (slot + n);
        result &= ~(unit_mask << shift);
        result |= load_unit(source, at_column) << shift;
        at_column++;
        if (at_column == geometry.row_length && n + 1u < count) {
            at_column = 0u;
            at_row++;
            source = look_up(place(at_row));
        }
    }
    return result;
}

fn load_unit(source: Source, column: u32) -> u32 {
    if (!source.valid) {
        return fill_unit(column);
    }
    let byte = (source.params + column) * UNIT;
    return (params[byte >> 2u] >> (8u * (byte & 3u))) & ((1u << (8u * UNIT)) - 1u);
}

fn fill_unit(column: u32) -> u32 {
    let byte = (column % geometry.fill_length) * UNIT;
    return (fill_word(byte >> 2u) >> (8u * (byte & 3u))) & ((1u << (8u * UNIT)) - 1u);
}
