//! What steps cost, fitted to measured runs: seconds for each message, byte and lookup.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::Prediction;
use crate::report::Wire;

/// What `gather --json` prints, as far as it is needed.
#[derive(Deserialize)]
struct Run {
    ranks: u64,
    lookups: u64,
    row_bytes: u64,
    chunks: u64,
    rounds: u64,
    wire: Wire,
    seconds: RunSeconds,
}

#[derive(Deserialize)]
struct RunSeconds {
    plan: f64,
    agree: f64,
    ids: f64,
    gather: f64,
    rows: f64,
    assemble: f64,
}

/// Seconds for each unit of work on a rank. An exchange takes a latency for each message and a time for
/// each byte that the busiest rank sends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cost {
    lookup: f64,
    /// For each agreement and doubling of the ranks.
    agreement: f64,
    message: f64,
    byte: f64,
    gathered_byte: f64,
    assembled_byte: f64,
}

/// Agreements and counts in a chunk, besides one in each round.
const AGREEMENTS: u64 = 7;

impl Cost {
    /// The costs that fit the runs best: one JSON object in each line.
    pub(super) fn fit(lines: &str) -> Result<Cost> {
        let runs = lines.lines().filter(|line| !line.trim().is_empty());
        let runs = runs.enumerate().map(|(n, line)| {
            let run: Run = serde_json::from_str(line)
                .with_context(|| format!("line {}: not what gather --json prints", n + 1))?;
            ensure!(
                run.ranks > 1,
                "line {}: a run of 1 rank exchanges nothing (allowed: 2 or more)",
                n + 1
            );
            Ok(run)
        });
        let runs: Vec<Run> = runs.collect::<Result<_>>()?;
        ensure!(!runs.is_empty(), "no run of gather --json");
        let rate = |seconds: fn(&RunSeconds) -> f64, units: fn(&Run) -> f64| {
            let all: f64 = runs.iter().map(|run| seconds(&run.seconds)).sum();
            all / runs.iter().map(units).sum::<f64>().max(1.0)
        };
        let mut points = Vec::new();
        for Run { wire, seconds, .. } in &runs {
            // As many messages ask as answer, about.
            let messages = wire.busiest_messages as f64 / 2.0;
            let id_bytes = wire.busiest_bytes - wire.busiest_row_bytes;
            points.push([messages, id_bytes as f64, seconds.ids]);
            points.push([messages, wire.busiest_row_bytes as f64, seconds.rows]);
        }
        let (message, byte) = line_through(&points);
        Ok(Cost {
            lookup: rate(|s| s.plan, |run| run.lookups as f64 / run.ranks as f64),
            agreement: rate(
                |s| s.agree,
                |run| agreements(run.chunks, run.rounds, run.ranks),
            ),
            message,
            byte,
            gathered_byte: rate(|s| s.gather, |run| run.wire.busiest_row_bytes as f64),
            assembled_byte: rate(
                |s| s.assemble,
                |run| run.lookups as f64 / run.ranks as f64 * run.row_bytes as f64,
            ),
        })
    }

    /// The time of each step, and of all.
    pub(super) fn steps(&self, p: &Prediction) -> [(&'static str, f64); 6] {
        let lookups = p.lookups as f64 / p.ranks as f64;
        let wire = &p.wire;
        let exchange =
            self.message * wire.busiest_messages as f64 + self.byte * wire.busiest_bytes as f64;
        let mut steps = [
            ("plan", self.lookup * lookups),
            (
                "agree",
                self.agreement * agreements(p.chunks, p.rounds, p.ranks),
            ),
            ("exchange", exchange),
            ("gather", self.gathered_byte * wire.busiest_row_bytes as f64),
            (
                "assemble",
                self.assembled_byte * lookups * p.row_bytes as f64,
            ),
            ("all", 0.0),
        ];
        steps[5].1 = steps.iter().map(|(_, seconds)| seconds).sum();
        steps
    }
}

/// How often ranks wait for each other, times the doublings that make so many ranks.
fn agreements(chunks: u64, rounds: u64, ranks: u64) -> f64 {
    (chunks * AGREEMENTS + rounds) as f64 * (ranks as f64).log2()
}

/// The factors `a` and `b`, neither negative, for which `a * x + b * y` is nearest to `t`: for points
/// `[x, y, t]`, by least squares.
fn line_through(points: &[[f64; 3]]) -> (f64, f64) {
    let sum = |f: fn(&[f64; 3]) -> f64| points.iter().map(f).sum::<f64>();
    let (xx, xy, yy) = (
        sum(|p| p[0] * p[0]),
        sum(|p| p[0] * p[1]),
        sum(|p| p[1] * p[1]),
    );
    let (xt, yt) = (sum(|p| p[0] * p[2]), sum(|p| p[1] * p[2]));
    let determinant = xx * yy - xy * xy;
    let (a, b) = (
        (xt * yy - yt * xy) / determinant,
        (yt * xx - xt * xy) / determinant,
    );
    match (a >= 0.0 && a.is_finite(), b >= 0.0 && b.is_finite()) {
        (true, true) => (a, b),
        (false, _) => (0.0, yt / yy.max(f64::MIN_POSITIVE)),
        (true, false) => (xt / xx.max(f64::MIN_POSITIVE), 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_and_a_bandwidth_are_found() {
        let (latency, byte) = (2e-6, 1e-10);
        let point = |x: f64, y: f64| [x, y, latency * x + byte * y];
        let (a, b) = line_through(&[point(10.0, 1e6), point(10.0, 1e9), point(500.0, 1e7)]);
        assert!((a / latency - 1.0).abs() < 1e-6 && (b / byte - 1.0).abs() < 1e-6);
        // A latency below zero would fit best, and cannot be.
        let (a, b) = line_through(&[[1.0, 10.0, 5.0], [1.0, 20.0, 20.0]]);
        assert!(a == 0.0 && b > 0.0);
    }

    #[test]
    fn a_run_alone_cannot_be_fitted() {
        assert!(Cost::fit("").is_err());
        let error = Cost::fit("{}").unwrap_err();
        assert!(error.to_string().contains("line 1"), "{error:#}");
    }
}
