// Elements of one or two words whose lookups run on: an invocation makes four neighbouring
// outputs, which lie within one run of the innermost loop and start at a multiple of 16 bytes.
// The row number is taken apart once, and the stores are 16 bytes wide.

const PER_INVOCATION = 4u;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let first = (workgroup_number(workgroup) * WORKGROUP + invocation) * PER_INVOCATION;
    if (first >= geometry.row_count) { // a multiple of four
        return;
    }
    let at = place(first);
    let a = look_up(at);
    let b = look_up(advance(at, 1u));
    let c = look_up(advance(at, 2u));
    let d = look_up(advance(at, 3u));
    let to = geometry.output_offset + first;
    let vector_a = fetch(a, 0u);
    let vector_b = fetch(b, 0u);
    let vector_c = fetch(c, 0u);
    let vector_d = fetch(d, 0u);
    store_four(
        to,
        or_fill_vector(vector_a, a, 0u),
        or_fill_vector(vector_b, b, 0u),
        or_fill_vector(vector_c, c, 0u),
        or_fill_vector(vector_d, d, 0u),
    );
}

// The place so many steps of the innermost loop on.
fn advance(at: Place, steps: u32) -> Place {
    var next = at;
    step(geometry.loops[LOOPS - 1u], steps, &next);
    return next;
}
