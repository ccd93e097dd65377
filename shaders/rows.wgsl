// Rows of whole vectors. Neighbouring invocations copy neighbouring vectors, and an invocation resolves the
// index of a row once for all vectors that it copies.
//
// 2^sharers_log2 invocations share a row, and short rows share a workgroup. An invocation has four vectors in
// flight: of one row, or of two rows if these are so short that four vectors of one would leave gaps between
// the stores of neighbours. Rows longer than a workgroup covers are cut into chunks (z). A load past the end
// of a row repeats its last vector, so no load waits for a branch.

const IN_FLIGHT = 4u;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let sharers = 1u << geometry.sharers_log2;
    let rows = WORKGROUP >> geometry.sharers_log2;
    let row = ((workgroup_number(workgroup) * rows) << geometry.paired)
        + (invocation >> geometry.sharers_log2);
    if (row >= geometry.row_count) {
        return;
    }
    let last = geometry.row_length - 1u;
    let at = place(row);
    var source = look_up(at);
    let to = geometry.output_offset + row * geometry.row_length;
    // The third and fourth vector: further on in this row, or in another.
    var other_at = at;
    var other = source;
    var other_to = to;
    var ahead = select(2u * sharers, geometry.row_length, geometry.paired != 0u);
    let next = row + rows * geometry.paired;
    if ((next != row) & (next < geometry.row_count)) {
        other_at = place(next);
        other = look_up(other_at);
        other_to += rows * geometry.row_length;
        ahead = 0u;
    }
    if (wraps()) {
        source = wrapped(at, source);
        other = wrapped(other_at, other);
    }
    let span = sharers * IN_FLIGHT;
    let first = workgroup.z * span + (invocation & (sharers - 1u));
    for (var a = first; a <= last; a += geometry.chunks * span) {
        let b = a + sharers;
        let c = a + ahead;
        let d = c + sharers;
        let fetched_a = fetch(source, a);
        let fetched_b = fetch(source, min(b, last));
        let fetched_c = fetch(other, min(c, last));
        let fetched_d = fetch(other, min(d, last));
        let vector_a = or_fill_vector(fetched_a, source, a);
        let vector_b = or_fill_vector(fetched_b, source, b);
        let vector_c = or_fill_vector(fetched_c, other, c);
        let vector_d = or_fill_vector(fetched_d, other, d);
        if (source.mine) {
            output[to + a] = vector_a;
        }
        if ((b <= last) & source.mine) {
            output[to + b] = vector_b;
        }
        if ((c <= last) & other.mine) {
            output[other_to + c] = vector_c;
        }
        if ((d <= last) & other.mine) {
            output[other_to + d] = vector_d;
        }
    }
    raise_flag(source.valid & other.valid);
}
