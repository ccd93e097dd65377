//! What each pipeline did in all calls, as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::recorder::Recorded;
use crate::sectors::{Sectors, WAVES, sectors};

/// The sums of a pipeline.
#[derive(Debug, Clone, Default)]
struct Sums {
    dispatches: u64,
    /// The most of an invocation.
    steps: u32,
    /// Of loads and stores, for each kind of wave.
    waves: [[Sectors; 2]; WAVES.len()],
}

/// The sums of all pipelines that ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures(BTreeMap<String, Sums>);

const HEAD: &str = "pipeline;dispatches;most steps;\
    loads: bytes asked for by waves of 32;in sectors;of 64;in sectors;\
    stores: bytes asked for by waves of 32;in sectors;of 64;in sectors";

impl Figures {
    pub(crate) fn add(&mut self, recorded: &Recorded) {
        let Some(most) = recorded.most else {
            return; // it had no workgroup
        };
        let name = recorded.dispatch.pipeline.clone();
        let sums = self.0.entry(name).or_default();
        sums.dispatches += 1;
        sums.steps = sums.steps.max(most.steps);
        for (wave, sum) in WAVES.into_iter().zip(&mut sums.waves) {
            let of_wave = sectors(recorded, wave);
            sum.iter_mut().zip(of_wave).for_each(|(sum, n)| *sum += n);
        }
    }

    /// Adds those of other calls.
    pub(crate) fn merge(&mut self, other: Figures) {
        for (name, from) in other.0 {
            let to = self.0.entry(name).or_default();
            to.dispatches += from.dispatches;
            to.steps = to.steps.max(from.steps);
            let to = to.waves.iter_mut().flatten();
            to.zip(from.waves.into_iter().flatten())
                .for_each(|(to, from)| *to += from);
        }
    }

    /// The names of the pipelines that ran.
    pub(crate) fn pipelines(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// A line for each pipeline.
    pub(crate) fn table(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for (name, sums) in &self.0 {
            write!(text, "{name};{};{}", sums.dispatches, sums.steps).expect("a string");
            for kind in 0..2 {
                for of_wave in &sums.waves {
                    let Sectors { asked, sectors } = of_wave[kind];
                    write!(text, ";{asked};{sectors}").expect("a string");
                }
            }
            text.push('\n');
        }
        text
    }
}

/// The lines that differ, with those of `before` marked `-` and those of `now` marked `+`.
pub(crate) fn differences(before: &str, now: &str) -> Vec<String> {
    let missing = |from: &str, of: &str, sign: &str| -> Vec<String> {
        let lines = from.lines().filter(|line| !of.lines().any(|l| l == *line));
        lines.map(|line| format!("{sign} {line}")).collect()
    };
    let mut all = missing(before, now, "-");
    all.extend(missing(now, before, "+"));
    all
}
