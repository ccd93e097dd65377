//! `model`: messages, bytes and time of gathers on other numbers of ranks.

mod cost;
mod exact;
mod expected;
mod plot;

use std::fs;

use anyhow::{Context, Result};
use mpi::traits::*;
use serde_json::json;
use wgpu_gather_cli::text;

use crate::args::{ModelArgs, Switch};
use crate::report::Wire;
use cost::Cost;

/// What a number of ranks is to do, however the numbers were found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prediction {
    pub(crate) ranks: u64,
    pub(crate) wire: Wire,
    pub(crate) duplicates: u64,
    pub(crate) lookups: u64,
    pub(crate) row_bytes: u64,
    pub(crate) chunks: u64,
    pub(crate) rounds: u64,
}

/// Predicts as `args` say. Every rank does, if there are several.
pub(crate) fn run(world: &impl Communicator, args: &ModelArgs) -> Result<String> {
    let cost = match &args.fit {
        None => None,
        Some(path) => {
            let named = || format!("--fit {}", path.display());
            let lines = fs::read_to_string(path).with_context(named)?;
            Some(Cost::fit(&lines).with_context(named)?)
        }
    };
    let ids = exact::Ids::read(args)?;
    let predict = |ranks: u64| match &ids {
        Some(ids) => ids.predict(args, ranks),
        None => Ok(expected::predict(args, ranks)),
    };
    let predictions = args.ranks.iter().map(|&ranks| predict(u64::from(ranks)));
    let predictions: Vec<Prediction> = predictions.collect::<Result<_>>()?;
    if let Some(path) = &args.plot
        && world.rank() == 0
    {
        let most = args.ranks.iter().copied().max().unwrap_or(2).max(4);
        let powers = (1..)
            .map(|n| 1u64 << n)
            .take_while(|&n| n <= u64::from(most));
        let points: Vec<Prediction> = powers.map(predict).collect::<Result<_>>()?;
        let named = || format!("--plot {}", path.display());
        fs::write(path, plot::draw(&title(args), &points, cost.as_ref())?).with_context(named)?;
    }
    Ok(match args.json {
        true => lines(&predictions, cost.as_ref()),
        false => format!("{}\n{}", title(args), table(&predictions, cost.as_ref())),
    })
}

/// What is modelled, in a line.
fn title(args: &ModelArgs) -> String {
    let ids = match (args.ids, args.zipf, &args.indices) {
        (_, _, Some(file)) => format!("the ids of {file}"),
        (ids, None, _) => format!("{} uniform ids", text::grouped(ids.unwrap_or(0) as usize)),
        (ids, Some(s), _) => {
            format!(
                "{} ids by Zipf's law ({s})",
                text::grouped(ids.unwrap_or(0) as usize)
            )
        }
    };
    format!(
        "{} rows of {}, {ids}, partition {}, duplicates {}",
        text::grouped(args.rows as usize),
        text::bytes(args.row_bytes),
        args.exchange.partition.name(),
        match args.exchange.dedupe {
            Switch::On => "removed",
            Switch::Off => "sent",
        },
    )
}

fn table(predictions: &[Prediction], cost: Option<&Cost>) -> String {
    let mut headings = vec![
        "ranks ",
        "messages ",
        "ids sent ",
        "rows sent ",
        "busiest rank sends ",
        "duplicates ",
    ];
    if cost.is_some() {
        headings.extend([
            "plan s ",
            "agree s ",
            "exchange s ",
            "gather s ",
            "assemble s ",
            "all s ",
        ]);
    }
    let rows: Vec<Vec<String>> = predictions
        .iter()
        .map(|p| {
            let share = p.duplicates as f64 / p.lookups.max(1) as f64;
            let mut row = vec![
                p.ranks.to_string(),
                text::grouped(p.wire.all.messages as usize),
                text::bytes(p.wire.all.id_bytes),
                text::bytes(p.wire.all.row_bytes),
                text::bytes(p.wire.busiest_bytes),
                format!("{:.2}%", 100.0 * share),
            ];
            if let Some(cost) = cost {
                let steps = cost.steps(p);
                row.extend(steps.iter().map(|(_, seconds)| format!("{seconds:.3}")));
            }
            row
        })
        .collect();
    text::table(&headings, &rows)
}

fn lines(predictions: &[Prediction], cost: Option<&Cost>) -> String {
    let line = |p: &Prediction| {
        let seconds: Option<serde_json::Map<String, serde_json::Value>> = cost.map(|cost| {
            let steps = cost.steps(p).into_iter();
            steps.map(|(name, s)| (name.to_owned(), json!(s))).collect()
        });
        let line = json!({
            "ranks": p.ranks,
            "wire": p.wire,
            "duplicates": p.duplicates,
            "chunks": p.chunks,
            "rounds": p.rounds,
            "seconds": seconds,
        });
        format!("{line}\n")
    };
    predictions.iter().map(line).collect()
}
