// Codes and scales in separate arrays: the block of an element, and the codes of four elements.

const PAIR_LOG2 = 0u;

fn block_of(e: u32) -> u32 {
    var block = e >> table.block_log2;
    if (option(ODD_BLOCKS)) {
        let line = divide(e, table.inner_divisor);
        let column = e - line * table.inner;
        let outer = divide(line, table.extent_divisor);
        let within = line - outer * table.extent;
        block = (outer * table.along + divide(within, table.block_divisor)) * table.inner + column;
    }
    return block;
}

// Unpacks four codes, lowest bits first.
fn four_codes(e: u32) -> u32 {
    let position = table.lead + e;
    let per_byte_log2 = 3u - table.bits_log2;
    let at = table.codes_offset + (position >> per_byte_log2);
    return four_bytes(at) >> ((position & ((1u << per_byte_log2) - 1u)) << table.bits_log2);
}

fn scale_byte(at: u32) -> u32 {
    return (scales[at >> 2u] >> (8u * (at & 3u))) & 0xffu;
}
