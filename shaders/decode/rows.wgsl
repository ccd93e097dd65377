// Decodes rows of whole groups of four elements, aligned to four elements in the table, the window and the
// output; rows of whole blocks, if the format pairs its groups. Invocations share rows as in rows.wgsl; each
// has two pairs of groups in flight.

alias Out = vec2<u32>;

const IN_FLIGHT = 2u;

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
    // Distance of the two groups of a pair: given by the format, or the number of sharers.
    let apart_log2 = select(max(PAIR_LOG2, 2u) - 2u, geometry.sharers_log2, PAIR_LOG2 == 0u);
    let apart = 1u << apart_log2;
    let last_first = last - select(apart, 0u, PAIR_LOG2 == 0u); // first group of the last pair
    let first = workgroup.z * sharers * IN_FLIGHT + (invocation & (sharers - 1u));
    let pairs = geometry.chunks * sharers * IN_FLIGHT;
    for (var pair = first; pair * 2u <= last + apart; pair += pairs) {
        let a = first_of(pair, apart_log2);
        let b = a + apart;
        let c = first_of(pair + sharers, apart_log2);
        let d = c + apart;
        let spot_a = spot_of(source, a, last_first);
        let spot_c = spot_of(source, c, last_first);
        var spot_b = spot_of(source, b, last);
        var spot_d = spot_of(source, d, last);
        if (PAIR_LOG2 != 0u) { // both groups lie in one block
            spot_b.stored = spot_a.stored;
            spot_d.stored = spot_c.stored;
        }
        let raw_ab = load_pair(spot_a.element, spot_b.element);
        let raw_cd = load_pair(spot_c.element, spot_d.element);
        let plain = is_plain(raw_ab) & is_plain(raw_cd);
        let ab = decode(raw_ab, plain);
        let cd = decode(raw_cd, plain);
        // One branch after all loads: loads in branches of their own would wait for each other.
        if (!option(HALVES)) {
            store_words(to + a, ab.a, spot_a.stored, source.valid);
            store_words(to + b, ab.b, spot_b.stored, source.valid);
            store_words(to + c, cd.a, spot_c.stored, source.valid);
            store_words(to + d, cd.b, spot_d.stored, source.valid);
        } else {
            var halves_ab = vec4<u32>();
            var halves_cd = vec4<u32>();
            if (plain) {
                halves_ab = vec4(rounded_plain(ab.a), rounded_plain(ab.b));
                halves_cd = vec4(rounded_plain(cd.a), rounded_plain(cd.b));
            } else {
                halves_ab = vec4(rounded(ab.a), rounded(ab.b));
                halves_cd = vec4(rounded(cd.a), rounded(cd.b));
            }
            store_halves(to + a, halves_ab.xy, spot_a.stored, source.valid);
            store_halves(to + b, halves_ab.zw, spot_b.stored, source.valid);
            store_halves(to + c, halves_cd.xy, spot_c.stored, source.valid);
            store_halves(to + d, halves_cd.zw, spot_d.stored, source.valid);
        }
    }
    raise_flag(source.valid);
}

// The first group of pair `pair` of a row; the second group is 2^apart_log2 groups further.
fn first_of(pair: u32, apart_log2: u32) -> u32 {
    return pair + ((pair >> apart_log2) << apart_log2);
}

// Group `n` of a row; `last` if the row ends before.
fn spot_of(source: Source, n: u32, last: u32) -> Spot {
    let spot = find_spot(source, 4u * min(n, last));
    return Spot(spot.element, spot.stored & (n <= last));
}

// Four bytes of codes that lie within the window, at a multiple of four bytes from its start: all such loads
// are shifted by the same amount.
fn codes_at(at: u32) -> u32 {
    return funnelled(at, at + 3u, 8u * (table.codes_offset & 3u));
}

// The same, at any byte.
fn codes_from(at: u32) -> u32 {
    return funnelled(at, at + 3u, 8u * (at & 3u));
}

// Four bytes after the end of a row of whole groups.
fn row_word(at: u32) -> u32 {
    return codes_at(at);
}

// Stores group `at` of the output; the fill value for a bad index.
fn store_halves(at: u32, halves: vec2<u32>, stored: bool, valid: bool) {
    if (stored) {
        output[at] = select(geometry.fill[0].xy, halves, valid);
    }
}

fn store_words(at: u32, four: vec4<u32>, stored: bool, valid: bool) {
    let words = select(geometry.fill[0], four, valid);
    if (stored) {
        output[2u * at] = words.xy;
        output[2u * at + 1u] = words.zw;
    }
}
