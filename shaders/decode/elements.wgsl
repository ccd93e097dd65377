// Elements of any rows: an invocation owns an output word, which is one element or two halves, and looks
// each of them up.

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let per_word = select(1u, 2u, option(HALVES));
    let total = geometry.row_count * geometry.row_length;
    let skipped = geometry.output_offset % per_word; // 1: the first half is not ours
    let word = workgroup_number(workgroup) * WORKGROUP + invocation;
    if (word * per_word >= total + skipped) {
        return;
    }
    // What is not the output's, before its first and behind its last, repeats it.
    let first = word * per_word - skipped;
    let a = decoded(select(first, 0u, word == 0u));
    var bits = a.bits;
    var mask = 0u;
    if (a.stored) {
        mask = 0xffffffffu;
    }
    var valid = a.valid;
    if (per_word == 2u) {
        let b = decoded(min(first + 1u, total - 1u));
        let is_first = (word > 0u) | (skipped == 0u);
        bits = (a.bits & 0xffffu) | (b.bits << 16u);
        mask = select(0u, 0xffffu, a.stored & is_first)
            | select(0u, 0xffff0000u, b.stored & (first + 1u < total));
        valid = valid & b.valid;
    }
    store_masked(geometry.output_offset / per_word + word, bits, mask);
    raise_flag(valid);
}

// An element as the output has it.
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
    let four = decode_four(spot.element & 0xfffffffcu, spot.element);
    let two = select(four.xy, four.zw, (spot.element & 2u) != 0u);
    var bits = select(two.x, two.y, (spot.element & 1u) != 0u);
    if (option(HALVES)) {
        bits = rounded(vec4(bits)).x;
    }
    return One(select(geometry.fill[0].x, bits, source.valid), spot.stored, source.valid);
}
