//! Which rows the calls of the traffic table look up.

use std::fmt;

use gather_conformance::SplitMix;

/// A pattern of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    Random,
    Sorted,
    /// A few rows take most lookups: row k about 1 / k of them.
    Zipf,
    Same,
}

impl Pattern {
    pub(crate) const ALL: [Pattern; 4] = [
        Pattern::Random,
        Pattern::Sorted,
        Pattern::Zipf,
        Pattern::Same,
    ];

    /// So many ids below `rows`. `(run, step)`: so many lookups go into the same part of params, so far apart;
    /// those are what is sorted.
    pub(crate) fn ids(self, count: usize, rows: usize, (run, step): (usize, usize)) -> Vec<u32> {
        let mut random = SplitMix(33);
        let mut below = |n: usize| (random.draw() % n as u64) as usize;
        let mut ids: Vec<u32> = match self {
            Pattern::Random | Pattern::Sorted => (0..count).map(|_| below(rows) as u32).collect(),
            // The odds of row k are 1 / k where its rank is below a number whose logarithm is drawn evenly.
            Pattern::Zipf => {
                let bits = rows.ilog2() as usize + 1;
                let mut draw = || {
                    let rank = 1 << (1 + below(bits));
                    below(rank).min(rows - 1)
                };
                (0..count).map(|_| draw() as u32).collect()
            }
            Pattern::Same => vec![(rows / 2) as u32; count],
        };
        if self == Pattern::Sorted {
            for part in ids.chunks_mut(run * step) {
                for first in 0..step {
                    let places = || (first..part.len()).step_by(step);
                    let mut sorted: Vec<u32> = places().map(|n| part[n]).collect();
                    sorted.sort_unstable();
                    places().zip(sorted).for_each(|(n, id)| part[n] = id);
                }
            }
        }
        ids
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pattern::Random => "random",
            Pattern::Sorted => "sorted",
            Pattern::Zipf => "zipf",
            Pattern::Same => "same",
        })
    }
}
