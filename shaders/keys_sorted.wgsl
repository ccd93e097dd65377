// Keys that fit one tile: made and sorted in one dispatch.

const ITEMS = 8u; // pairs of an invocation

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(local_invocation_index) invocation: u32) {
    if (geometry.row_count <= WORKGROUP) {
        sort_few(invocation);
    } else {
        sort_many(invocation);
    }
}

// Padding sorts to the end.
fn key_or_padding(n: u32) -> u32 {
    var key = 0xffffffffu;
    if (n < geometry.row_count) {
        key = key_of_row(n);
    }
    return key;
}

// Each invocation counts the pairs that come before its own: with so few, that takes fewer steps and barriers than a
// sort by digits.
fn sort_few(invocation: u32) {
    let own = key_or_padding(invocation);
    words[invocation] = own;
    workgroupBarrier(); // after the few keys
    var place = 0u;
    for (var n = 0u; n < geometry.row_count; n++) {
        let key = words[n];
        place += select(0u, 1u, (key < own) | ((key == own) & (n < invocation)));
    }
    workgroupBarrier(); // after the places
    if (invocation < geometry.row_count) {
        words[place] = own;
        words[WORKGROUP + place] = geometry.first_lookup + invocation;
    }
    workgroupBarrier(); // after the few pairs
    if (invocation < geometry.row_count) {
        pairs[invocation] = vec2(words[invocation], words[WORKGROUP + invocation]);
    }
}

fn sort_many(invocation: u32) {
    for (var i = 0u; i < ITEMS; i++) {
        let n = place_in_turn(invocation, i);
        words[spread_out(n)] = key_or_padding(n);
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
