//! Bytes on the wire against the model, and against a count from the definitions.

use std::collections::HashSet;
use std::process::Command;

use serde_json::Value;

use crate::kit::*;

/// Counted from the definitions: who owns a row, and which rows a rank asks others for.
#[test]
fn bytes_on_the_wire_are_those_of_the_model_and_deduplication_saves_the_duplicates() {
    let files = Files::new();
    for ranks in ranks().into_iter().filter(|&ranks| ranks > 1) {
        for (partition, dedupe, sizes) in [
            ("block", "on", LARGE),
            ("block", "off", LARGE),
            ("cyclic", "on", LARGE),
            ("cyclic", "off", LARGE),
            ("cyclic", "on", SMALL),
            ("block", "off", SMALL),
        ] {
            let Sizes {
                chunk,
                round,
                message,
                ..
            } = sizes;
            let [chunk, round, message] = [chunk, round, message].map(|n| n.to_string());
            let how = [
                "--partition",
                partition,
                "--dedupe",
                dedupe,
                "--json",
                "--chunk",
                &chunk,
            ];
            let how = [&how[..], &["--round", &round, "--message", &message]].concat();
            let more = [&how[..], &["--backend", "cpu"]].concat();
            let printed = succeeds(&mpirun(&[(
                ranks,
                files.gather("random", "out.npy", &more),
            )]));
            let run: Value = serde_json::from_str(&printed).expect("JSON");
            let modelled = Command::new(BINARY)
                .args([
                    "model",
                    "--ranks",
                    &ranks.to_string(),
                    "--rows",
                    &ROWS.to_string(),
                ])
                .args(["--row-bytes", &ROW_BYTES.to_string(), "--indices"])
                .arg(files.path("random.npy"))
                .args(&how)
                .output()
                .expect("the model runs");
            let modelled: Value = serde_json::from_str(&succeeds(&modelled)).expect("JSON");
            for key in ["wire", "duplicates", "chunks", "rounds"] {
                assert_eq!(run[key], modelled[key], "{key} on {ranks} ranks, {how:?}");
            }
            assert_eq!(
                run["received_bytes"].as_u64(),
                Some(sum(&run, "id_bytes") + sum(&run, "row_bytes"))
            );
            let counted = counted(ranks, partition, dedupe == "on", &sizes);
            let reported = Counted {
                chunks: number(&run["chunks"]),
                rounds: number(&run["rounds"]),
                messages: sum(&run, "messages"),
                rows: sum(&run, "row_bytes") / ROW_BYTES as u64,
                duplicates: number(&run["duplicates"]),
            };
            assert_eq!(reported, counted, "{ranks} ranks, {how:?}");
            assert_eq!(sum(&run, "id_bytes"), counted.rows * 8, "{how:?}");
        }
    }
}

/// How much goes at once, in bytes.
struct Sizes {
    chunk: u64,
    /// So many lookups: each takes a row, and 48 bytes besides.
    lookups: usize,
    round: u64,
    message: u64,
}

/// All in one chunk, one round, and one message for each pair of ranks.
const LARGE: Sizes = Sizes {
    chunk: 1 << 30,
    lookups: (1 << 30) / 62,
    round: 64 << 20,
    message: 1 << 30,
};

/// Several of each.
const SMALL: Sizes = Sizes {
    chunk: 9 << 10,
    lookups: 148,
    round: 1000,
    message: 61,
};

fn sum(run: &Value, key: &str) -> u64 {
    run["wire"][key].as_u64().expect("a number")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// What goes from rank to rank.
#[derive(Debug, Default, PartialEq)]
struct Counted {
    chunks: u64,
    rounds: u64,
    messages: u64,
    /// That ranks ask others for.
    rows: u64,
    duplicates: u64,
}

/// Counted from the definitions: the ranks have a part of the ids each, and go through them chunk by
/// chunk; in each, a rank asks every owner for its rows (`once`: each once), and in a round no owner for
/// more than its share of the round's bytes.
fn counted(ranks: usize, partition: &str, once: bool, sizes: &Sizes) -> Counted {
    let per_round = (sizes.round as usize / ranks / ROW_BYTES).max(1);
    let messages = |rows: usize| {
        let of = |bytes: usize| (bytes as u64).div_ceil(sizes.message);
        of(8 * rows) + of(ROW_BYTES * rows)
    };
    let ids = ids("random");
    let mut counted = Counted {
        chunks: IDS.div_ceil(ranks).div_ceil(sizes.lookups) as u64,
        ..Counted::default()
    };
    for chunk in 0..counted.chunks as usize {
        let mut rounds = 0;
        for rank in 0..ranks {
            let mine = &ids[part(IDS, ranks, rank)];
            let at = |chunk: usize| (chunk * sizes.lookups).min(mine.len());
            let lookups = mine[at(chunk)..at(chunk + 1)].iter().map(|&id| id as usize);
            let mut asked: Vec<usize> = lookups.collect();
            let found = asked.len();
            if once {
                asked = asked
                    .into_iter()
                    .collect::<HashSet<_>>()
                    .into_iter()
                    .collect();
            }
            counted.duplicates += (found - asked.len()) as u64;
            for owner in 0..ranks {
                let owned = |&&row: &&usize| owner_of(row, ranks, partition) == owner;
                let rows = asked.iter().filter(owned).count();
                rounds = rounds.max(rows.div_ceil(per_round));
                if owner != rank {
                    let (full, rest) = (rows / per_round, rows % per_round);
                    counted.messages += full as u64 * messages(per_round) + messages(rest);
                    counted.rows += rows as u64;
                }
            }
        }
        counted.rounds += rounds as u64;
    }
    counted
}

/// The part of `count` things that a rank has: as many as the others, or one more.
fn part(count: usize, ranks: usize, rank: usize) -> std::ops::Range<usize> {
    let (each, more) = (count / ranks, count % ranks);
    let start = |rank: usize| rank * each + rank.min(more);
    start(rank)..start(rank + 1)
}

fn owner_of(row: usize, ranks: usize, partition: &str) -> usize {
    match partition {
        "cyclic" => row % ranks,
        _ => (0..ranks)
            .position(|rank| part(ROWS, ranks, rank).contains(&row))
            .expect("an owner"),
    }
}

#[test]
fn a_model_of_many_ranks_is_drawn() {
    let files = Files::new();
    let svg = files.path("model.svg");
    let model = |more: &[&str]| {
        let base = [
            "model",
            "--ranks",
            "16,4096",
            "--rows",
            "1000000000000",
            "--row-bytes",
            "512",
        ];
        let made = Command::new(BINARY)
            .args(base)
            .args(["--ids", "100000000", "--json"])
            .args(more)
            .output()
            .expect("the model runs");
        let lines = succeeds(&made);
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        lines.collect::<Vec<Value>>()
    };
    let plot = svg.display().to_string();
    let uniform = model(&["--plot", &plot]);
    assert!(
        std::fs::read_to_string(&svg)
            .expect("an SVG")
            .contains("<svg")
    );
    let zipf = model(&["--zipf", "1.05"]);
    let off = model(&["--zipf", "1.05", "--dedupe", "off"]);
    // So many rows that hardly one is drawn twice; and by Zipf's law, many.
    let ids = 100_000_000.0;
    let share = |p: &Value| p["duplicates"].as_f64().expect("a number") / ids;
    assert!(share(&uniform[1]) < 0.001 && share(&zipf[0]) > 0.3);
    // All but the 16th or 4096th part of the rows is another rank's.
    for (p, ranks) in off.iter().zip([16.0, 4096.0]) {
        let sent = p["wire"]["id_bytes"].as_f64().expect("a number");
        let expected = 8.0 * ids * (ranks - 1.0) / ranks;
        assert!((sent / expected - 1.0).abs() < 1e-6, "{sent} {expected}");
    }
}
