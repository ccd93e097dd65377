// Keys that fit one tile: made and sorted in one dispatch.

const ITEMS = 8u; // pairs of an invocation

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) invocation: u32) {
    for (var i = 0u; i < ITEMS; i++) {
        let n = place_in_turn(invocation, i);
        // Padding sorts to the end.
        var key = 0xffffffffu;
        if (n < geometry.row_count) {
            key = key_of_row(n);
        }
        words[spread_out(n)] = key;
    }
    workgroupBarrier(); // after the keys
    for (var i = 0u; i < ITEMS; i++) {
        held_keys[i] = words[spread_out(own_place(invocation, i))];
        held_lookups[i] = geometry.first_lookup + own_place(invocation, i);
    }
    let bits = firstLeadingBit(geometry.key_count | 1u) + 1u;
    for (var shift = 0u; shift < bits; shift += 4u) {
        sort_tile(shift, shift + 4u >= bits, invocation);
    }
    for (var i = 0u; i < ITEMS; i++) {
        let n = place_in_turn(invocation, i);
        if (n < geometry.row_count) {
            pairs[n] = vec2(held_keys[i], held_lookups[i]);
        }
    }
}
