//! Every loop and every early exit of the shaders has a planted fault: compilers have got loops wrong
//! that others get right, and a shader that nobody tests so may be wrong on the next one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::bag_faults::BAG_FAULTS;
use crate::quantized::DECODE_FAULTS;
use crate::scatter_faults;
use crate::shader_faults::SHADER_FAULTS;

/// Every loop and every early exit of the shaders, with the faults that show that the calls depend on
/// it: compilers have got loops wrong that others get right.
const CONSTRUCTS: &[(&str, &[&str])] = &[
    (
        "bag.wgsl fold_bag for",
        &["four rows where there are three"],
    ),
    (
        "bag.wgsl fold_bag for 2",
        &["last row of a bag left out", "a part of a bag begun anew"],
    ),
    (
        "bag_subword.wgsl main for",
        &["one element of a word pooled"],
    ),
    (
        "bag_words.wgsl main return",
        &["last access of a pooled lookup left out"],
    ),
    (
        "check.wgsl is_bad for",
        &["bad lookups counted per coordinate"],
    ),
    (
        "check.wgsl locate_first for",
        &["values of the first coordinate for all"],
    ),
    (
        "check.wgsl locate_first return",
        &["first bad lookup of each dispatch located"],
    ),
    (
        "copy.wgsl look_up for",
        &[
            "validity of the last coordinate alone",
            "position by the last coordinate alone",
        ],
    ),
    (
        "elements.wgsl main return",
        &["last row left out: elements"],
    ),
    (
        "geometry.wgsl place for",
        &["loops that all count from the row number"],
    ),
    (
        "index.wgsl is_inside return",
        &["extents of a check in one word"],
    ),
    ("index.wgsl modulo for", &["last bit of a modulo left out"]),
    (
        "index.wgsl long_division for",
        &["last bit of a long division left out"],
    ),
    (
        "check.wgsl count_from for",
        &["first lookup of an invocation checked alone"],
    ),
    (
        "copy.wgsl wrapped for",
        &["wrapped coordinates one behind another"],
    ),
    ("bytes.wgsl main return", &["last partial word dropped"]),
    (
        "bytes_x4.wgsl main return",
        &["last word left out: bytes_x4"],
    ),
    (
        "decode/elements.wgsl main return",
        &["last word left out: decoded elements"],
    ),
    (
        "decode/rows.wgsl main for",
        &["one part of a long row: decoded"],
    ),
    (
        "decode/rows.wgsl main return",
        &["last row left out: decoded"],
    ),
    ("rows.wgsl main for", &["one part of a long row"]),
    ("rows.wgsl main return", &["last row left out: rows"]),
    (
        "elements_x4.wgsl main return",
        &["last row left out: elements_x4"],
    ),
    ("segments.wgsl find_segment for", &["last segment alone"]),
    (
        "segments.wgsl is_from return",
        &["first access of a segment in the one before"],
    ),
    ("subword.wgsl main return", &["last word left out: subword"]),
    (
        "keys.wgsl key_of for",
        &[
            "the key of the last coordinate alone",
            "only the first coordinate checked",
        ],
    ),
    (
        "keys_sorted.wgsl sort_few for",
        &["the last key not compared"],
    ),
    (
        "keys_sorted.wgsl sort_many for",
        &["the last of few keys not made"],
    ),
    (
        "keys_sorted.wgsl sort_many for 2",
        &["the last of few keys not held"],
    ),
    (
        "keys_sorted.wgsl sort_many for 3",
        &["the highest digit of few keys left unsorted"],
    ),
    (
        "keys_sorted.wgsl sort_many for 4",
        &["the last of few pairs not stored"],
    ),
    (
        "sort_count.wgsl main for",
        &["the last pair of a tile not counted"],
    ),
    (
        "sort_count.wgsl main for 2",
        &["keys that fall taken for sorted"],
    ),
    (
        "sort_sums.wgsl main for",
        &["the blocks before the last not added to it"],
    ),
    (
        "sort_sums.wgsl sum_tiles for",
        &["the count of the last of eight tiles left as it is"],
    ),
    (
        "sort_sums.wgsl sum_tiles for 2",
        &["the count of the last tile of a block left as it is"],
    ),
    (
        "sort_sums.wgsl total_of for",
        &["the count of the last of eight tiles not added to the total"],
    ),
    (
        "sort_sums.wgsl total_of for 2",
        &["the count of the last tile of a block not added to the total"],
    ),
    (
        "sort_move.wgsl main for",
        &["the last of sorted keys not copied"],
    ),
    (
        "sort_move.wgsl move_pairs for",
        &["the last pair of a tile not loaded"],
    ),
    (
        "sort_move.wgsl move_pairs for 2",
        &["digits that start in the middle of an invocation's pairs"],
    ),
    (
        "sort_move.wgsl move_pairs for 3",
        &["the last pair of a tile not moved"],
    ),
    (
        "sort_move.wgsl in_order for",
        &["keys that fall in the first of few tiles alone found"],
    ),
    (
        "sort_move.wgsl pairs_with for",
        &["the pairs of the last of the most tiles that are few not added"],
    ),
    (
        "sort_tile.wgsl exchange for",
        &["the last pair of an invocation not taken to its place"],
    ),
    (
        "sort_tile.wgsl exchange for 2",
        &["the last pair of an invocation not taken from its place"],
    ),
    (
        "sort_move.wgsl hold_own for",
        &["the last pair of an invocation not held"],
    ),
    (
        "sort_tile.wgsl sort_tile for",
        &["the counts of the last digits not cleared"],
    ),
    (
        "sort_tile.wgsl sort_tile for 2",
        &["the last pair of an invocation not counted"],
    ),
    (
        "sort_tile.wgsl sort_tile for 3",
        &["the last count not added up"],
    ),
    (
        "sort_tile.wgsl sort_tile for 4",
        &["the counts within an invocation not added up"],
    ),
    (
        "sort_tile.wgsl sort_tile for 5",
        &["the last pair of an invocation at its own count"],
    ),
    (
        "sum_before.wgsl sum_before for",
        &["the last invocation of a block not added up"],
    ),
    (
        "sum_before.wgsl sum_before for 2",
        &["the last block not added up"],
    ),
    (
        "fold.wgsl fold_updates for",
        &[
            "the fourth update of four lost",
            "four updates taken beyond the end of a pass",
        ],
    ),
    (
        "fold.wgsl fold_updates for 2",
        &[
            "all updates but the first and those in fours lost",
            "the last update lost",
        ],
    ),
    (
        "fold_runs.wgsl fold_runs for",
        &["all runs of a workgroup but the first lost"],
    ),
    (
        "fold_runs.wgsl blocks_of_runs for",
        &["the last blocks of a workgroup left out"],
    ),
    (
        "fold_runs.wgsl run_of_block for",
        &["a run without the pairs before its first block"],
    ),
    (
        "fold_runs.wgsl run_of_block for 2",
        &["a run of its first pairs only"],
    ),
    (
        "fold_runs.wgsl fold_run for",
        &["the last updates of a run lost"],
    ),
    (
        "fold_runs.wgsl fold_staged for",
        &["the fourth update in workgroup memory lost"],
    ),
    (
        "fold_runs.wgsl fold_staged for 2",
        &["the last update in workgroup memory lost"],
    ),
    (
        "fold.wgsl joined for",
        &[
            "pieces not joined",
            "the pieces of the next keys joined, too",
        ],
    ),
    (
        "fold_digits.wgsl at_digits for",
        &["digits that all count from the number"],
    ),
    (
        "fold_rows.wgsl fold_two_steps for",
        &[
            "the fourth update of four of a row lost",
            "four updates of a row taken beyond the end of a pass",
        ],
    ),
    (
        "fold_rows.wgsl fold_two_steps for 2",
        &[
            "all updates of a row but the first and those in fours lost",
            "the last update of a row lost",
        ],
    ),
];

/// Where the shaders loop, and where they return from within a block: file, function and which, from the
/// second of a function on with its number.
fn constructs() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |construct: String| {
        let numbered = (2..).map(|n| format!("{construct} {n}"));
        let mut names = std::iter::once(construct.clone()).chain(numbered);
        names.find(|name| found.insert(name.clone()));
    };
    let shaders = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let files = |folder: &Path| fs::read_dir(folder).expect("the shaders");
    for file in files(&shaders).chain(files(&shaders.join("decode"))) {
        let path = file.expect("a file").path();
        if path.is_dir() {
            assert_eq!(
                path,
                shaders.join("decode"),
                "a folder that is not looked at"
            );
            continue;
        }
        let name = path.strip_prefix(&shaders).unwrap().to_str().unwrap();
        let name = name.replace('\\', "/"); // of Windows
        let mut function = String::new();
        for line in fs::read_to_string(&path).expect("its text").lines() {
            if let Some(rest) = line.strip_prefix("fn ") {
                function = rest.split('(').next().unwrap().to_owned();
            }
            let code = line.trim_start();
            let within = line.len() - code.len() > 4;
            let first = code
                .split(|c: char| !c.is_alphabetic() && c != '_')
                .next()
                .unwrap();
            match first {
                "for" | "while" | "loop" => add(format!("{name} {function} for")),
                "return" if within => add(format!("{name} {function} return")),
                _ => {}
            }
        }
    }
    found
}

#[test]
fn every_loop_and_early_exit_has_its_fault() {
    let known: BTreeSet<String> = CONSTRUCTS.iter().map(|(c, _)| (*c).to_owned()).collect();
    assert_eq!(constructs(), known);
    for (construct, names) in CONSTRUCTS {
        for name in *names {
            let of_bags = BAG_FAULTS.iter().any(|(fault, _)| fault == name);
            let there = SHADER_FAULTS.iter().any(|(fault, ..)| fault == name)
                || DECODE_FAULTS.iter().any(|(fault, ..)| fault == name)
                || of_bags
                || scatter_faults::FAULTS
                    .iter()
                    .any(|(fault, ..)| fault == name);
            assert!(there, "{construct}: {name}");
        }
    }
}
