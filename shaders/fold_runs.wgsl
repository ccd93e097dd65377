// Folds the keys of long runs, which `main` leaves out, as fast as memory gives their updates: an invocation that
// folds a run alone waits for each few of them. A workgroup takes a few free steps of one run. All its invocations
// load updates into workgroup memory; those that have a free step fold them from there, in order, while the
// next ones are loaded.
//
// A long run covers two blocks of pairs at least. Its workgroup is the one of the first block in which it covers the
// first pair. All that decides about barriers is read from addresses that a workgroup has in common: compilers have to
// see that it is the same for all.

const RUN_STEPS = 8u;     // free steps of a workgroup, which as many invocations from the middle on fold
const RUN_UPDATES = 96u;  // updates in workgroup memory, of each step
const BLOCK = 512u;       // half of a long run
const BLOCKS = 16u;       // of a workgroup

var<workgroup> staged: array<vec4<u32>, 768>; // RUN_UPDATES x RUN_STEPS

@compute @workgroup_size(256)
fn fold_runs(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) invocation: u32,
) {
    let slices = (fold.free_count + RUN_STEPS - 1u) / RUN_STEPS;
    let number = workgroup.y * fold.grid_x + workgroup.x;
    let group = number / slices;
    let first_free = (number - group * slices) * RUN_STEPS;
    var blocks = blocks_of_runs(group * BLOCKS);
    while (blocks != 0u) {
        let run = run_of_block(group * BLOCKS + firstTrailingBit(blocks));
        if (run.y > run.x) {
            fold_run(run, first_free, invocation);
        }
        blocks &= blocks - 1u;
    }
}

// A bit for each block from `first` on in which a run may begin that is long: the first pair of the next block has its
// key, that of the one before has not.
fn blocks_of_runs(first: u32) -> u32 {
    var blocks = 0u;
    for (var n = 0u; n < BLOCKS; n++) {
        let key = block_key(first + n);
        let begins = (first + n == 0u) || (block_key(max(first + n, 1u) - 1u) != key);
        let may_be = begins & ((first + n) * BLOCK < fold.pairs) & (key < fold.key_count)
            & (block_key(first + n + 1u) == key);
        blocks |= select(0u, 1u << n, may_be);
    }
    return blocks;
}

// The key of the first pair of a block; beyond the last block, that of the last pair.
fn block_key(block: u32) -> u32 {
    return pairs[fold.first + min(block * BLOCK, fold.pairs - 1u)].x;
}

// The first pair of the run that covers the first pair of `block`, and not that of the block before, and the pair after
// its last in the pass; two zeros, if it is not long.
fn run_of_block(block: u32) -> vec2<u32> {
    let inside = fold.first + block * BLOCK;
    let key = pairs[inside].x;
    // The first pair of the key is after `before`, and not after `start`. BLOCK is 2^9.
    var before = max(inside, fold.first + BLOCK) - BLOCK;
    var start = inside;
    for (var step = 0u; step < 9u; step++) {
        let middle = before + (start - before) / 2u;
        if (pairs[middle].x == key) {
            start = middle;
        } else {
            before = middle;
        }
    }
    let is_long = starts_long_run(start, key);
    // The first of another key is after `last`, and not after `other`.
    var last = start + fold.long_run - 1u;
    var other = select(last, fold.first + fold.pairs, is_long);
    while (other > last + 1u) {
        let middle = last + (other - last) / 2u;
        if (pairs[middle].x == key) {
            last = middle;
        } else {
            other = middle;
        }
    }
    return select(vec2(0u), vec2(start, other), is_long);
}

fn fold_run(run: vec2<u32>, first_free: u32, invocation: u32) {
    let at = start_of_pair(run.x, run.x == fold.first);
    // What this invocation loads: every 32nd update, of one free step.
    let loaded_free = first_free + invocation % RUN_STEPS;
    let loaded_step = at_digits(64u, fold.free_digits, min(loaded_free, fold.free_count - 1u)).y;
    let loaded = run.x + invocation / RUN_STEPS;
    // What it folds.
    let mine = invocation - WORKGROUP / 2u;
    let free = first_free + mine;
    let step = at_digits(64u, fold.free_digits, min(free, fold.free_count - 1u));
    let to = fold.key_offset + at_digits(0u, fold.key_digits, at.pair.x).x + step.x;
    let folds = (mine < RUN_STEPS) & (free < fold.free_count)
        & (to - fold.destination_from < fold.destination_count);
    var sum = vec4(0u);
    if (folds) {
        sum = widen(load_destination(to + fold.destination_shift));
        if (at.goes_on & carries()) {
            sum = carried(fold.turn * fold.free_count + free);
        }
    }
    let last = run.y - 1u;
    var n = run.x;
    var a = update_at(min(loaded, last), loaded_step);
    var b = update_at(min(loaded + 32u, last), loaded_step);
    var c = update_at(min(loaded + 64u, last), loaded_step);
    while (n <= last) {
        staged[invocation] = a.bits;
        staged[invocation + 256u] = b.bits;
        staged[invocation + 512u] = c.bits;
        workgroupBarrier(); // after the updates
        let next = n + RUN_UPDATES - run.x;
        a = update_at(min(loaded + next, last), loaded_step);
        b = update_at(min(loaded + next + 32u, last), loaded_step);
        c = update_at(min(loaded + next + 64u, last), loaded_step);
        if (folds) {
            sum = fold_staged(sum, min(RUN_UPDATES, run.y - n), mine);
        }
        workgroupBarrier(); // before the next ones
        n += RUN_UPDATES;
    }
    if (folds) {
        if (carries() & (run.y < fold.count) & (pairs[min(run.y, fold.count - 1u)].x == at.pair.x)) {
            carry_over((1u - fold.turn) * fold.free_count + free, sum);
        } else {
            store_destination(to + fold.destination_shift, load_destination(to + fold.destination_shift), narrow(sum));
        }
    }
}

// Folds the first `count` updates in workgroup memory into `before`. Floats are added or multiplied: which, is decided
// outside of the loops, which wait for nothing else.
fn fold_staged(before: vec4<u32>, count: u32, step: u32) -> vec4<u32> {
    var sum = before;
    var n = 0u;
    if (fold.reduce == ADD) {
        for (; n + 3u < count; n += 4u) {
            let a = staged[n * RUN_STEPS + step];
            let b = staged[(n + 1u) * RUN_STEPS + step];
            let c = staged[(n + 2u) * RUN_STEPS + step];
            let d = staged[(n + 3u) * RUN_STEPS + step];
            sum = added(added(added(added(sum, widen(a)), widen(b)), widen(c)), widen(d));
        }
    }
    for (; n < count; n++) {
        sum = combine(sum, widen(staged[n * RUN_STEPS + step]));
    }
    return sum;
}
