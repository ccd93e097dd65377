// Codes and scales apart: which block an element is in, and the codes of four.

fn block_of(e: u32) -> u32 {
    let line = divide(e, table.inner_divisor);
    let column = e - line * table.inner;
    let outer = divide(line, table.extent_divisor);
    let within = line - outer * table.extent;
    return (outer * table.along + divide(within, table.block_divisor)) * table.inner + column;
}

// The blocks of four neighbours.
fn blocks_of_four(e: u32) -> vec4<u32> {
    var found = vec4(block_of(e));
    if (table.one_scale == 0u) {
        let last = table.count - 1u;
        found.y = block_of(min(e + 1u, last));
        found.z = block_of(min(e + 2u, last));
        found.w = block_of(min(e + 3u, last));
    }
    return found;
}

// Four codes, each in the upper bits of a word.
fn codes_of_four(e: u32) -> vec4<u32> {
    let position = table.lead + e;
    let per_byte_log2 = 3u - table.bits_log2;
    let at = table.codes_offset + (position >> per_byte_log2);
    let shift = (position & ((1u << per_byte_log2) - 1u)) << table.bits_log2;
    let shifts = vec4(0u, 1u, 2u, 3u) << vec4(table.bits_log2);
    let left = vec4(32u - (1u << table.bits_log2));
    return (vec4(four_bytes(at) >> shift) >> shifts) << left;
}

fn scale_byte(at: u32) -> u32 {
    return (scales[at >> 2u] >> (8u * (at & 3u))) & 0xffu;
}
