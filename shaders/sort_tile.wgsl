// The sort of a tile within a workgroup, four bits at a time. Each invocation holds consecutive pairs of
// it, counts its digits, and learns from the counts of all where its pairs go.

// The pairs of this invocation, and the places of the tile that they go to.
var<private> held_keys: array<u32, ITEMS>;
var<private> held_lookups: array<u32, ITEMS>;
var<private> places: array<u32, ITEMS>;

// Counts of 8 words, each of two digits, by 256 invocations; or keys or lookups of a tile.
var<workgroup> words: array<u32, 2112>;

// Where word `n` lies: such that words 8 apart lie in different banks.
fn spread_out(n: u32) -> u32 {
    return n + (n >> 5u);
}

// The place of an invocation's item, where it holds one pair in 256.
fn place_in_turn(invocation: u32, item: u32) -> u32 {
    return item * WORKGROUP + invocation;
}

fn own_place(invocation: u32, item: u32) -> u32 {
    return invocation * ITEMS + item;
}

// Takes a value of each pair to the pair's place. The invocation then has those of consecutive pairs, or of
// one in 256.
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

// The word with the count of a digit, and where in it.
fn count_of(digit: u32, invocation: u32) -> u32 {
    return spread_out((digit & 7u) * WORKGROUP + invocation);
}

fn half_of(digit: u32) -> u32 {
    return (digit >> 3u) * 16u;
}

// Sorts the tile by four bits of the keys. If it is the last time, an invocation then holds one pair in 256,
// and the keys are left in `words`.
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
    // The digits from 8 on come behind all others.
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
        // The mask takes off the other digit of the word, and keeps the place within the tile.
        places[i] = (places[i] + base) & (ITEMS * WORKGROUP - 1u);
    }
    exchange(&held_lookups, is_last, invocation);
    exchange(&held_keys, is_last, invocation);
}
