//! Repeating, and what to make of the times.

use std::time::Instant;

use anyhow::Result;

/// A call and a copy of as many bytes, to be timed against each other.
pub(crate) trait Contest {
    /// How long a batch should take, in seconds, so that starting it does not count.
    const BATCH: f64;
    /// The most repetitions in a batch.
    const MOST: usize;

    /// Calls `repeats` times.
    fn call(&mut self, repeats: usize) -> Result<Time>;
    /// Copies `repeats` times.
    fn copy(&mut self, repeats: usize) -> Result<Time>;
}

/// Seconds that one of a batch of repetitions took.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    /// By the best clock there is.
    pub(crate) seconds: f64,
    /// By the clock on the wall, from submission to the end.
    pub(crate) wall: f64,
    /// Recording the commands.
    pub(crate) encode: f64,
}

/// The times of one case.
#[derive(Default)]
pub(crate) struct Times {
    pub(crate) call: Spread,
    pub(crate) copy: Spread,
    pub(crate) wall: Spread,
    pub(crate) encode: Spread,
}

/// Times in seconds.
#[derive(Default)]
pub(crate) struct Spread(Vec<f64>);

/// Fewer rounds than this say nothing; more than that say nothing more.
const ROUNDS: std::ops::Range<usize> = 3..10_000;

/// Lets both take turns for `seconds`.
pub(crate) fn take_turns<C: Contest>(contest: &mut C, seconds: f64) -> Result<Times> {
    let calls = repeats::<C>(|n| contest.call(n))?;
    let copies = repeats::<C>(|n| contest.copy(n))?;
    let mut times = Times::default();
    let started = Instant::now();
    for round in 0..ROUNDS.end {
        if round >= ROUNDS.start && started.elapsed().as_secs_f64() >= seconds {
            break;
        }
        let time = contest.call(calls)?;
        times.call.0.push(time.seconds);
        times.wall.0.push(time.wall);
        times.encode.0.push(time.encode);
        times.copy.0.push(contest.copy(copies)?.seconds);
    }
    Ok(times)
}

/// Repeats `run` until a device that was idle for so many seconds is at its speed: GPUs lower their clocks while the
/// host prepares a case, and raise them in steps. Once it has not become faster for a while, it is.
pub(crate) fn warm_up(idle: f64, mut run: impl FnMut() -> Result<Time>) -> Result<()> {
    let (steady, most) = (idle.clamp(0.1, 3.0) / 2.0, 6.0);
    let started = Instant::now();
    let (mut best, mut since) = (f64::MAX, 0.0);
    loop {
        let took = run()?.seconds;
        let now = started.elapsed().as_secs_f64();
        if took < 0.97 * best {
            (best, since) = (took, now);
        }
        if now - since > steady || now > most {
            return Ok(());
        }
    }
}

/// How many repetitions make a batch, found by running some.
fn repeats<C: Contest>(mut run: impl FnMut(usize) -> Result<Time>) -> Result<usize> {
    run(1)?;
    let mut repeats = 1;
    while repeats < C::MOST {
        let batch = run(repeats)?.wall * repeats as f64;
        if batch >= C::BATCH {
            break;
        }
        let wanted = repeats as f64 * C::BATCH / batch.max(1e-9);
        repeats = (wanted.ceil() as usize).clamp(repeats + 1, (repeats * 8).min(C::MOST));
    }
    Ok(repeats)
}

/// The times of `run`, repeated for `seconds`.
pub(crate) fn repeat(seconds: f64, mut run: impl FnMut() -> Result<()>) -> Result<Spread> {
    run()?;
    let mut spread = Spread::default();
    let started = Instant::now();
    while spread.len() < ROUNDS.start || started.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        run()?;
        spread.0.push(start.elapsed().as_secs_f64());
    }
    Ok(spread)
}

impl Spread {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// In milliseconds, the time below which `part` of all lie.
    pub(crate) fn quantile(&self, part: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let at = (last as f64 * part).round() as usize;
        sorted.get(at).map_or(0.0, |seconds| seconds * 1e3)
    }

    /// In milliseconds.
    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Steady {
        called: usize,
        copied: usize,
    }

    impl Contest for Steady {
        const BATCH: f64 = 0.01;
        const MOST: usize = 100;

        fn call(&mut self, repeats: usize) -> Result<Time> {
            self.called += repeats;
            Ok(Time {
                seconds: 0.002,
                wall: 0.003,
                encode: 0.001,
            })
        }

        fn copy(&mut self, repeats: usize) -> Result<Time> {
            self.copied += repeats;
            Ok(Time {
                seconds: 1e-9,
                wall: 1e-9,
                encode: 0.0,
            })
        }
    }

    #[test]
    fn short_ones_are_repeated_and_long_ones_are_not() {
        let mut contest = Steady {
            called: 0,
            copied: 0,
        };
        assert_eq!(repeats::<Steady>(|n| contest.call(n)).unwrap(), 4);
        assert_eq!(repeats::<Steady>(|n| contest.copy(n)).unwrap(), 100);
        let times = take_turns(&mut contest, 0.0).unwrap();
        assert_eq!((times.call.len(), times.copy.len()), (3, 3));
        assert_eq!((times.call.median(), times.wall.median()), (2.0, 3.0));
    }

    #[test]
    fn quantiles_are_of_the_sorted_times() {
        let spread = Spread(vec![0.005, 0.001, 0.003, 0.002, 0.004]);
        assert_eq!(spread.median(), 3.0);
        assert_eq!((spread.quantile(0.0), spread.quantile(1.0)), (1.0, 5.0));
    }
}
