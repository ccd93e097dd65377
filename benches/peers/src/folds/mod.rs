//! Scatters and pooled lookups: the folds.

mod calls;
mod cases;
mod cpu;
mod gpu;
mod serve;
mod table;
mod task;

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::json;

pub(crate) use calls::Call;
pub(crate) use cases::{Case, Kind};
pub(crate) use serve::serve;
pub(crate) use table::print as print_table;
pub(crate) use task::Task;

use crate::args::FoldsArgs;
use crate::gather::{Gather, Sets};
use crate::line::{OURS, Run, digits};
use crate::race::race;
use crate::run::versions_of;
use crate::task::SETS;

/// The cases whose names have one of these words, or all.
fn cases(words: &[String]) -> Vec<Case> {
    let is_wanted = |case: &&Case| {
        let name = case.name();
        words.is_empty() || words.iter().any(|word| name.contains(word.as_str()))
    };
    cases::CASES.iter().filter(is_wanted).copied().collect()
}

/// Races ours, the peers in Rust and a copy of as many bytes, on the CPU path or on an adapter.
pub(crate) fn run(args: &FoldsArgs) -> Result<()> {
    let device = match &args.adapter {
        Some(adapter) => Some(gpu::Raced::open(adapter)?),
        None => None,
    };
    let mut run = match &device {
        None => Run::new("cpu", versions_of(&["burn-flex", OURS])),
        Some(_) => Run::new("gpu", versions_of(&["burn-wgpu", "wgpu", OURS])),
    };
    if let Some(device) = &device {
        device.describe(&mut run);
    }
    let mut lines = vec![json!({ "run": run })];
    println!("{}", run.adapter.as_deref().unwrap_or("cpu"));
    let mut cases = cases(&args.case);
    // What runs on a device is what burn has there, too.
    cases.retain(|case| device.is_none() || case.is_plain());
    for case in cases {
        let name = case.name();
        let task = Task::new(case)?;
        let mut calls = match &device {
            Some(device) => device.calls(&task)?,
            None => cpu::calls(&task)?,
        };
        same(&mut calls)?;
        let who: Vec<(&str, String)> = calls.iter().map(|c| (c.who, c.call())).collect();
        let mut racing: Vec<Box<dyn Gather + '_>> = Vec::new();
        racing.extend(
            calls
                .into_iter()
                .map(|call| Box::new(call) as Box<dyn Gather>),
        );
        let times = race(&mut racing, args.seconds)?;
        println!("\n{name}: {} bytes", task.bytes());
        for (n, (who, call)) in who.iter().enumerate() {
            let [median, p10, p90] = [0.5, 0.1, 0.9].map(|part| digits(times.quantile(n, part)));
            let ratio = digits(times.ratio(n, 0));
            println!("  {median:>9} ms  {ratio:>6} of ours  {who}: {call}");
            lines.push(json!({
                "case": name, "bytes": task.bytes(), "who": who, "call": call,
                "median_ms": median, "p10_ms": p10, "p90_ms": p90, "ratio": ratio,
                "rounds": times.rounds(),
            }));
        }
    }
    if let Some(path) = &args.out {
        let mut file = std::fs::File::create(path)?;
        for line in &lines {
            writeln!(file, "{line}")?;
        }
    }
    Ok(())
}

/// Nothing wrong gets a time. Copies have no output.
fn same(calls: &mut [Call<'_>]) -> Result<()> {
    let right = calls[0].bytes(SETS - 1)?;
    for call in &mut calls[1..] {
        let got = call.bytes(SETS - 1)?;
        if !got.is_empty() && got != right {
            bail!("{}, {}: not the bytes of ours", call.who, call.call());
        }
    }
    calls[0].run(Sets::new(0, 1))
}
