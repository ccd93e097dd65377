// Folds the updates of each key into its destination, in order. An invocation has a pair of the
// sorted ones and a free step; that with the first pair of its key in the pass folds all of them, the
// others end at once. Where the last update replaces the others, that with the last pair of a key stores it.
// No two invocations write to one destination. A pass is over so few pairs that no loop is long, which
// drivers may end; the next one goes on with the key that was not done.
//
// Positions count units of a tensor (an element, or a word of one that is moved), from the first that
// is reached on. An invocation folds one of them, or as many elements as there are lanes. What lies outside
// the windows of a pass, other passes fold.

struct Digit {
    extent: u32,
    destination: u32, // steps in the tensors, in units; two's complement
    updates: u32,
    multiplier: u32,  // to divide by the extent
    shift: u32,
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

struct Fold {
    digits: array<Digit, 96>, // of keys, of lookups and of free steps, 32 each; the lowest first
    key_digits: u32,
    lookup_digits: u32,
    free_digits: u32,
    free_count: u32,       // what an invocation folds counts as one
    free_divisor: vec2<u32>,
    first: u32,            // the first pair of the pass
    pairs: u32,            // how many it has
    count: u32,            // pairs in all
    key_count: u32,
    key_offset: u32,       // what lies at the first key and the first lookup, in units
    lookup_offset: u32,
    destination_from: u32, // the windows
    destination_count: u32,
    destination_shift: u32, // from a position to the unit of the binding
    updates_from: u32,
    updates_count: u32,
    updates_shift: u32,
    grid_x: u32,
    turn: u32,             // 0 or 1 in turns: which carry is read
    reduce: u32,           // what becomes of values that meet: see below
    sign: u32,             // the sign bit of a lane; of the high one, for 64 bits
}

@group(0) @binding(0) var<uniform> fold: Fold;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<u32>>; // key, lookup

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let group = workgroup.y * fold.grid_x + workgroup.x;
    let number = pair_number(group, invocation);
    if (number < fold.pairs) {
        let first = fold.first + number;
        let pair = pairs[first];
        let replaces = fold.reduce == NONE;
        let last = fold.count - 1u;
        let neighbour = select(max(first, 1u) - 1u, min(first + 1u, last), replaces);
        let same = pairs[neighbour].x == pair.x;
        let goes_on = !replaces & (first != 0u) & same;
        let starts = select(!goes_on | (number == 0u), (first == last) | !same, replaces);
        if (starts & (pair.x < fold.key_count)) {
            fold_steps(Start(pair, first, goes_on), group, invocation);
        }
    }
}

// Where the fold of a key starts in a pass.
struct Start {
    pair: vec2<u32>,
    first: u32,    // the number of the pair
    goes_on: bool, // whether the pass before has begun with the key
}

// Folds one free step of a key.
fn fold_step(at: Start, free: u32) {
    let step = at_digits(64u, fold.free_digits, free);
    let to = fold.key_offset + at_digits(0u, fold.key_digits, at.pair.x).x + step.x;
    if (to - fold.destination_from < fold.destination_count) {
        let before = load_destination(to + fold.destination_shift);
        var sum = widen(before);
        if (at.goes_on) {
            sum = resumed(sum, free);
        }
        let folded = fold_updates(at.pair, at.first, step.y, sum);
        if (!(folded.open & held(folded.sum, free, folded.open))) {
            store_destination(to + fold.destination_shift, before, narrow(folded.sum));
        }
    }
}

struct Folded {
    sum: vec4<u32>,
    open: bool, // whether the next pass goes on with the key
}

// The sum with the updates of the key that the pass has, from this pair on.
fn fold_updates(start: vec2<u32>, first: u32, step: u32, before: vec4<u32>) -> Folded {
    let end = fold.first + fold.pairs;
    var sum = before;
    var pair = start;
    var n = first;
    for (; (n < end) & (pair.x == start.x); n++) {
        let lookup = at_digits(32u, fold.lookup_digits, pair.y).y;
        let position = fold.lookup_offset + lookup + step;
        pair = pairs[min(n + 1u, fold.count - 1u)];
        if (position - fold.updates_from < fold.updates_count) {
            sum = combine(sum, widen(load_update(position + fold.updates_shift)));
        }
    }
    return Folded(sum, (n < fold.count) & (pair.x == start.x));
}

// As `Reduce` in src/fold/mod.rs.
const NONE = 0u;
const ADD = 1u;
const MUL = 2u;
const MIN = 3u;
const MAX = 4u;

fn combine(sum: vec4<u32>, value: vec4<u32>) -> vec4<u32> {
    var result = value;
    if (fold.reduce == ADD) {
        result = added(sum, value);
    } else if (fold.reduce == MUL) {
        result = multiplied(sum, value);
    } else if (fold.reduce == MIN) {
        result = least(sum, value);
    } else if (fold.reduce == MAX) {
        result = greatest(sum, value);
    }
    return result;
}

fn sign_bit() -> u32 {
    return fold.sign;
}
