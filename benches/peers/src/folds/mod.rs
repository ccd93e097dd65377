//! Scatters and pooled lookups: the folds.

mod calls;
mod cpu;
mod gpu;
mod serve;

use std::io::Write;

use anyhow::{Result, bail};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;
use wgpu_gather::{DType, Reduce};

pub(crate) use calls::Call;
pub(crate) use serve::serve;

use crate::args::FoldsArgs;
use crate::bench;
use crate::bench::pattern::Pattern;
use crate::bench::verb::Verb;
use crate::gather::{Gather, Sets};
use crate::line::{OURS, Run, digits};
use crate::race::race;
use crate::run::versions_of;
use crate::task::SETS;

/// What is folded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `rows[ids[n]] += updates[n]`, on a copy of the rows.
    ScatterAdd,
    /// The same in the rows themselves, again and again.
    AddInPlace,
    /// The sums of bags of this many rows.
    Bags(usize),
}

/// A case of the command; ids are spread evenly, or in order.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) ids: usize,
    sorted: bool,
}

/// The lookups of the cases that race: what is larger takes peers too long.
const LOOKUPS: usize = 32_768;

/// The folds of the command's cases that every peer has a call for.
pub(crate) fn cases() -> Vec<Case> {
    bench::cases::all().iter().filter_map(Case::of).collect()
}

impl Case {
    /// A sum of f32 at its full size, of random or sorted ids.
    fn of(case: &bench::case::Case) -> Option<Self> {
        let kind = match (case.verb, &case.indices[..]) {
            (Verb::Scatter(Reduce::Add), _) => Kind::ScatterAdd,
            (Verb::ScatterInto(Reduce::Add), _) => Kind::AddInPlace,
            (Verb::SumBags, &[_, each]) => Kind::Bags(each),
            _ => return None,
        };
        let &[rows, columns] = &case.params[..] else {
            return None;
        };
        let ids = case.indices.iter().product();
        let known = [Pattern::Random, Pattern::Sorted].contains(&case.pattern);
        let plain = case.dtype == DType::F32 && case.format.is_none();
        (known && plain && ids == LOOKUPS).then(|| Case {
            name: case.name.clone(),
            kind,
            rows,
            columns,
            ids,
            sorted: case.pattern == Pattern::Sorted,
        })
    }
}

/// A case with its tensors: numbers that are whole, so that their sums are the same in any order.
pub(crate) struct Task {
    pub(crate) case: Case,
    pub(crate) rows: Vec<f32>,
    pub(crate) ids: [Vec<i32>; SETS],
    /// Of a scatter.
    pub(crate) updates: Vec<f32>,
}

impl Task {
    pub(crate) fn new(case: Case) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut floats = |count: usize| -> Vec<f32> {
            (0..count)
                .map(|_| f32::from(random.random_range(-8i8..8)))
                .collect()
        };
        let rows = floats(case.rows * case.columns);
        let updates = match case.kind {
            Kind::ScatterAdd | Kind::AddInPlace => floats(case.ids * case.columns),
            Kind::Bags(_) => Vec::new(),
        };
        let mut set = || -> Vec<i32> {
            let ids = (0..case.ids).map(|_| random.random_range(0..case.rows as i32));
            let mut ids: Vec<i32> = ids.collect();
            if case.sorted {
                ids.sort_unstable();
            }
            ids
        };
        let ids = [set(), set(), set()];
        Task {
            case,
            rows,
            ids,
            updates,
        }
    }

    /// Bytes that have to be read and written: rows that are read, and those that are written.
    fn bytes(&self) -> u64 {
        let row = self.case.columns as u64 * 4;
        let ids = self.case.ids as u64 * (row + 4);
        ids + row
            * match self.case.kind {
                // The copy reads and writes the base; what the sums read and write of it is beside that.
                // In place, they do at most as much.
                Kind::ScatterAdd | Kind::AddInPlace => 2 * self.case.rows as u64,
                Kind::Bags(each) => (self.case.ids / each) as u64,
            }
    }

    /// The shape of the ids.
    pub(crate) fn ids_shape(&self) -> Vec<usize> {
        match self.case.kind {
            Kind::ScatterAdd | Kind::AddInPlace => vec![self.case.ids],
            Kind::Bags(each) => vec![self.case.ids / each, each],
        }
    }
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
    for case in cases() {
        let name = case.name.clone();
        let task = Task::new(case);
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
