// Sorts a tile within a workgroup, four bits at a time. Each invocation holds consecutive pairs and counts
// their digits; a prefix sum over all counts gives the places of its pairs.

// This invocation's pairs, and their places in the sorted tile.
var<private> held_keys: array<u32, ITEMS>;
var<private> held_lookups: array<u32, ITEMS>;
var<private> places: array<u32, ITEMS>;

// Counts of 8 words, each of two digits, by 256 invocations; or keys or lookups of a tile.
var<workgroup> words: array<u32, 2112>;

// Index of word `n`, padded so that words 8 apart fall into different banks.
fn spread_out(n: u32) -> u32 {
    return n + (n >> 5u);
}

// Place of an invocation's item if it holds every 256th pair.
fn place_in_turn(invocation: u32, item: u32) -> u32 {
    return item * WORKGROUP + invocation;
}

fn own_place(invocation: u32, item: u32) -> u32 {
    return invocation * ITEMS + item;
}

// Moves one value of each pair (key or lookup) to the pair's place, through workgroup memory. The invocation
// then holds the values of consecutive pairs, or of every 256th.
fn exchange(values: ptr<private, array<u32, ITEMS>>, in_turn: bool, invocation: u32) {
    workgroupBarrier(); // before the first write
    for (var i = 0u; i < ITEMS; i++) {
        words[spread_out(places[i])] = (*values)[i];
    }
    workgroupBarrier(); // after the last
    for (var i = 0u; i < ITEMS; i++) {
        let place = select(own_place(invocation, i), place_in_turn(invocation, i), in_turn);
        (*values)[i] = words[spread_out(place)];
    }
}

// The word that holds the count of a digit, and the shift of the count in it.
fn count_of(digit: u32, invocation: u32) -> u32 {
    return spread_out((digit & 7u) * WORKGROUP + invocation);
}

fn half_of(digit: u32) -> u32 {
    return (digit >> 3u) * 16u;
}

// Sorts the tile by four bits of the keys. After the last step an invocation holds every 256th pair, and the
// keys are in `words`.
fn sort_tile(shift: u32, is_last: bool, invocation: u32) {
    workgroupBarrier(); // before the counts
    for (var word = 0u; word < 8u; word++) {
        words[count_of(word, invocation)] = 0u;
    }
    for (var i = 0u; i < ITEMS; i++) {
        let digit = (held_keys[i] >> shift) & 15u;
        let at = count_of(digit, invocation);
        let count = words[at];
        places[i] = (count >> half_of(digit)) & 0xffffu;
        words[at] = count + (1u << half_of(digit));
    }
    workgroupBarrier(); // after the counts
    var total = 0u;
    for (var n = invocation * 8u; n < invocation * 8u + 8u; n++) {
        total += words[spread_out(n)];
    }
    let before = sum_before(total, invocation);
    // Digits 8 to 15 are in the upper halves and come after all of 0 to 7.
    var sum = before.x + (before.y << 16u);
    for (var n = invocation * 8u; n < invocation * 8u + 8u; n++) {
        let count = words[spread_out(n)];
        words[spread_out(n)] = sum;
        sum += count;
    }
    workgroupBarrier(); // after the sums
    for (var i = 0u; i < ITEMS; i++) {
        let digit = (held_keys[i] >> shift) & 15u;
        let base = words[count_of(digit, invocation)] >> half_of(digit);
        // The mask removes the other digit's count, and keeps the place in the tile.
        places[i] = (places[i] + base) & (ITEMS * WORKGROUP - 1u);
    }
    exchange(&held_lookups, is_last, invocation);
    exchange(&held_keys, is_last, invocation);
}
