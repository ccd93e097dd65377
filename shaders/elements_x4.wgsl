// One-word elements in long innermost loops: an invocation makes four neighbouring outputs of one run of that
// loop, aligned to 16 bytes. It divides the row number once and writes all four with one store.

alias Out = vec4<u32>;

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
    let at_a = place(first);
    let at_b = advance(at_a, 1u);
    let at_c = advance(at_a, 2u);
    let at_d = advance(at_a, 3u);
    var a = look_up(at_a);
    var b = look_up(at_b);
    var c = look_up(at_c);
    var d = look_up(at_d);
    if (wraps()) {
        a = wrapped(at_a, a);
        b = wrapped(at_b, b);
        c = wrapped(at_c, c);
        d = wrapped(at_d, d);
    }
    let vector_a = fetch(a, 0u);
    let vector_b = fetch(b, 0u);
    let vector_c = fetch(c, 0u);
    let vector_d = fetch(d, 0u);
    output[(geometry.output_offset + first) >> 2u] = vec4(
        or_fill_vector(vector_a, a, 0u),
        or_fill_vector(vector_b, b, 0u),
        or_fill_vector(vector_c, c, 0u),
        or_fill_vector(vector_d, d, 0u),
    );
    raise_flag(a.valid & b.valid & c.valid & d.valid);
}

// The place after `steps` more steps of the innermost loop.
fn advance(at: Place, steps: u32) -> Place {
    var next = at;
    step(geometry.loops[LOOPS - 1u], steps, &next);
    return next;
}
