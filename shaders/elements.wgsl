// One vector per lookup: an invocation makes four outputs that are a workgroup apart, so that the
// invocations side by side load and store side by side. The four lookups and loads do not wait
// for each other; those beyond the end repeat the last.

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
    let last = geometry.row_count - 1u;
    let b = a + WORKGROUP;
    let c = b + WORKGROUP;
    let d = c + WORKGROUP;
    let source_a = look_up(place(a));
    let source_b = look_up(place(min(b, last)));
    let source_c = look_up(place(min(c, last)));
    let source_d = look_up(place(min(d, last)));
    let vector_a = fetch(source_a, 0u);
    let vector_b = fetch(source_b, 0u);
    let vector_c = fetch(source_c, 0u);
    let vector_d = fetch(source_d, 0u);
    if (source_a.mine) {
        output[geometry.output_offset + a] = vector_a;
    }
    if ((b <= last) & source_b.mine) {
        output[geometry.output_offset + b] = vector_b;
    }
    if ((c <= last) & source_c.mine) {
        output[geometry.output_offset + c] = vector_c;
    }
    if ((d <= last) & source_d.mine) {
        output[geometry.output_offset + d] = vector_d;
    }
}
