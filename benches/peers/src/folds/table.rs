//! The best peer of each case, for each processor that has been measured.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::cases::CASES;
use crate::line::{OURS, Run};

/// A line of the files of folds, whoever wrote it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Run {
        run: Box<Run>,
    },
    Time {
        case: String,
        who: String,
        call: String,
        ratio: f64,
    },
    Not {
        #[allow(dead_code, reason = "says what the line is")]
        not_offered: String,
    },
}

/// The best peer so far.
struct Best {
    ratio: f64,
    who: String,
    call: String,
}

/// Prints a table of `files`: the time of the best peer, divided by ours.
pub(crate) fn print(files: &[PathBuf]) -> Result<()> {
    // For each place, what it is and the cases that ran there.
    let mut places: BTreeMap<String, BTreeMap<String, Best>> = BTreeMap::new();
    for path in files {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut place = None;
        for line in text.lines() {
            match serde_json::from_str(line).with_context(|| path.display().to_string())? {
                Line::Run { run } => place = Some(run.place()),
                Line::Time {
                    case,
                    who,
                    call,
                    ratio,
                } if who != OURS && who != "copy" => {
                    let place = place.as_ref().context("results before their run")?;
                    let of_place = places.entry(place.clone()).or_default();
                    let is_best = of_place.get(&case).is_none_or(|best| ratio < best.ratio);
                    if is_best {
                        of_place.insert(case, Best { ratio, who, call });
                    }
                }
                Line::Time { .. } | Line::Not { .. } => {}
            }
        }
    }
    let mut text = String::new();
    for (place, cases) in &places {
        writeln!(text, "{place}: time of the best peer / time of ours\n")?;
        for name in CASES.iter().map(|case| case.name()) {
            if let Some(Best { ratio, who, call }) = cases.get(&name) {
                writeln!(text, "{ratio:8.2}  {name}: {who}, {call}")?;
            }
        }
        let ratios: Vec<f64> = cases.values().map(|best| best.ratio).collect();
        let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
        let mean = (logs / ratios.len() as f64).exp();
        let below = ratios.iter().filter(|&&ratio| ratio < 1.0).count();
        writeln!(
            text,
            "{mean:8.2}  geometric mean; {below} of {} below 1\n",
            ratios.len()
        )?;
    }
    print!("{text}");
    Ok(())
}
