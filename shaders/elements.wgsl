// One lane per lookup: an invocation makes four neighbouring outputs. The row number is taken
// apart once; the next output is one step of the innermost loop away, until that loop ends.

const PER_INVOCATION = 4u;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let first = (workgroup_number(workgroup) * WORKGROUP + invocation) * PER_INVOCATION;
    if (first >= geometry.row_count) {
        return;
    }
    var at = place(first);
    if (first + 3u < geometry.row_count) {
        let a = look_up(at);
        at = next(at, first + 1u);
        let b = look_up(at);
        at = next(at, first + 2u);
        let c = look_up(at);
        at = next(at, first + 3u);
        let d = look_up(at);
        let to = geometry.output_offset + first;
        let lane_a = fetch(a);
        let lane_b = fetch(b);
        let lane_c = fetch(c);
        let lane_d = fetch(d);
        output[to] = lane_a;
        output[to + 1u] = lane_b;
        output[to + 2u] = lane_c;
        output[to + 3u] = lane_d;
        return;
    }
    for (var row = first; row < geometry.row_count; row++) {
        output[geometry.output_offset + row] = fetch(look_up(at));
        at = next(at, row + 1u);
    }
}

// The place of `row`, given that of the row before it.
fn next(before: Place, row: u32) -> Place {
    if (geometry.loop_count == 0u) {
        return before;
    }
    let inner = geometry.loops[geometry.loop_count - 1u];
    if (before.inner + 1u == inner.x) {
        return place(row);
    }
    return Place(before.params + inner.y, before.indices + inner.z, before.inner + 1u);
}

fn fetch(source: Source) -> Lane {
    if (source.valid) {
        return params[source.params];
    }
    return fill_lane(0u);
}
