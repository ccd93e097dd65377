// Rows of whole fours of elements, each of which starts at a multiple of four in the table, in the window
// and in the output. Invocations share rows as in rows.wgsl; each has four fours under way.

alias Out = vec2<u32>;

const IN_FLIGHT = 4u;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let sharers = 1u << geometry.sharers_log2;
    let rows = WORKGROUP >> geometry.sharers_log2;
    let row = workgroup_number(workgroup) * rows + (invocation >> geometry.sharers_log2);
    if (row >= geometry.row_count) {
        return;
    }
    let at = place(row);
    var source = look_up(at);
    if (wraps()) {
        source = wrapped(at, source);
    }
    let last = geometry.row_length - 1u;
    let to = geometry.output_offset + row * geometry.row_length;
    let span = sharers * IN_FLIGHT;
    let first = workgroup.z * span + (invocation & (sharers - 1u));
    for (var a = first; a <= last; a += geometry.chunks * span) {
        let four_a = decoded(source, a, last);
        let four_b = decoded(source, a + sharers, last);
        let four_c = decoded(source, a + 2u * sharers, last);
        let four_d = decoded(source, a + 3u * sharers, last);
        // One branch, behind all loads: in branches of their own, they would wait for each other.
        if (!option(HALVES)) {
            store_words(to + a, four_a, source.valid);
            store_words(to + a + sharers, four_b, source.valid);
            store_words(to + a + 2u * sharers, four_c, source.valid);
            store_words(to + a + 3u * sharers, four_d, source.valid);
        } else {
            store_halves(to + a, four_a, source.valid);
            store_halves(to + a + sharers, four_b, source.valid);
            store_halves(to + a + 2u * sharers, four_c, source.valid);
            store_halves(to + a + 3u * sharers, four_d, source.valid);
        }
    }
    raise_flag(source.valid);
}

// Four elements as f32.
struct Four {
    words: vec4<u32>,
    stored: bool,
}

// Four number `n` of a row, which has no more than up to `last`.
fn decoded(source: Source, n: u32, last: u32) -> Four {
    let spot = find_spot(source, 4u * min(n, last));
    return Four(decode_four(spot.element, spot.element), spot.stored & (n <= last));
}

// Store four number `at` of the output, or what a bad index leaves there.
fn store_halves(at: u32, four: Four, valid: bool) {
    let halves = rounded(four.words);
    let words = select(geometry.fill[0].xy, halves.xz | (halves.yw << vec2(16u)), valid);
    if (four.stored) {
        output[at] = words;
    }
}

fn store_words(at: u32, four: Four, valid: bool) {
    let words = select(geometry.fill[0], four.words, valid);
    if (four.stored) {
        output[2u * at] = words.xy;
        output[2u * at + 1u] = words.zw;
    }
}
