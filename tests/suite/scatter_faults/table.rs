//! The faults, as changes of the shaders' text.

use crate::planted::{Change, plant};

/// The name of a fault, what its shader has, and which text becomes which.
type Fault = (&'static str, &'static str, &'static str, &'static str);

/// A list of faults as functions, which take nothing but the text.
macro_rules! faults {
    ($($name:literal: $part:literal $from:literal => $to:literal,)*) => {
        pub(crate) const FAULTS: &[Fault] = &[$(($name, $part, $from, $to)),*];
        pub(super) const PLANTED: &[Change] = &[$(|source| plant(source, $part, $from, $to)),*];
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
        "(n < end) & (pair.x" => "(n <= at.first) & (pair.x",
    "the last update lost": "fn fold_updates"
        "(n < end) & (pair.x" => "(n + 1u < end) & (pair.x",
    "updates of the next keys folded, too": "fn fold_updates"
        "(n < end) & (pair.x ==" => "(n < end) & (pair.x >=",
    "the first update folded twice": "fn fold_updates"
        "var n = at.first + 1u;" => "var n = at.first;",
    "the fourth update of four lost": "fn fold_updates"
        "sum, a), b), c), d);" => "sum, a), b), c), c);",
    "four updates taken where the last is of another key": "fold_step(at, n - pair_number"
        "(pairs[n + 3u].x == key)" => "(pairs[n + 3u].x >= key)",
    "four updates taken beyond the end of a pass": "fold_step(at, n - pair_number"
        "(n + 3u < end)" => "(n < end)",
    "the update after four not the next": "fn fold_updates"
        "pair = pairs[min(n, fold.count - 1u)];\n    }" => "pair = pairs[min(n - 1u, fold.count - 1u)];\n    }",
    "long runs folded twice": "fn fold_run("
        "& !is_long" => "",
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
        "let may_be = begins &" => "let may_be =",
    "a run of its first pairs only": "fn fold_run("
        "select(last, fold.first + fold.pairs, is_long)" => "select(last, last + 1u, is_long)",
    "the last blocks of a workgroup left out": "fn fold_run("
        "n < BLOCKS; n++" => "n + 8u < BLOCKS; n++",
    "all runs of a workgroup but the first lost": "fn fold_run("
        "blocks &= blocks - 1u;" => "blocks = 0u;",
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
    "the count of the last tile of a block not added to the total": "fn total_of"
        "tile < end; tile++) {\n        total" => "tile + 1u < end; tile++) {\n        total",
    "the count of the last tile of a block left as it is": "fn sum_tiles"
        "tile < end; tile++) {\n        sum" => "tile + 1u < end; tile++) {\n        sum",
    "the count of the last of eight tiles not added to the total": "fn total_of"
        "added(found.z, found.w)" => "found.z",
    "the count of the last of eight tiles left as it is": "fn sum_tiles"
        "counts[at + 3u * DIGITS] = fourth;" => "",
    "the blocks before the last not added to it": "fn total_of"
        "n < BLOCKS; n++" => "n + 1u < BLOCKS; n++",
    "the tiles of the blocks before not added": "fn total_of"
        "sum_tiles(first, end, digit, before & ~FALLS)" => "sum_tiles(first, end, digit, 0u)",
    "no barrier after the totals of the blocks": "fn total_of"
        "workgroupBarrier(); // after the totals" => "",
    "the pairs of smaller digits not added": "fn move_pairs"
        "sum_before(with_digit.y, invocation).x" => "sum_before(with_digit.y, invocation).x * 0u",
    "keys that fall in the first of few tiles alone found": "fn move_pairs"
        "n = 1u; n < FEW_TILES; n++" => "n = FEW_TILES; n < FEW_TILES; n++",
    "few tiles whose keys fall taken for sorted": "atomicAdd(&found"
        "select(1u, 0u, atomicLoad(&falls) != 0u)" => "1u",
    "the pairs of few tiles before not added": "fn move_pairs"
        "select(0u, count, n < tile)" => "0u * count",
    "the pairs of the last of few tiles not added": "fn move_pairs"
        "n <= last)" => "n < last)",
    "the pairs of the last of the most tiles that are few not added": "fn move_pairs"
        "n = 0u; n < FEW_TILES; n++" => "n = 0u; n + 1u < FEW_TILES; n++",
    "the last pair of a tile not loaded": "fn move_pairs"
        "if (n < count) {\n            pair" => "if (n + 1u < count) {\n            pair",
    "digits that start in the middle of an invocation's pairs": "fn move_pairs"
        "(n == 0u) ||" => "(n < WORKGROUP) ||",
    "the last pair of a tile not moved": "fn move_pairs"
        "if (n < count) {\n            sorted" => "if (n + 1u < count) {\n            sorted",
    "keys that fall taken for sorted": "atomicAdd(&found"
        "atomicStore(&falls, FALLS)" => "atomicStore(&falls, 0u)",
    "no barrier after keys that fall": "atomicAdd(&found"
        "workgroupBarrier(); // after the falls" => "",
    "keys that fall between tiles taken for sorted": "atomicAdd(&found"
        "before = pairs[start - 1u].x;" => "before = 0u;",
    "sorted keys left where the last digit does not end": "fn move_pairs"
        "sort.copies != 0u" => "false",
    "the last of sorted keys not copied": "fn move_pairs"
        "n < count; n += WORKGROUP" => "n + 1u < count; n += WORKGROUP",
    "sorted keys moved by their digits all the same": "fn move_pairs"
        "!in_order()" => "true",
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
        "has_next(n, end, key); n++" => "has_next(n, end, key) && (n == at.first); n++",
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
