// Codes and scales apart: the block of an element, and the codes of four.

fn block_of(e: u32) -> u32 {
    let line = divide(e, table.inner_divisor);
    let column = e - line * table.inner;
    let outer = divide(line, table.extent_divisor);
    let within = line - outer * table.extent;
    return (outer * table.along + divide(within, table.block_divisor)) * table.inner + column;
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
