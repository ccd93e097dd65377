@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let n = workgroup_number(workgroup) * WORKGROUP + invocation;
    if (n < geometry.row_count) {
        pairs[geometry.output_offset + n] = vec2(key_of_row(n), geometry.first_lookup + n);
    }
}
