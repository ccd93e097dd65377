//! Cases on the CPU.

use std::time::Instant;

use anyhow::{Result, bail};
use rayon::prelude::*;
use wgpu_gather::{AnyTensor, Executor, Role};

use crate::bench::case::Scaled;
use crate::bench::host::Host;
use crate::bench::inputs::{Inputs, memory};
use crate::bench::result::{Figures, GpuFigures, Place};
use crate::bench::sample;
use crate::bench::timing::{Contest, Time, take_turns};
use crate::bench::verb::Verb;

/// What is in a byte of the output before the call.
pub(crate) const POISON: u8 = 0xa5;

/// Below this many bytes one thread copies; the CPU path has the same limit.
const CHUNK: usize = 256 << 10;

/// The CPU path or the reference.
pub(crate) struct Cpu {
    executor: Executor,
}

impl Cpu {
    pub(crate) fn new(executor: Executor) -> Self {
        Cpu { executor }
    }

    fn threads(&self) -> usize {
        match self.executor {
            Executor::Reference => 1,
            _ => Executor::cpu_threads(),
        }
    }

    pub(crate) fn place(&self) -> Place {
        let name = match self.executor {
            Executor::Reference => "reference",
            _ => "cpu",
        };
        Place {
            backend: name.to_owned(),
            adapter: None,
            driver: None,
            software_adapter: false,
            threads: Some(self.threads()),
            clock: "wall".to_owned(),
        }
    }

    /// Checks and times a case.
    pub(crate) fn run(&self, scaled: &Scaled, seconds: f64) -> Result<Figures> {
        let inputs = Inputs::new(scaled)?;
        let half = (inputs.traffic.total() as usize).div_ceil(2);
        let mut turns = Turns {
            executor: &self.executor,
            threads: self.threads(),
            host: Host::new(scaled, &inputs)?,
            output: destination(scaled, &inputs)?,
            made: None,
            from: poisoned(half)?,
            to: poisoned(half)?,
        };
        turns.call(1)?;
        let made = turns.made.take();
        let output = made
            .as_ref()
            .map_or(turns.output.as_slice(), AnyTensor::bytes);
        for part in sample::parts(scaled, &inputs)? {
            if let Some(difference) = part.difference(&output[part.range.clone()]) {
                bail!("wrong: {difference}");
            }
        }
        let times = take_turns(&mut turns, seconds)?;
        let gpu = GpuFigures::default();
        Ok(Figures::new(scaled, &inputs.traffic, &times, gpu))
    }
}

/// What a call writes to: a copy of params, where it scatters in place.
pub(crate) fn destination(scaled: &Scaled, inputs: &Inputs) -> Result<Vec<u8>> {
    match scaled.case.verb {
        Verb::ScatterInto(_) => {
            let mut copy = memory(Role::Params, inputs.params.len())?;
            copy.copy_from_slice(&inputs.params);
            Ok(copy)
        }
        // Each call makes a tensor.
        Verb::Scatter(_) => Ok(Vec::new()),
        Verb::Gather | Verb::SumBags => poisoned(scaled.output_bytes()),
    }
}

/// Memory that is really there, and full of what no call should leave.
fn poisoned(bytes: usize) -> Result<Vec<u8>> {
    let mut memory = memory(Role::Output, bytes)?;
    memory.fill(POISON);
    Ok(memory)
}

/// The tensors of a call, and memory to copy.
struct Turns<'a> {
    executor: &'a Executor,
    threads: usize,
    host: Host<'a>,
    output: Vec<u8>,
    /// What the last call made.
    made: Option<AnyTensor>,
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Contest for Turns<'_> {
    const BATCH: f64 = 2e-3;
    const MOST: usize = 1000;

    fn call(&mut self, repeats: usize) -> Result<Time> {
        let started = Instant::now();
        for _ in 0..repeats {
            self.made = self.host.run(self.executor, &mut self.output)?;
        }
        Ok(time(started, repeats))
    }

    fn copy(&mut self, repeats: usize) -> Result<Time> {
        let started = Instant::now();
        for _ in 0..repeats {
            let chunk = self.to.len().div_ceil(self.threads).max(CHUNK);
            if chunk >= self.to.len() {
                self.to.copy_from_slice(&self.from);
            } else {
                let chunks = self
                    .to
                    .par_chunks_mut(chunk)
                    .zip(self.from.par_chunks(chunk));
                chunks.for_each(|(to, from)| to.copy_from_slice(from));
            }
            // Not a copy that nobody reads.
            std::hint::black_box(&mut self.to);
        }
        Ok(time(started, repeats))
    }
}

fn time(started: Instant, repeats: usize) -> Time {
    let seconds = started.elapsed().as_secs_f64() / repeats as f64;
    Time {
        seconds,
        wall: seconds,
        encode: 0.0,
    }
}
