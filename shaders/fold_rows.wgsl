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
        var n = at.first;
        // As in `fold_updates`.
        if (has_four(n, end, key)) {
            while (has_four(n, end, key)) {
                let a0 = update_at(n, step_a.y);
                let b0 = update_at(n, step_b.y);
                let a1 = update_at(n + 1u, step_a.y);
                let b1 = update_at(n + 1u, step_b.y);
                let a2 = update_at(n + 2u, step_a.y);
                let b2 = update_at(n + 2u, step_b.y);
                let a3 = update_at(n + 3u, step_a.y);
                let b3 = update_at(n + 3u, step_b.y);
                sum_a = with_added(with_added(with_added(with_added(sum_a, a0), a1), a2), a3);
                sum_b = with_added(with_added(with_added(with_added(sum_b, b0), b1), b2), b3);
                n += 4u;
            }
        }
        if (has_next(n, end, key)) {
            for (; has_next(n, end, key); n++) {
                let a = update_at(n, step_a.y);
                let b = update_at(n, step_b.y);
                sum_a = with_update(sum_a, a);
                sum_b = with_update(sum_b, b);
            }
        }
        if (stores_a) {
            store_destination(to_a + fold.destination_shift, vec4(0u), narrow(sum_a));
        }
        if (stores_b) {
            store_destination(to_b + fold.destination_shift, vec4(0u), narrow(sum_b));
        }
    }
}

fn has_next(n: u32, end: u32, key: u32) -> bool {
    return (n < end) && (pairs[n].x == key);
}
