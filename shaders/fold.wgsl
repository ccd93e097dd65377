// Folds the updates of each key into its destination, in order. An invocation has one sorted pair and one
// free step (a position within the slice). The invocation with the first pair of a key in the pass folds all
// pairs of that key; the others return. For `Reduce::None`, the invocation with the last pair stores its
// update. So no two invocations write to one destination. A pass covers few enough pairs that no driver kills
// a loop as too long; the next pass resumes the key that was not finished.
//
// If the order of the updates does not affect the result, the pairs of a key are cut into pieces that are
// folded in parallel: the first into the destination, each other one into a partial sum. The pass after joins
// them.
//
// Positions count units (an element, or a word of an element that is only moved) from the first that is
// reached. An invocation folds one unit, or as many elements as there are lanes. Positions outside the
// windows of a pass belong to other passes.

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
    free_count: u32,       // free steps, in units of what one invocation folds
    free_divisor: vec2<u32>,
    first: u32,            // first pair of the pass
    pairs: u32,            // pairs of the pass
    count: u32,            // pairs in all
    key_count: u32,
    key_offset: u32,       // position of the first key and of the first lookup, in units
    lookup_offset: u32,
    destination_from: u32, // the windows
    destination_count: u32,
    destination_shift: u32, // from a position to the unit of the binding
    updates_from: u32,
    updates_count: u32,
    updates_shift: u32,
    grid_x: u32,
    turn: u32,             // alternates between 0 and 1: the half of the carries that is read
    reduce: u32,           // how duplicates are combined: see below
    sign: u32,             // the sign bit of a lane; of the high one, for 64 bits
    piece_shift: u32,      // the pairs of a piece, as a power of two
    piece_mask: u32,       // mask of a pair's number within its piece; all ones if keys are not cut
    joins: u32,            // the pass joins pieces; `first` and `pairs` then count pieces
    long_run: u32,         // runs of so many pairs are left to `fold_runs`; 0 if none are
    padding_a: u32,
    padding_b: u32,
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
        var start: Start;
        if (fold.joins != 0u) {
            start = start_of_join(fold.first + number);
        } else {
            start = start_of_pair(fold.first + number, number == 0u);
        }
        let is_long = starts_long_run(start.first, start.pair.x);
        if (start.starts & (start.pair.x < fold.key_count) & !is_long) {
            fold_steps(start, group, invocation);
        }
    }
}

// The run of `key` that starts at this pair is left to `fold_runs`.
fn starts_long_run(number: u32, key: u32) -> bool {
    let last = number + max(fold.long_run, 1u) - 1u;
    let end = fold.first + fold.pairs;
    return (fold.long_run != 0u) & (last < end) & (pairs[min(last, fold.count - 1u)].x == key);
}

// The start of the fold of a key in a pass.
struct Start {
    pair: vec2<u32>,
    first: u32,    // the number of the pair
    goes_on: bool, // the key began in the pass or the piece before
    starts: bool,  // a fold starts at this pair
}

fn start_of_pair(number: u32, begins_pass: bool) -> Start {
    let pair = pairs[number];
    let replaces = fold.reduce == NONE;
    let last = fold.count - 1u;
    let neighbour = select(max(number, 1u) - 1u, min(number + 1u, last), replaces);
    let same = pairs[neighbour].x == pair.x;
    let goes_on = !replaces & (number != 0u) & same;
    let begins = begins_pass | ((number & fold.piece_mask) == 0u);
    let starts = select(!goes_on | begins, (number == last) | !same, replaces);
    return Start(pair, number, goes_on, starts);
}

// Starts a join at `piece` if it is the first piece of a key that has several.
fn start_of_join(piece: u32) -> Start {
    let first = piece << fold.piece_shift;
    let last = first | fold.piece_mask;
    let pair = pairs[last];
    let ends = pairs[last + 1u].x != pair.x;
    let begun = (first != 0u) & (pairs[first].x == pair.x) & (pairs[max(first, 1u) - 1u].x == pair.x);
    return Start(pair, last + 1u, false, !ends & !begun);
}

// Folds one free step of one key.
fn fold_step(at: Start, free: u32) {
    let step = at_digits(64u, fold.free_digits, free);
    let to = fold.key_offset + at_digits(0u, fold.key_digits, at.pair.x).x + step.x;
    if (to - fold.destination_from < fold.destination_count) {
        let is_piece = at.goes_on & is_cut();
        let goes_on = at.goes_on & carries() & !is_cut();
        // In flight together: the first update, and what is there, which the first piece may store while another
        // is folded. (A join starts at no update, and loads one for nothing.)
        let first = bound_update(update_of(at.pair, step.y));
        var before = vec4(0u);
        if (!is_piece) {
            before = load_destination(to + fold.destination_shift);
        }
        var sum = widen(before);
        if (goes_on) {
            sum = carried(fold.turn * fold.free_count + free);
        }
        var folded: Folded;
        if (fold.joins != 0u) {
            folded = Folded(joined(at, free, sum), false);
        } else {
            // A piece starts with its first update.
            sum = select(with_update(sum, first), widen(first.bits), is_piece);
            folded = fold_updates(at, step.y, sum);
        }
        if (is_piece) {
            carry_over((at.first >> fold.piece_shift) * fold.free_count + free, folded.sum);
        } else if (folded.open & carries() & !is_cut()) {
            carry_over((1u - fold.turn) * fold.free_count + free, folded.sum);
        } else {
            store_destination(to + fold.destination_shift, before, narrow(folded.sum));
        }
    }
}

struct Folded {
    sum: vec4<u32>,
    open: bool, // the next pass resumes this key
}

// Folds the updates of the key after this pair to the end of the pass or the piece into `sum`.
fn fold_updates(at: Start, step: u32, before: vec4<u32>) -> Folded {
    let end = min(fold.first + fold.pairs - 1u, at.first | fold.piece_mask) + 1u;
    let key = at.pair.x;
    var sum = before;
    var n = at.first + 1u;
    var pair = pairs[min(n, fold.count - 1u)];
    // Each loop is within an `if` with its condition: compilers for CPUs, whose lanes are invocations, go through the
    // body of a loop once more when all of them have left it, and jump over that of an `if`.
    if (has_four(n, end, key)) {
        while (has_four(n, end, key)) {
            let a = update_at(n, step);
            let b = update_at(n + 1u, step);
            let c = update_at(n + 2u, step);
            let d = update_at(n + 3u, step);
            sum = with_added(with_added(with_added(with_added(sum, a), b), c), d);
            n += 4u;
        }
        pair = pairs[min(n, fold.count - 1u)];
    }
    if ((n < end) & (pair.x == key)) {
        for (; (n < end) & (pair.x == key); n++) {
            let position = update_of(pair, step);
            pair = pairs[min(n + 1u, fold.count - 1u)];
            if (position - fold.updates_from < fold.updates_count) {
                sum = combine(sum, widen(load_update(position + fold.updates_shift)));
            }
        }
    }
    return Folded(sum, (n < fold.count) & (pair.x == key));
}

// Of sums, the loads of four updates are in flight together. The pairs are sorted: if the fourth from `n` on has the
// key, all have.
fn has_four(n: u32, end: u32, key: u32) -> bool {
    return (fold.reduce == ADD) && (n + 3u < end) && (pairs[n + 3u].x == key);
}

struct Update {
    bits: vec4<u32>,
    is_bound: bool,
}

// The update of pair `n`.
fn update_at(n: u32, step: u32) -> Update {
    return bound_update(update_of(pairs[n], step));
}

// The update at a position, or any that is bound.
fn bound_update(position: u32) -> Update {
    let is_bound = position - fold.updates_from < fold.updates_count;
    return Update(
        load_update(select(fold.updates_from, position, is_bound) + fold.updates_shift), is_bound,
    );
}

// As `with_update`, where updates are added: what is written several times has to be short.
fn with_added(sum: vec4<u32>, update: Update) -> vec4<u32> {
    return select(sum, added(sum, widen(update.bits)), update.is_bound);
}

fn with_update(sum: vec4<u32>, update: Update) -> vec4<u32> {
    return select(sum, combine(sum, widen(update.bits)), update.is_bound);
}

// Position of the update that belongs to a pair.
fn update_of(pair: vec2<u32>, step: u32) -> u32 {
    return fold.lookup_offset + at_digits(32u, fold.lookup_digits, pair.y).y + step;
}

// Folds the partial sums of the pieces from this pair on into `sum`.
fn joined(at: Start, free: u32, before: vec4<u32>) -> vec4<u32> {
    var sum = before;
    var n = at.first >> fold.piece_shift;
    var first = at.first;
    while ((first < fold.count) && (pairs[first].x == at.pair.x)) {
        sum = combine(sum, carried(n * fold.free_count + free));
        n += 1u;
        first = n << fold.piece_shift;
    }
    return sum;
}

// Keys are cut into pieces.
fn is_cut() -> bool {
    return fold.piece_mask != 0xffffffffu;
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
