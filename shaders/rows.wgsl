// Rows of whole lanes: invocations side by side copy lanes side by side, and the index of a row
// is resolved once for all the lanes that an invocation copies.
//
// 2^lanes_log2 invocations share a row, so short rows share a workgroup. An invocation has up to
// four lanes in flight; rows longer than a workgroup covers are cut into chunks (z).

const IN_FLIGHT = 4u;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let lanes = 1u << geometry.lanes_log2;
    let rows = WORKGROUP >> geometry.lanes_log2;
    let row = workgroup_number(workgroup) * rows + (invocation >> geometry.lanes_log2);
    if (row >= geometry.row_count) {
        return;
    }
    let source = look_up(place(row));
    let destination = geometry.output_offset + row * geometry.row_length;
    let span = lanes * IN_FLIGHT;
    let first = workgroup.z * span + (invocation & (lanes - 1u));
    for (var column = first; column < geometry.row_length; column += geometry.chunks * span) {
        if (source.valid) {
            copy_lanes(source.params + column, destination + column, column, lanes);
        } else {
            fill_lanes(destination + column, column, lanes);
        }
    }
}

fn copy_lanes(first: u32, to: u32, column: u32, lanes: u32) {
    if (column + 3u * lanes < geometry.row_length) {
        let a = params[first];
        let b = params[first + lanes];
        let c = params[first + 2u * lanes];
        let d = params[first + 3u * lanes];
        output[to] = a;
        output[to + lanes] = b;
        output[to + 2u * lanes] = c;
        output[to + 3u * lanes] = d;
        return;
    }
    output[to] = params[first];
    for (var n = 1u; n < IN_FLIGHT && column + n * lanes < geometry.row_length; n++) {
        output[to + n * lanes] = params[first + n * lanes];
    }
}

fn fill_lanes(to: u32, column: u32, lanes: u32) {
    for (var n = 0u; n < IN_FLIGHT && column + n * lanes < geometry.row_length; n++) {
        output[to + n * lanes] = fill_lane((column + n * lanes) % geometry.fill_length);
    }
}
