// Rows of whole lanes: invocations side by side copy lanes side by side, and the index of a row
// is resolved once for all the lanes that an invocation copies.
//
// 2^lanes_log2 invocations share a row, so short rows share a workgroup. An invocation has four
// lanes in flight: of one row, or of two where rows are so short that four lanes of each would
// leave the stores of neighbours apart. Rows longer than a workgroup covers are cut into chunks
// (z). Loads beyond the end of a row repeat its last lane, so no load waits for a branch.

const IN_FLIGHT = 4u;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let lanes = 1u << geometry.lanes_log2;
    let rows = WORKGROUP >> geometry.lanes_log2;
    let row = ((workgroup_number(workgroup) * rows) << geometry.paired)
        + (invocation >> geometry.lanes_log2);
    if (row >= geometry.row_count) {
        return;
    }
    let last = geometry.row_length - 1u;
    let source = look_up(place(row));
    let to = geometry.output_offset + row * geometry.row_length;
    // The third and fourth lane: further on in this row, or in another.
    var other = source;
    var other_to = to;
    var ahead = select(2u * lanes, geometry.row_length, geometry.paired != 0u);
    let next = row + rows * geometry.paired;
    if ((next != row) & (next < geometry.row_count)) {
        other = look_up(place(next));
        other_to += rows * geometry.row_length;
        ahead = 0u;
    }
    let span = lanes * IN_FLIGHT;
    let first = workgroup.z * span + (invocation & (lanes - 1u));
    for (var a = first; a <= last; a += geometry.chunks * span) {
        let b = a + lanes;
        let c = a + ahead;
        let d = c + lanes;
        let lane_a = fetch(source, a);
        let lane_b = fetch(source, min(b, last));
        let lane_c = fetch(other, min(c, last));
        let lane_d = fetch(other, min(d, last));
        if (source.mine) {
            output[to + a] = lane_a;
        }
        if ((b <= last) & source.mine) {
            output[to + b] = lane_b;
        }
        if ((c <= last) & other.mine) {
            output[other_to + c] = lane_c;
        }
        if ((d <= last) & other.mine) {
            output[other_to + d] = lane_d;
        }
    }
}
