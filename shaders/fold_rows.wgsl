// A workgroup takes free steps of one pair only, so its loads of pairs are uniform. Each invocation takes two of
// them: eight neighbours read and write 128 contiguous bytes in their first step, and the next 128 in their second.

const WORKGROUP = 32u;
const NEIGHBOURS = 8u;

fn pair_number(group: u32, invocation: u32) -> u32 {
    return divide(group, fold.free_divisor);
}

fn fold_steps(at: Start, group: u32, invocation: u32) {
    let of_group = 2u * WORKGROUP;
    let groups_of_pair = (fold.free_count + of_group - 1u) / of_group;
    let start = (group - pair_number(group, invocation) * groups_of_pair) * of_group;
    let a = start + 2u * invocation - invocation % NEIGHBOURS;
    let b = a + NEIGHBOURS;
    if (is_cut()) {
        if (a < fold.free_count) {
            fold_step(at, a);
        }
        if (b < fold.free_count) {
            fold_step(at, b);
        }
    } else {
        fold_two_steps(at, a, b);
    }
}

// Folds two free steps of a key that is not cut. The loads of both are in flight together, and each pair is loaded
// once for both. A step past the end of the row repeats the last one, and is not stored.
fn fold_two_steps(at: Start, a: u32, b: u32) {
    let last_step = fold.free_count - 1u;
    let step_a = at_digits(64u, fold.free_digits, min(a, last_step));
    let step_b = at_digits(64u, fold.free_digits, min(b, last_step));
    let key = at.pair.x;
    let row = fold.key_offset + at_digits(0u, fold.key_digits, key).x;
    let to_a = row + step_a.x;
    let to_b = row + step_b.x;
    let stores_a = (to_a - fold.destination_from < fold.destination_count) & (a <= last_step);
    let stores_b = (to_b - fold.destination_from < fold.destination_count) & (b <= last_step);
    if (stores_a | stores_b) {
        var sum_a = vec4(0u);
        var sum_b = vec4(0u);
        if (stores_a) {
            sum_a = widen(load_destination(to_a + fold.destination_shift));
        }
        if (stores_b) {
            sum_b = widen(load_destination(to_b + fold.destination_shift));
        }
        let end = fold.first + fold.pairs;
        var pair = at.pair;
        for (var n = at.first; (n < end) & (pair.x == key); n++) {
            let from_a = update_of(pair, step_a.y);
            let from_b = update_of(pair, step_b.y);
            pair = pairs[min(n + 1u, fold.count - 1u)];
            let is_bound_a = from_a - fold.updates_from < fold.updates_count;
            let is_bound_b = from_b - fold.updates_from < fold.updates_count;
            let at_a = select(fold.updates_from, from_a, is_bound_a) + fold.updates_shift;
            let at_b = select(fold.updates_from, from_b, is_bound_b) + fold.updates_shift;
            let update_a = load_update(at_a);
            let update_b = load_update(at_b);
            sum_a = select(sum_a, combine(sum_a, widen(update_a)), is_bound_a);
            sum_b = select(sum_b, combine(sum_b, widen(update_b)), is_bound_b);
        }
        if (stores_a) {
            store_destination(to_a + fold.destination_shift, vec4(0u), narrow(sum_a));
        }
        if (stores_b) {
            store_destination(to_b + fold.destination_shift, vec4(0u), narrow(sum_b));
        }
    }
}
