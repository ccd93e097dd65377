//! Faults planted in the shaders of a scatter, which a comparison with the reference must report on
//! every adapter.

use gather_conformance::Call;
use wgpu_gather::gpu::Engine;
use wgpu_gather::{DType, Executor, IndexType, Layout, Op, Reduce, Rules};

use crate::common::engines;
use crate::planted::{Change, faulty, plant};
use gather_conformance::{Scatter, tame_values, values};

/// The name of a fault, what its shader has, and which text becomes which.
type Fault = (&'static str, &'static str, &'static str, &'static str);

/// A list of faults as functions, which take nothing but the text.
macro_rules! faults {
    ($($name:literal: $part:literal $from:literal => $to:literal,)*) => {
        pub(crate) const FAULTS: &[Fault] = &[$(($name, $part, $from, $to)),*];
        const PLANTED: &[Change] = &[$(|source| plant(source, $part, $from, $to)),*];
    };
}

faults! {
    "base dropped": "fn fold_updates"
        "var sum = widen(before);" => "var sum = vec4(0u);",
    "a row not gone on with": "fn fold_two_steps"
        "begins_pass | (" => "(",
    "sums of the pass before dropped": "fn fold_updates"
        "if (goes_on) {" => "if (false) {",
    "the carry read where it is written": "carry["
        "carry_over((1u - fold.turn) *" => "carry_over(fold.turn *",
    "all updates but the first and those in fours lost": "fn fold_updates"
        "(n <= last) & (pair.x" => "(n <= at.first) & (pair.x",
    "the last update lost": "fn fold_updates"
        "(n <= last) & (pair.x" => "(n < last) & (pair.x",
    "updates of the next keys folded, too": "fn fold_updates"
        "(pair.x == at.pair.x); n++" => "(pair.x >= at.pair.x); n++",
    "the first update folded twice": "fn fold_updates"
        "var n = at.first + 1u;" => "var n = at.first;",
    "the fourth update of four lost": "fn fold_updates"
        "sum, a), b), c), d);" => "sum, a), b), c), c);",
    "four updates taken where the last is of another key": "fn fold_updates"
        "(pairs[n + 3u].x == at" => "(pairs[n + 3u].x >= at",
    "four updates taken beyond the end of a pass": "fn fold_updates"
        "(n + 3u <= last)" => "(n <= last)",
    "the update after four not the next": "fn fold_updates"
        "pair = pairs[min(n, fold.count - 1u)];\n    }\n    for" => "pair = pairs[min(n - 1u, fold.count - 1u)];\n    }\n    for",
    "long runs folded twice": "fn fold_run("
        "& !is_long" => "",
    "no barrier before runs are counted": "fn fold_run("
        "workgroupBarrier(); // before the runs" => "",
    "no barrier after runs are counted": "fn fold_run("
        "workgroupBarrier(); // after the runs" => "",
    "no barrier after updates of a run are loaded": "fn fold_run("
        "workgroupBarrier(); // after the updates" => "",
    "no barrier before the next updates of a run": "fn fold_run("
        "workgroupBarrier(); // before the next ones" => "",
    "updates beyond the end of a run": "fn fold_run("
        "min(RUN_UPDATES, run.y - n)" => "RUN_UPDATES",
    "the last update of a run lost": "fn fold_run("
        "min(RUN_UPDATES, run.y - n)" => "min(RUN_UPDATES, run.y - 1u - n)",
    "a run without the pairs before its first block": "fn fold_run("
        "start = middle;" => "",
    "a run found by each of its blocks": "fn fold_run("
        "((block == 0u) | (pairs[before].x != key))" => "true",
    "a run of its first pairs only": "fn fold_run("
        "select(last, end, is_run)" => "select(last, last + 1u, is_run)",
    "the last run of a workgroup lost": "fn fold_run("
        "n < count; n++) {\n        fold_run" => "n + 1u < count; n++) {\n        fold_run",
    "the last updates of a run lost": "fn fold_run("
        "while (n <= last)" => "while (n + RUN_UPDATES <= last)",
    "the fourth update in workgroup memory lost": "fn fold_run("
        "widen(c)), widen(d));" => "widen(c)), widen(c));",
    "the last update in workgroup memory lost": "fn fold_run("
        "for (; n < count; n++)" => "for (; n + 1u < count; n++)",
    "the base of a run dropped": "fn fold_run("
        "sum = widen(load_destination" => "sum = vec4(0u); let unused = widen(load_destination",
    "a run not gone on with": "fn fold_run("
        "if (at.goes_on & carries())" => "if (false)",
    "the sum of a run not left for the next pass": "fn fold_run("
        "if (carries() & (run.y < fold.count)" => "if (false & (run.y < fold.count)",
    "the first steps of a row for all": "fn fold_run("
        "let first_free = (number - group * slices) * RUN_STEPS;" => "let first_free = 0u;",
    "updates of the neighbouring step of a run": "fn fold_run("
        "staged[n * RUN_STEPS + step]" => "staged[n * RUN_STEPS + (step ^ 1u)]",
    "the order of many lookups swapped": "pairs[geometry.output_offset + n]"
        "pairs[geometry.output_offset + n]" => "pairs[geometry.row_count - 1u - n]",
    "the order of few lookups swapped": "key = key_of_row"
        "geometry.first_lookup + own" => "geometry.first_lookup + geometry.row_count - 1u - own",
    "the sort of a tile not stable": "fn sort_tile"
        "return invocation * ITEMS + item;" => "return invocation * ITEMS + ITEMS - 1u - item;",
    "the last pair of an invocation not taken to its place": "fn exchange"
        "for (var i = 0u; i < ITEMS; i++) {\n        words" => "for (var i = 0u; i + 1u < ITEMS; i++) {\n        words",
    "the last pair of an invocation not taken from its place": "fn exchange"
        "for (var i = 0u; i < ITEMS; i++) {\n        let place" => "for (var i = 0u; i + 1u < ITEMS; i++) {\n        let place",
    "the last pair of an invocation not held": "fn hold_own"
        "for (var i = 0u; i < ITEMS; i++) {\n        places" => "for (var i = 0u; i + 1u < ITEMS; i++) {\n        places",
    "the counts of the last digits not cleared": "fn sort_tile"
        "word < 8u" => "word < 7u",
    "the last pair of an invocation not counted": "fn sort_tile"
        "words[at] = count + (1u << half_of(digit));" => "words[at] = count + (select(0u, 1u, i + 1u < ITEMS) << half_of(digit));",
    "the last count not added up": "fn sort_tile"
        "total += words[spread_out(n)];" => "total += select(0u, words[spread_out(n)], n < invocation * 8u + 7u);",
    "the counts within an invocation not added up": "fn sort_tile"
        "sum += count;" => "sum += 0u * count;",
    "the last pair of an invocation at its own count": "fn sort_tile"
        "places[i] + base" => "places[i] + select(0u, base, i + 1u < ITEMS)",
    "digits from 8 on among those below": "fn sort_tile"
        "+ (before.y << 16u)" => "",
    "the last invocation of a block not added up": "fn sum_before"
        "n < block * 16u + 16u; n++" => "n < block * 16u + 15u; n++",
    "the last block not added up": "fn sum_before"
        "n < 16u; n++" => "n < 15u; n++",
    "the second half of a digit left unsorted": "fn move_pairs"
        "sort_tile(sort.shift + 4u, true, invocation);" => "sort_tile(sort.shift, true, invocation);",
    "the highest digit of few keys left unsorted": "key = key_of_row"
        "shift < bits; shift += 4u" => "shift == 0u || shift + 4u < bits; shift += 4u",
    "the last of few keys not made": "key = key_of_row"
        "if (n < geometry.row_count) {\n        key" => "if (n + 1u < geometry.row_count) {\n        key",
    "no barrier before keys are compared": "key = key_of_row"
        "workgroupBarrier(); // after the few keys" => "",
    "the last key not compared": "key = key_of_row"
        "n < geometry.row_count; n++" => "n + 1u < geometry.row_count; n++",
    "equal keys compared in the wrong order": "key = key_of_row"
        "(n < invocation)" => "(n > invocation)",
    "the last of the compared pairs not stored": "key = key_of_row"
        "if (invocation < geometry" => "if (invocation + 1u < geometry",
    "no barrier before compared pairs are taken to their places": "key = key_of_row"
        "workgroupBarrier(); // after the places" => "",
    "no barrier before compared pairs are taken from there": "key = key_of_row"
        "workgroupBarrier(); // after the few pairs" => "",
    "the last of few pairs not stored": "key = key_of_row"
        "if (n < geometry.row_count) {\n            pairs" => "if (n + 1u < geometry.row_count) {\n            pairs",
    "the last pair of a tile not counted": "atomicAdd(&found"
        "atomicAdd(&found[digit_of(key)], 1u)" => "atomicAdd(&found[digit_of(key)], select(0u, 1u, n + 1u < count))",
    "the last row of counts not added to the total": "fn total_of"
        "row < end; row++) {\n        total" => "row + 1u < end; row++) {\n        total",
    "the last row of counts left as it is": "fn sum_rows"
        "row < end; row++) {\n        let" => "row + 1u < end; row++) {\n        let",
    "the last of eight rows of counts not added to the total": "fn total_of"
        "added(found.z, found.w)" => "found.z",
    "the last of eight rows of counts left as it is": "fn sum_rows"
        "counts[at + 3u * DIGITS] = fourth;" => "",
    "the sums of the groups before not added": "fn spread("
        "counts[(sort.tiles + group) * DIGITS + digit]);" => "0u);",
    "the last pair of a tile not loaded": "fn move_pairs"
        "if (n < count) {\n            pair" => "if (n + 1u < count) {\n            pair",
    "digits that start in the middle of an invocation's pairs": "fn move_pairs"
        "(n == 0u) ||" => "(n < WORKGROUP) ||",
    "the last pair of a tile not moved": "fn move_pairs"
        "if (n < count) {\n            sorted" => "if (n + 1u < count) {\n            sorted",
    "keys that fall taken for sorted": "atomicAdd(&found"
        "falls |= select(0u, FALLS," => "falls |= select(0u, 0u,",
    "keys that fall between tiles taken for sorted": "atomicAdd(&found"
        "before = pairs[start - 1u].x;" => "before = 0u;",
    "sorted keys left where the last digit does not end": "fn move_pairs"
        "sort.copies != 0u" => "false",
    "the last of sorted keys not copied": "fn move_pairs"
        "n < count; n += WORKGROUP" => "n + 1u < count; n += WORKGROUP",
    "sorted keys moved by their digits all the same": "fn move_pairs"
        "!in_order(starts[sort.order])" => "true",
    "no barrier before a value is taken to its place": "fn exchange"
        "workgroupBarrier(); // before the first write" => "",
    "no barrier before a value is taken from its place": "fn exchange"
        "workgroupBarrier(); // after the last" => "",
    "no barrier before the counts of a tile": "fn sort_tile"
        "workgroupBarrier(); // before the counts" => "",
    "no barrier after the counts of a tile": "fn sort_tile"
        "workgroupBarrier(); // after the counts" => "",
    "no barrier after the sums of a tile": "fn sort_tile"
        "workgroupBarrier(); // after the sums" => "",
    "no barrier after the values of a sum": "fn sum_before"
        "workgroupBarrier(); // after the values" => "",
    "no barrier after the blocks of a sum": "fn sum_before"
        "workgroupBarrier(); // after the blocks" => "",
    "no barrier after few keys are made": "key = key_of_row"
        "workgroupBarrier(); // after the keys" => "",
    "the last of few keys not held": "key = key_of_row"
        "+ own_place(invocation, i);" => "+ select(0u, own_place(invocation, i), i + 1u < ITEMS);",
    "no barrier before digits are counted": "atomicAdd(&found"
        "workgroupBarrier(); // before the counts" => "",
    "no barrier after digits are counted": "atomicAdd(&found"
        "workgroupBarrier(); // after the counts" => "",
    "no barrier after the first places of digits": "fn move_pairs"
        "workgroupBarrier(); // after the first places" => "",
    "no barrier after the bases of digits": "fn move_pairs"
        "workgroupBarrier(); // after the bases" => "",
    "the key of the last coordinate alone": "fn key_of"
        "key = add_product(key," => "key = add_product(vec2(at.params, at.params_high),",
    "only the first coordinate checked": "fn key_of"
        "bad = true;" => "bad = k == 0u;",
    "digits that all count from the number": "rest = higher"
        "rest = higher;" => "rest = number;",
    "the carry of 64 bits lost": "fn added"
        "sum += vec4(0u, carry.x, 0u, carry.z);" => "",
    "the signs of integers lost": "fn combine"
        "return fold.sign;" => "return 0u;",
    "the way to reduce lost": "fn combine"
        "fold.reduce == MIN" => "fold.reduce == ADD",
    "halves rounded down": "fn combine"
        "(value + below_half + ((value >> shift) & vec4(1u))) >> shift" => "value >> shift",
    "halves rounded up at half": "fn combine"
        "below_half + ((value >> shift) & vec4(1u))" => "below_half + vec4(1u)",
    "bytes of neighbours changed": "fn shift_of"
        "changed << shift_of(at)" => "(changed | 0x100u) << shift_of(at)",
    "zeros of both signs alike": "fn ordered"
        "value >= sign)" => "value > sign)",
    "the first update of a key taken where the last replaces it": "fn fold_updates"
        "min(number + 1u, last), replaces" => "min(number + 1u, last), false",
    "the last pair of all not taken for the last of its key": "fn fold_updates"
        "(number == last) | !same, replaces" => "!same, replaces",
    "units of all lanes loaded from their neighbours": "array<Unit>;"
        "updates[at])" => "updates[at ^ 1u])",
    "units of all lanes stored over their neighbours": "array<Unit>;"
        "destination[at] = unit" => "destination[at ^ 1u] = unit",
    "halves in the places of others": "array<Unit>;"
        "halves.x | (halves.y << 16u)" => "halves.y | (halves.x << 16u)",
    "bytes in the places of others": "array<Unit>;"
        "vec4(words.x) >> vec4(0u, 8u," => "vec4(words.x) >> vec4(8u, 0u,",
    "the carry of one lane for all": "fn carry_over"
        "carry[at] = sum;" => "carry[at] = sum.xxxx;",
    "keys not cut": "fn joined"
        "((number & fold.piece_mask) == 0u)" => "false",
    "pieces that go on in the next": "fn joined"
        "fold.pairs - 1u, at.first | fold.piece_mask)" => "fold.pairs - 1u, 0xffffffffu)",
    "a piece that starts with the destination": "fn joined"
        "widen(first.bits), is_piece)" => "widen(first.bits), false)",
    "pieces not joined": "fn joined"
        "while ((first < fold.count)" => "while ((first < at.first)",
    "the pieces of the next keys joined, too": "fn joined"
        "(pairs[first].x == at.pair.x)" => "(pairs[first].x >= at.pair.x)",
    "pieces joined from the middle of a key on, too": "fn joined"
        "!ends & !begun" => "!ends",
    "pieces of one free step joined in all": "fn joined"
        "carried(n * fold.free_count + free)" => "carried(n * fold.free_count)",
    "each workgroup of a pair at the start of the row": "fn fold_two_steps"
        "let a = start + 2u" => "let a = 2u",
    "two steps of an invocation that are one": "fn fold_two_steps"
        "let b = a + NEIGHBOURS;" => "let b = a;",
    "the base of a row dropped": "fn fold_two_steps"
        "sum_b = widen(load_destination" => "sum_b = vec4(0u); let unused = widen(load_destination",
    "all updates of a row but the first and those in fours lost": "fn fold_two_steps"
        "(n < end) && (pairs" => "(n < at.first + 1u) && (pairs",
    "the last update of a row lost": "fn fold_two_steps"
        "(n < end) && (pairs" => "(n + 1u < end) && (pairs",
    "updates of the next keys folded into a row, too": "fn fold_two_steps"
        "(pairs[n].x == key)" => "(pairs[n].x >= key)",
    "the fourth update of four of a row lost": "fn fold_two_steps"
        "a2), a3);" => "a2), a2);",
    "four updates of a row taken where the last is of another key": "fn fold_two_steps"
        "(pairs[n + 3u].x == key)" => "(pairs[n + 3u].x >= key)",
    "four updates of a row taken beyond the end of a pass": "fn fold_two_steps"
        "(n + 3u < end)" => "(n < end)",
    "the last steps of a row not stored": "fn fold_two_steps"
        "(b <= last_step)" => "(b < last_step)",
    "steps past the end of a row stored, too": "fn fold_two_steps"
        "(b <= last_step)" => "(b >= 0u)",
}

/// What the shaders have of scatters of more than one tile.
const OF_MANY: [&str; 7] = [
    "fn joined",
    "pairs[geometry.output_offset + n]",
    "atomicAdd(&found",
    "fn total_of",
    "fn sum_rows",
    "fn spread(",
    "fn move_pairs",
];

/// Scatters in which the faults show that those of one tile have: equal keys far apart, all types, long runs.
fn scatters() -> Vec<Scatter> {
    let shapes: [(Op, [&[usize]; 3]); 6] = [
        (Op::gather(0), [&[30, 8], &[200], &[200, 8]]),
        (Op::gather(0), [&[40, 3], &[700], &[700, 3]]),
        (Op::gather(1), [&[2, 300, 5], &[90], &[2, 90, 5]]),
        (Op::gather_nd(), [&[7, 9, 2], &[150, 2], &[150, 2]]),
        (Op::gather_elements(0), [&[11, 13], &[70, 13], &[70, 13]]),
        (Op::gather(0), [&[9, 1300], &[20], &[20, 1300]]),
    ];
    let types = [DType::F32, DType::F16, DType::U8, DType::I16, DType::I64];
    let mut all = Vec::new();
    for (n, (op, tensors)) in shapes.into_iter().enumerate() {
        for dtype in types {
            for reduce in Reduce::ALL {
                all.push(scatter(op, tensors, dtype, reduce, n as u64));
            }
        }
    }
    // No bad index, whose pairs lie behind all others.
    let good = [&[30, 8][..], &[200], &[200, 8]];
    let mut good = scatter(Op::gather(0), good, DType::F32, Reduce::None, 8);
    good.call.indices = (0..200u32).flat_map(|n| (n % 30).to_ne_bytes()).collect();
    all.push(good);
    all
}

/// Scatters of keys with many updates.
fn of_runs() -> Vec<Scatter> {
    let mut all = Vec::new();
    // More of one key than a pass has, in sums wider than their elements.
    let long = [&[3, 2][..], &[60_000], &[60_000, 2]];
    let mut long = scatter(Op::gather(0), long, DType::BF16, Reduce::Add, 9);
    let one = half::bf16::ONE.to_ne_bytes();
    long.updates = one.repeat(long.updates.len() / 2);
    long.base.fill(0);
    all.push(long);
    // The same in all lanes, each with sums of its own.
    let long = [&[3, 4][..], &[60_000], &[60_000, 4]];
    let mut long = scatter(Op::gather(0), long, DType::BF16, Reduce::Add, 9);
    let row = [1.0, 2.0, 3.0, 4.0].map(|n| half::bf16::from_f32(n).to_ne_bytes());
    long.updates = row.concat().repeat(60_000);
    long.base.fill(0);
    all.push(long);
    // More of one row than a pass has.
    let long = [&[2, 256][..], &[50_000], &[50_000, 256]];
    let mut long = scatter(Op::gather(0), long, DType::F32, Reduce::Add, 10);
    long.base = tame_values(DType::F32, Reduce::Add, 2 * 256, 10);
    long.updates = tame_values(DType::F32, Reduce::Add, 50_000 * 256, 110);
    all.push(long);
    // Keys of some hundred updates each, none of them long, of which the pass ends within one.
    let many = [&[150, 128][..], &[40_000], &[40_000, 128]];
    let mut many = scatter(Op::gather(0), many, DType::F32, Reduce::Add, 11);
    many.call.indices = (0..40_000u32)
        .flat_map(|n| {
            (n.wrapping_mul(2_654_435_761) >> 8)
                .wrapping_rem(150)
                .to_ne_bytes()
        })
        .collect();
    many.base = tame_values(DType::F32, Reduce::Add, 150 * 128, 11);
    many.updates = tame_values(DType::F32, Reduce::Add, 40_000 * 128, 111);
    all.push(many);
    all
}

/// Scatters of several tiles.
fn of_many() -> Vec<Scatter> {
    let mut all = Vec::new();
    // Several tiles: keys in any order; in order, of one digit, two and three; in order but for one, and only
    // within tiles. What is taken for two runs of a key is rounded twice, and sums depend on the order.
    let orders: [fn(u32) -> u32; 8] = [
        |n| n.wrapping_mul(2_654_435_761) >> 17,
        |n| (n.wrapping_mul(2_654_435_761) >> 9) % 11,
        |n| n / 50,
        |n| if n == 1077 { 0 } else { n / 50 },
        |n| n / if n < 1024 { 25 } else { 125 },
        |n| n % 2048 / 50,
        |n| n / 5,
        |n| n / 2 * 60,
    ];
    let extents = [32_768, 11, 100, 100, 100, 100, 1000, 150_000];
    for (order, extent) in orders.into_iter().zip(extents) {
        for dtype in [DType::BF16, DType::F32] {
            all.push(in_order(dtype, order, extent, 5000));
        }
    }
    // Keys in several pieces, of one column and of several; 0 is less than nearly all.
    for (dtype, reduce) in [(DType::I32, Reduce::Add), (DType::U32, Reduce::Min)] {
        for columns in [1, 8] {
            let shapes = [&[11, columns][..], &[5000], &[5000, columns]];
            all.push(scatter(Op::gather(0), shapes, dtype, reduce, 6));
        }
    }
    // Several groups of tiles.
    let order = |n: u32| n.wrapping_mul(2_654_435_761) >> 22;
    all.push(in_order(DType::BF16, order, 1024, 140_000));
    all
}

/// Sums of one column by such indices.
fn in_order(dtype: DType, order: fn(u32) -> u32, extent: usize, count: usize) -> Scatter {
    let shapes = [&[extent, 1][..], &[count], &[count, 1]];
    let mut sums = scatter(Op::gather(0), shapes, dtype, Reduce::Add, 5);
    let indices = (0..count as u32).map(order);
    sums.call.indices = indices.flat_map(u32::to_ne_bytes).collect();
    sums.base = tame_values(dtype, Reduce::Add, extent, 5);
    sums.updates = tame_values(dtype, Reduce::Add, count, 105);
    sums
}

/// Indices that are bad now and then, a few of them often; each coordinate within its own extent.
pub(crate) fn scatter(
    op: Op,
    [params, indices, updates]: [&[usize]; 3],
    dtype: DType,
    reduce: Reduce,
    seed: u64,
) -> Scatter {
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    let extents = match op {
        Op::GatherNd { .. } => &params[..indices[indices.len() - 1]],
        _ => {
            let axis = op.axis().unwrap_or(0) as usize;
            &params[axis..=axis]
        }
    };
    let index = |n: usize| {
        let (value, lookup) = (
            (n as u32).wrapping_mul(2_654_435_761) >> 7,
            n / extents.len(),
        );
        let extent = extents[n % extents.len()] as u32;
        match lookup % 3 {
            0 => value % (extent + extent / 8 + 1),
            _ => value % extent.min(5),
        }
    };
    let values_of_indices: Vec<u8> = (0..count(indices))
        .flat_map(|n| index(n).to_ne_bytes())
        .collect();
    Scatter {
        call: Call {
            op,
            rules: Rules::default(),
            element_bytes: dtype.bytes(),
            params: Vec::new(),
            params_layout: Layout::contiguous(params),
            index_type: IndexType::U32,
            indices: values_of_indices,
            indices_layout: Layout::contiguous(indices),
        },
        reduce,
        dtype,
        base: values(dtype, count(params), seed),
        updates: values(dtype, count(updates), seed + 100),
        updates_layout: Layout::contiguous(updates),
    }
}

/// The first scatter that reports a fault.
fn first_report(engine: &Engine, calls: [&[Scatter]; 3], fault: Change) -> Option<String> {
    let executor = Executor::Gpu(faulty(engine, engine.device().limits(), fault));
    let mut calls = calls.into_iter().flatten();
    calls.find_map(|call| call.difference(&executor))
}

#[test]
fn faults_in_scatters_are_reported_on_every_adapter() {
    let (calls, of_many, of_runs) = (scatters(), of_many(), of_runs());
    for engine in engines() {
        let label = engine.adapter().label();
        let none = first_report(engine, [&calls, &of_many, &of_runs], |s| s);
        assert_eq!(none, None, "{label}");
        let mut missed = Vec::new();
        for (&(name, part, ..), &plant) in FAULTS.iter().zip(PLANTED) {
            // Those first that are more likely to show it: each compiles pipelines.
            let calls = match part {
                "fn fold_run(" => [&of_runs[..], &of_many, &calls],
                "fn fold_two_steps" => [&of_runs[..], &calls, &of_many],
                _ if OF_MANY.contains(&part) => [&of_many[..], &calls, &of_runs],
                _ => [&calls[..], &of_many, &of_runs],
            };
            match first_report(engine, calls, plant) {
                Some(why) => assert!(!why.contains("wgpu refused"), "{label}: {name}: {why}"),
                None => missed.push(name),
            }
        }
        assert_eq!(missed, [""; 0], "{label}: not reported");
    }
}
