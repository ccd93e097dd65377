// Folds the updates of each key into its destination, in order. An invocation has a pair of the
// sorted ones and a free step; that with the first pair of its key in the pass folds all of them, the
// others end at once. No two invocations write to one destination. A pass is over so few pairs that no
// loop is long, which drivers may end; the next one goes on with the key that was not done.
//
// Positions count units of a tensor (an element, or a word of one that is moved), from the first that
// is reached on. An invocation folds `LANES` units that follow each other. What lies outside the windows of a pass, other passes fold.

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
}

const WORKGROUP = 256u;

@group(0) @binding(0) var<uniform> fold: Fold;
@group(0) @binding(1) var<storage, read> pairs: array<vec2<u32>>; // key, lookup
@group(0) @binding(2) var<storage, read> updates: array<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let n = (workgroup.y * fold.grid_x + workgroup.x) * WORKGROUP + invocation;
    let position = divide(n, fold.free_divisor);
    if (position < fold.pairs) {
        let first = fold.first + position;
        let key = pairs[first].x;
        let free = n - position * fold.free_count;
        let step = at_digits(64u, fold.free_digits, free * LANES);
        let to = fold.key_offset + at_digits(0u, fold.key_digits, key).x + step.x;
        let goes_on = (first != 0u) & (pairs[max(first, 1u) - 1u].x == key);
        let starts = !goes_on | (position == 0u);
        let mine = to - fold.destination_from < fold.destination_count;
        if (starts & mine & (key < fold.key_count)) {
            let before = load_destination(to + fold.destination_shift);
            var sum = widen(before);
            if (goes_on) {
                sum = resumed(sum, free);
            }
            sum = fold_updates(key, first, step.y, sum);
            let end = fold.first + fold.pairs;
            let open = (end < fold.count) & (pairs[min(end, fold.count - 1u)].x == key);
            if (!(open & held(sum, free, open))) {
                store_destination(to + fold.destination_shift, before, narrow(sum));
            }
        }
    }
}

// The sum with the updates of the key that the pass has.
fn fold_updates(key: u32, first: u32, step: u32, start: Lanes) -> Lanes {
    var sum = start;
    for (var n = first; n < fold.first + fold.pairs; n++) {
        let pair = pairs[n];
        if (pair.x != key) {
            break;
        }
        let lookup = at_digits(32u, fold.lookup_digits, pair.y).y;
        let position = fold.lookup_offset + lookup + step;
        if (position - fold.updates_from < fold.updates_count) {
            sum = combine(sum, widen(load_update(position + fold.updates_shift)));
        }
    }
    return sum;
}

// As in geometry.wgsl.
fn divide(value: u32, divisor: vec2<u32>) -> u32 {
    let a = value << 1u;
    let b = divisor.x;
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
    return ((a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u)) >> divisor.y;
}
