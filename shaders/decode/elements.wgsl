// Decodes rows of any length: an invocation owns one output word, which is one f32 or two 16-bit floats, and
// looks each of them up.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let per_word = select(1u, 2u, option(HALVES));
    let total = geometry.row_count * geometry.row_length;
    let skipped = geometry.output_offset & (per_word - 1u); // 1: the first half of the word precedes the output
    let word = workgroup_number(workgroup) * WORKGROUP + invocation;
    if (word * per_word >= total + skipped) {
        return;
    }
    // Halves before the start of the output and past its end repeat the first or the last element.
    let first = word * per_word - skipped;
    let a = decoded(select(first, 0u, word == 0u));
    var bits = a.bits;
    var mask = 0u;
    if (a.stored) {
        mask = 0xffffffffu;
    }
    var valid = a.valid;
    if (option(HALVES)) {
        let b = decoded(min(first + 1u, total - 1u));
        let is_first = (word > 0u) | (skipped == 0u);
        bits = (a.bits & 0xffffu) | (b.bits << 16u);
        mask = select(0u, 0xffffu, a.stored & is_first)
            | select(0u, 0xffff0000u, b.stored & (first + 1u < total));
        valid = valid & b.valid;
    }
    let words = select(geometry.output_offset, geometry.output_offset >> 1u, option(HALVES));
    store_masked(words + word, bits, mask);
    raise_flag(valid);
}

// Loads codes at any byte; only the first is used (of 16-bit elements, the first two bytes).
fn codes_at(at: u32) -> u32 {
    return params[at >> 2u] >> (8u * (at & 3u));
}

fn codes_from(at: u32) -> u32 {
    return codes_at(at);
}

// Four bytes after the end of a row of any length.
fn row_word(at: u32) -> u32 {
    return four_bytes(at);
}

// Decodes an element to the type of the output.
struct One {
    bits: u32,
    stored: bool,
    valid: bool,
}

fn decoded(n: u32) -> One {
    let row = divide(n, geometry.row_divisor);
    let at = place(row);
    var source = look_up(at);
    if (wraps()) {
        source = wrapped(at, source);
    }
    let spot = find_spot(source, n - row * geometry.row_length);
    // The first element of its group of four, or of the group that is paired with another.
    let pair = (1u << PAIR_LOG2) & 0xfffffffcu;
    let raw = load_pair(spot.element & ~pair, spot.element | pair);
    let eight = decode(raw, is_plain(raw));
    var bits = select(eight.a.x, eight.b.x, (spot.element & pair) != 0u);
    if (option(HALVES)) {
        bits = rounded(vec4(bits)).x & 0xffffu;
    }
    return One(select(geometry.fill[0].x, bits, source.valid), spot.stored, source.valid);
}
