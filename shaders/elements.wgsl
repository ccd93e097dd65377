// One vector per lookup. An invocation makes four outputs, a workgroup apart, so that neighbouring invocations
// load and store neighbouring vectors. Its four lookups are in flight together; those past the end repeat the
// last one.

const PER_INVOCATION = 4u;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let a = workgroup_number(workgroup) * WORKGROUP * PER_INVOCATION + invocation;
    if (a >= geometry.row_count) {
        return;
    }
    let b = a + WORKGROUP;
    let c = b + WORKGROUP;
    let d = c + WORKGROUP;
    let at_a = place(a);
    let at_b = walk(at_a, b);
    let at_c = walk(at_b, c);
    let at_d = walk(at_c, d);
    var source_a = look_up(at_a);
    var source_b = look_up(at_b);
    var source_c = look_up(at_c);
    var source_d = look_up(at_d);
    if (wraps()) {
        source_a = wrapped(at_a, source_a);
        source_b = wrapped(at_b, source_b);
        source_c = wrapped(at_c, source_c);
        source_d = wrapped(at_d, source_d);
    }
    let fetched_a = fetch(source_a, 0u);
    let fetched_b = fetch(source_b, 0u);
    let fetched_c = fetch(source_c, 0u);
    let fetched_d = fetch(source_d, 0u);
    let vector_a = or_fill_vector(fetched_a, source_a, 0u);
    let vector_b = or_fill_vector(fetched_b, source_b, 0u);
    let vector_c = or_fill_vector(fetched_c, source_c, 0u);
    let vector_d = or_fill_vector(fetched_d, source_d, 0u);
    if (source_a.mine) {
        output[geometry.output_offset + a] = vector_a;
    }
    if ((b < geometry.row_count) & source_b.mine) {
        output[geometry.output_offset + b] = vector_b;
    }
    if ((c < geometry.row_count) & source_c.mine) {
        output[geometry.output_offset + c] = vector_c;
    }
    if ((d < geometry.row_count) & source_d.mine) {
        output[geometry.output_offset + d] = vector_d;
    }
    raise_flag(source_a.valid & source_b.valid & source_c.valid & source_d.valid);
}
