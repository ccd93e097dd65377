//! Taking turns, and what to make of the times.

use std::time::Instant;

use anyhow::Result;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::gather::{Gather, Sets};
use crate::task::SETS;

/// How long a turn should take, in seconds, so that starting it does not count.
const TURN: f64 = 4e-3;
/// The most repetitions in a turn.
const MOST: usize = 1000;
/// How long a turn gathers untimed before, in seconds: until the system has spread threads that slept
/// over the cores. It may do so late: see `results/README.md`.
const UNTIMED: f64 = 40e-3;
/// Fewer rounds than this say nothing.
const ROUNDS: usize = 7;

/// The seconds of one gather, of every contestant in every round.
pub(crate) struct Times(Vec<Vec<f64>>);

/// Lets all take turns, for about `seconds` each. Each round has an order of its own.
pub(crate) fn race(contestants: &mut [Box<dyn Gather + '_>], seconds: f64) -> Result<Times> {
    let mut next = vec![0; contestants.len()];
    let mut turn = |contestant: &mut dyn Gather, who: usize, repeats: usize| {
        let first = next[who];
        next[who] = first + repeats;
        let started = Instant::now();
        contestant.run(Sets::new(first, repeats))?;
        Ok::<_, anyhow::Error>(started.elapsed().as_secs_f64() / repeats as f64)
    };
    let mut repeats = Vec::new();
    for (who, contestant) in contestants.iter_mut().enumerate() {
        repeats.push(enough(|n| turn(contestant.as_mut(), who, n))?);
    }
    let mut times = vec![Vec::new(); contestants.len()];
    let until = seconds * contestants.len() as f64;
    let mut order: Vec<usize> = (0..contestants.len()).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let started = Instant::now();
    for round in 0.. {
        if round >= ROUNDS && started.elapsed().as_secs_f64() >= until {
            break;
        }
        order.shuffle(&mut random);
        for &who in &order {
            // What the one before left behind, in caches and in the system's memory, is not to be
            // paid for by the next either.
            let (untimed, timed) = repeats[who];
            turn(contestants[who].as_mut(), who, untimed)?;
            let took = turn(contestants[who].as_mut(), who, timed)?;
            times[who].push(took);
        }
    }
    Ok(Times(times))
}

/// How many repetitions come before a turn, and how many make it; finding it out is the warm-up.
fn enough(mut turn: impl FnMut(usize) -> Result<f64>) -> Result<(usize, usize)> {
    turn(SETS)?;
    let mut repeats = 1;
    loop {
        let one = turn(repeats)?;
        if one * repeats as f64 >= TURN || repeats == MOST {
            let untimed = UNTIMED / one.max(TURN / MOST as f64);
            return Ok(((untimed as usize).max(1), repeats));
        }
        let wanted = (TURN / one.max(1e-9)).ceil() as usize;
        repeats = wanted.clamp(repeats + 1, (repeats * 8).min(MOST));
    }
}

impl Times {
    pub(crate) fn rounds(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// Milliseconds below which `part` of the turns of `who` took.
    pub(crate) fn quantile(&self, who: usize, part: f64) -> f64 {
        1e3 * quantile(self.0[who].clone(), part)
    }

    /// How many times as long `who` took as `ours`: the median of the rounds.
    pub(crate) fn ratio(&self, who: usize, ours: usize) -> f64 {
        let pairs = self.0[who].iter().zip(&self.0[ours]);
        quantile(pairs.map(|(who, ours)| who / ours).collect(), 0.5)
    }
}

fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = (values.len().saturating_sub(1) as f64 * part).round() as usize;
    values.get(at).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes as long as it says, and remembers the sets.
    struct Sleeper(u64, Vec<usize>);

    impl Gather for &mut Sleeper {
        fn call(&self) -> String {
            "sleep".into()
        }

        fn run(&mut self, sets: Sets) -> Result<()> {
            for set in sets {
                self.1.push(set);
                std::thread::sleep(std::time::Duration::from_millis(self.0));
            }
            Ok(())
        }

        fn bytes(&mut self, _: usize) -> Result<Vec<u8>> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn the_slow_one_is_slower_and_sets_take_turns() {
        let (mut fast, mut slow) = (Sleeper(1, Vec::new()), Sleeper(6, Vec::new()));
        let mut both: Vec<Box<dyn Gather + '_>> = vec![Box::new(&mut fast), Box::new(&mut slow)];
        let times = race(&mut both, 0.0).unwrap();
        drop(both);
        assert_eq!(times.rounds(), ROUNDS);
        let ratio = times.ratio(1, 0);
        assert!((2.0..8.0).contains(&ratio), "{ratio}");
        assert!(times.quantile(1, 0.5) >= 6.0);
        assert_eq!(fast.1[SETS..][..4], [0, 1, 2, 0]);
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        let times = Times(vec![vec![1.0, 2.0, 10.0], vec![3.0, 6.0, 10.0]]);
        assert_eq!(times.ratio(1, 0), 3.0);
    }
}
