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
            ("block", "on", &["--chunk", "1GiB"][..]),
            ("block", "off", &["--chunk", "1GiB"]),
            ("cyclic", "on", &["--chunk", "1GiB"]),
            ("cyclic", "off", &["--chunk", "1GiB"]),
            (
                "cyclic",
                "on",
                &["--chunk", "9KiB", "--round", "1000", "--message", "61"],
            ),
        ] {
            let how = [
                &["--partition", partition, "--dedupe", dedupe, "--json"],
                sizes,
            ]
            .concat();
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
            if sizes.len() == 2 {
                let asked = asked_of_others(ranks, partition, dedupe == "on");
                assert_eq!(sum(&run, "row_bytes"), asked * ROW_BYTES as u64, "{how:?}");
                assert_eq!(sum(&run, "id_bytes"), asked * 8, "{how:?}");
            }
        }
    }
}

fn sum(run: &Value, key: &str) -> u64 {
    run["wire"][key].as_u64().expect("a number")
}

/// How many rows all ranks ask others for.
fn asked_of_others(ranks: usize, partition: &str, once: bool) -> u64 {
    let owner = |row: usize| match partition {
        "cyclic" => row % ranks,
        _ => {
            let (each, more) = (ROWS / ranks, ROWS % ranks);
            let ends = (0..ranks).scan(0, |end, rank| {
                *end += each + usize::from(rank < more);
                Some(*end)
            });
            ends.take_while(|&end| end <= row).count()
        }
    };
    let ids = ids("random");
    let (each, more) = (IDS / ranks, IDS % ranks);
    let (mut asked, mut start) = (0, 0);
    for rank in 0..ranks {
        let end = start + each + usize::from(rank < more);
        let rows = ids[start..end].iter().map(|&id| id as usize);
        let others: Vec<usize> = rows.filter(|&row| owner(row) != rank).collect();
        asked += match once {
            true => others.iter().collect::<HashSet<_>>().len(),
            false => others.len(),
        };
        start = end;
    }
    asked as u64
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
