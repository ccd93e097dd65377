//! Random ids: how many different rows they select, in the mean.
//!
//! Of `n` ids, each of which is row `r` with the probability `p`, at least one is row `r` with the
//! probability `1 - (1 - p)^n`. The sum of that over the rows of an owner is how many of its rows are
//! asked for. By Zipf's law `p` is in proportion to `1 / (r + 1)^s`: the most popular rows are summed one
//! by one, the others in stretches along which `p` hardly changes.

use gather_mpi::messages_of;

use super::Prediction;
use crate::args::{ModelArgs, PartitionArg, Switch};
use crate::parts::Parts;
use crate::report::Wire;

/// Rows that are summed one by one.
const HEAD: u64 = 1 << 16;

/// How much longer a stretch of rows ends than it begins.
const STRETCH: f64 = 1.01;

/// How popular rows are.
struct Popularity {
    rows: u64,
    exponent: f64,
    /// What the weights of all rows add up to.
    sum: f64,
}

impl Popularity {
    fn new(rows: u64, exponent: f64) -> Self {
        let mut popularity = Popularity {
            rows,
            exponent,
            sum: 1.0,
        };
        popularity.sum = popularity.over(0, rows, |weight| weight);
        popularity
    }

    /// The sum of `f` of the probability over the rows from `start` to `end`.
    fn over(&self, start: u64, end: u64, f: impl Fn(f64) -> f64) -> f64 {
        let p = |row: f64| (row + 1.0).powf(-self.exponent) / self.sum;
        if self.exponent == 0.0 {
            return (end - start) as f64 * f(p(0.0));
        }
        let head = start.min(HEAD)..end.min(HEAD);
        let mut sum: f64 = head.map(|row| f(p(row as f64))).sum();
        let (mut at, end) = (start.max(HEAD) as f64, end as f64);
        while at < end {
            let next = (at * STRETCH).min(end);
            sum += (next - at) * f(p(0.5 * (at + next) - 0.5));
            at = next;
        }
        sum
    }

    /// How many rows of each owner `n` ids ask for, in the mean.
    fn asked(&self, n: f64, partition: PartitionArg, ranks: u64, dedupe: bool) -> Vec<f64> {
        let f = |p: f64| match dedupe {
            true => -(n * (-p).ln_1p()).exp_m1(),
            false => n * p,
        };
        match partition {
            PartitionArg::Block => {
                let parts = Parts {
                    lookups: self.rows,
                    ranks,
                    chunk: 1,
                };
                let of_rank = |rank| parts.of_rank(rank);
                let asked = |rank| self.over(of_rank(rank).start, of_rank(rank).end, f);
                (0..ranks).map(asked).collect()
            }
            PartitionArg::Cyclic => {
                let head = self.rows.min(HEAD);
                let each = self.over(head, self.rows, f) / ranks as f64;
                let mut asked = vec![each; ranks as usize];
                for row in 0..head {
                    asked[(row % ranks) as usize] += self.over(row, row + 1, f);
                }
                asked
            }
        }
    }
}

/// What goes from rank to rank, in the mean.
pub(super) fn predict(args: &ModelArgs, ranks: u64) -> Prediction {
    let popularity = Popularity::new(args.rows, args.zipf.unwrap_or(0.0));
    let lookups = args.ids.unwrap_or_default();
    let parts = Parts::new(lookups, ranks, args.row_bytes, args.exchange.chunk.0);
    let options = args.exchange.options();
    let per_round = options.rows_per_round(args.row_bytes as usize, ranks as usize) as u64;
    let dedupe = args.exchange.dedupe == Switch::On;
    let each = lookups as f64 / ranks as f64;
    let full = (each / parts.chunk as f64).floor();
    let mut sums = Sums::new(ranks);
    let (mut rounds, mut asked_in_all) = (0.0, 0.0);
    for (times, n) in [
        (full, parts.chunk as f64),
        (1.0, each - full * parts.chunk as f64),
    ] {
        if times == 0.0 || n <= 0.0 {
            continue;
        }
        let asked = popularity.asked(n, args.exchange.partition, ranks, dedupe);
        let most = asked.iter().copied().fold(0.0, f64::max);
        rounds += times * (most / per_round as f64).ceil();
        asked_in_all += times * ranks as f64 * asked.iter().sum::<f64>();
        sums.add(args, times, &asked, per_round, options.message_bytes as u64);
    }
    Prediction {
        ranks,
        wire: sums.wire(),
        // One rank asks nobody, and sorts nothing.
        duplicates: match ranks {
            1 => 0,
            _ => (lookups as f64 - asked_in_all).max(0.0).round() as u64,
        },
        lookups,
        row_bytes: args.row_bytes,
        chunks: parts.chunks(),
        rounds: rounds as u64,
    }
}

/// What each rank sends, in the mean.
struct Sums {
    messages: Vec<f64>,
    id_bytes: Vec<f64>,
    row_bytes: Vec<f64>,
}

impl Sums {
    fn new(ranks: u64) -> Self {
        let zeros = vec![0.0; ranks as usize];
        Sums {
            messages: zeros.clone(),
            id_bytes: zeros.clone(),
            row_bytes: zeros,
        }
    }

    /// Adds a chunk, `times` over, in which every rank asks each owner for `asked` rows.
    fn add(
        &mut self,
        args: &ModelArgs,
        times: f64,
        asked: &[f64],
        per_round: u64,
        message_bytes: u64,
    ) {
        let others = asked.len() as f64 - 1.0;
        let messages: Vec<(f64, f64)> = asked
            .iter()
            .map(|&rows| {
                let count = (rows.round() as u64).max(1);
                let (asking, answering) =
                    messages_of(count, args.row_bytes, per_round, message_bytes);
                // Where hardly a row is asked for, there is often no message.
                let is_one = -(-rows).exp_m1();
                (
                    asking.messages as f64 * is_one,
                    answering.messages as f64 * is_one,
                )
            })
            .collect();
        let all: f64 = asked.iter().sum();
        let all_asking: f64 = messages.iter().map(|&(asking, _)| asking).sum();
        for (rank, (&rows, &(asking, answering))) in asked.iter().zip(&messages).enumerate() {
            self.messages[rank] += times * (all_asking - asking + others * answering);
            self.id_bytes[rank] += times * 8.0 * (all - rows);
            self.row_bytes[rank] += times * others * rows * args.row_bytes as f64;
        }
    }

    fn wire(&self) -> Wire {
        let sum = |of: &[f64]| of.iter().sum::<f64>().round() as u64;
        let most = |of: &mut dyn Iterator<Item = f64>| of.fold(0.0, f64::max).round() as u64;
        let bytes = self.id_bytes.iter().zip(&self.row_bytes);
        Wire {
            all: gather_mpi::Messages {
                messages: sum(&self.messages),
                id_bytes: sum(&self.id_bytes),
                row_bytes: sum(&self.row_bytes),
            },
            busiest_messages: most(&mut self.messages.iter().copied()),
            busiest_bytes: most(&mut bytes.map(|(ids, rows)| ids + rows)),
            busiest_row_bytes: most(&mut self.row_bytes.iter().copied()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against what 3 ids can do on 2 rows, one of which is twice as popular.
    #[test]
    fn expected_rows_by_hand() {
        let popularity = Popularity::new(2, 1.0);
        let asked = popularity.asked(3.0, PartitionArg::Cyclic, 2, true);
        let expected = [1.0 - (1.0f64 / 3.0).powi(3), 1.0 - (2.0f64 / 3.0).powi(3)];
        for (got, expected) in asked.iter().zip(expected) {
            assert!((got - expected).abs() < 1e-12, "{asked:?}");
        }
        let asked = popularity.asked(3.0, PartitionArg::Block, 2, false);
        assert!(
            (asked[0] - 2.0).abs() < 1e-12 && (asked[1] - 1.0).abs() < 1e-12,
            "{asked:?}"
        );
    }

    /// Stretches of rows give what the rows one by one give, on both partitions.
    #[test]
    fn the_tail_is_summed_as_its_rows_are() {
        let (rows, exponent, n) = (300_000u64, 1.05, 100_000.0);
        let popularity = Popularity::new(rows, exponent);
        let weights: Vec<f64> = (1..=rows).map(|r| (r as f64).powf(-exponent)).collect();
        let sum: f64 = weights.iter().sum();
        let exact: f64 = weights.iter().map(|w| 1.0 - (1.0 - w / sum).powf(n)).sum();
        for partition in [PartitionArg::Block, PartitionArg::Cyclic] {
            let got: f64 = popularity.asked(n, partition, 7, true).iter().sum();
            assert!((got / exact - 1.0).abs() < 1e-4, "{got} {exact}");
        }
    }
}
