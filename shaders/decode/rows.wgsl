// Rows of whole fours of elements, each of which starts at a multiple of four in the table, in the window
// and in the output. Invocations share rows as in rows.wgsl; each has four fours under way.

alias Out = vec2<u32>;

override TO_HALVES: bool = false; // the output is f16 or bf16

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
        let b = a + sharers;
        let c = b + sharers;
        let d = c + sharers;
        let four_a = decoded(source, a);
        let four_b = decoded(source, min(b, last));
        let four_c = decoded(source, min(c, last));
        let four_d = decoded(source, min(d, last));
        store(to + a, four_a);
        if (b <= last) {
            store(to + b, four_b);
        }
        if (c <= last) {
            store(to + c, four_c);
        }
        if (d <= last) {
            store(to + d, four_d);
        }
    }
    raise_flag(source.valid);
}

// Four elements as the output has them.
struct Four {
    words: vec4<u32>, // the first two, if it has halves
    stored: bool,
}

fn decoded(source: Source, n: u32) -> Four {
    let spot = find_spot(source, 4u * n);
    var words = decode_four(spot.element, spot.element);
    if (TO_HALVES) {
        let halves = rounded(words);
        words = vec4(halves.xz | (halves.yw << vec2(16u)), 0u, 0u);
    }
    words = select(geometry.fill[0], words, source.valid);
    return Four(words, spot.stored);
}

// Stores four number `at` of the output.
fn store(at: u32, four: Four) {
    if (four.stored) {
        if (TO_HALVES) {
            output[at] = four.words.xy;
        } else {
            output[2u * at] = four.words.xy;
            output[2u * at + 1u] = four.words.zw;
        }
    }
}
