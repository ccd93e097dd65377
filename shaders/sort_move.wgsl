@group(0) @binding(3) var<storage, read_write> sorted: array<vec2<u32>>;

// For each digit: add this to a pair's place in the sorted tile to get its place in the output.
var<workgroup> bases: array<u32, DIGITS>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let tile = number(workgroup);
    let start = tile * TILE;
    if (tile < sort.tiles) {
        let count = min(TILE, sort.count - start);
        if (!in_order()) {
            move_pairs(tile, count, invocation);
        } else if (sort.copies != 0u) {
            for (var n = invocation; n < count; n += WORKGROUP) {
                sorted[start + n] = pairs[start + n];
            }
        }
    }
}

fn move_pairs(tile: u32, count: u32, invocation: u32) {
    let with_digit = pairs_with(invocation, tile);
    for (var i = 0u; i < ITEMS; i++) {
        let n = place_in_turn(invocation, i);
        // Padding with the greatest key stays behind the last pair.
        var pair = vec2(0xffffffffu);
        if (n < count) {
            pair = pairs[tile * TILE + n];
        }
        held_keys[i] = pair.x;
        held_lookups[i] = pair.y;
    }
    hold_own(invocation);
    if (sort.bits > 4u) {
        sort_tile(sort.shift, false, invocation);
        sort_tile(sort.shift + 4u, true, invocation);
    } else {
        sort_tile(sort.shift, true, invocation);
    }
    let goes = sum_before(with_digit.y, invocation).x + with_digit.x;
    for (var i = 0u; i < ITEMS; i++) {
        let n = place_in_turn(invocation, i);
        let digit = digit_of(held_keys[i]);
        if ((n == 0u) || (digit_of(words[spread_out(n - 1u)]) != digit)) {
            bases[digit] = n;
        }
    }
    workgroupBarrier(); // after the first places
    bases[invocation] = goes - bases[invocation];
    workgroupBarrier(); // after the bases
    for (var i = 0u; i < ITEMS; i++) {
        let n = place_in_turn(invocation, i);
        if (n < count) {
            sorted[bases[digit_of(held_keys[i])] + n] = vec2(held_keys[i], held_lookups[i]);
        }
    }
}

// Whether the pairs are in order, as the count of the first digit has found out.
fn in_order() -> bool {
    var says = ends[sort.order];
    if (are_few()) {
        for (var n = 1u; n < FEW_TILES; n++) {
            says &= ends[sort.order + min(n, sort.tiles - 1u)];
        }
    }
    return says != 0u;
}

// How many pairs with a digit there are in the tiles before this one, and in all.
fn pairs_with(digit: u32, tile: u32) -> vec2<u32> {
    let last = sort.tiles - 1u;
    var before = 0u;
    var all = 0u;
    if (are_few()) {
        // Compilers unroll so many steps: all loads are in flight together.
        for (var n = 0u; n < FEW_TILES; n++) {
            let count = ends[min(n, last) * DIGITS + digit];
            before += select(0u, count, n < tile);
            all += select(0u, count, n <= last);
        }
    } else {
        before = select(0u, ends[(max(tile, 1u) - 1u) * DIGITS + digit], tile > 0u);
        all = ends[last * DIGITS + digit];
    }
    return vec2(before, all);
}

// Redistributes the pairs: an invocation then holds consecutive ones, instead of every 256th.
fn hold_own(invocation: u32) {
    for (var i = 0u; i < ITEMS; i++) {
        places[i] = place_in_turn(invocation, i);
    }
    exchange(&held_lookups, false, invocation);
    exchange(&held_keys, false, invocation);
}
