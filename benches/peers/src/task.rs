//! A case at the size at which it runs, with its tensors.

use anyhow::{Result, bail, ensure};
use wgpu_gather::{Op, Rules};

use crate::args::CasesArgs;
use crate::bench::case::{Case, Scaled};
use crate::bench::cases;
use crate::bench::inputs::{Inputs, draw};
use crate::bench::pattern::Pattern;
use crate::bench::verb::Verb;

/// How many different index tensors take turns, so that no row is in a cache only because the
/// last gather read it.
pub(crate) const SETS: usize = 3;
/// The most that a case is divided by to make it fit.
const MOST_SCALE: usize = 1 << 20;

/// A case with its tensors.
pub(crate) struct Task {
    pub(crate) scaled: Scaled,
    pub(crate) params: Vec<u8>,
    pub(crate) indices: [Vec<u8>; SETS],
    /// Why it is smaller than asked for.
    pub(crate) scaled_because: Option<String>,
}

/// How large a case may be.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    /// What its rows are divided by if it fits.
    pub(crate) scale: usize,
    /// Bytes of all tensors together.
    pub(crate) memory: u64,
    /// Bytes of one tensor.
    pub(crate) tensor: u64,
    /// How often params are in memory.
    pub(crate) copies: u64,
}

impl Task {
    /// The largest that fits.
    pub(crate) fn new(case: &Case, size: &Size) -> Result<Self> {
        let (scaled, scaled_because) = fit(case, size)?;
        let inputs = Inputs::new(&scaled)?;
        let more = (1..SETS as u64).map(|set| draw(&scaled, set));
        let mut sets = vec![inputs.indices];
        sets.extend(more.collect::<Result<Vec<_>>>()?);
        let Ok(indices) = sets.try_into() else {
            bail!("not {SETS} sets of indices");
        };
        Ok(Task {
            scaled,
            params: inputs.params,
            indices,
            scaled_because,
        })
    }

    pub(crate) fn case(&self) -> &Case {
        &self.scaled.case
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.scaled.rules
    }

    /// `rows` if an index selects several elements that lie together, else `elements`.
    pub(crate) fn kind(&self) -> &'static str {
        match self.scaled.plan.geometry().slice() {
            0 | 1 => "elements",
            _ => "rows",
        }
    }

    /// Which calls gather this, for libraries without batch dims.
    pub(crate) fn simple(&self) -> Result<Simple, String> {
        let axis = |axis: isize| {
            let rank = self.case().params.len() as isize;
            (if axis < 0 { axis + rank } else { axis }) as usize
        };
        if self.case().bad > 0.0 {
            return Err("no zeros for bad indices".into());
        }
        match self.case().op {
            Op::Gather {
                axis: a,
                batch_dims: 0,
            } => Ok(Simple::Select(axis(a.unwrap_or(0)))),
            Op::GatherNd { batch_dims: 0 } => Ok(Simple::Nd),
            Op::GatherElements { axis: a } => Ok(Simple::Elements(axis(a))),
            _ => Err("no batch dims".into()),
        }
    }
}

/// A gather without batch dims.
#[derive(Clone, Copy)]
pub(crate) enum Simple {
    /// Slices along a dim, indices of rank 1.
    Select(usize),
    /// Slices at tuples of coordinates.
    Nd,
    /// Elements along a dim.
    Elements(usize),
}

/// Divides a case until it fits.
fn fit(case: &Case, size: &Size) -> Result<(Scaled, Option<String>)> {
    let mut because = None;
    let mut scale = size.scale;
    loop {
        let scaled = case.scaled(scale, &Rules::default())?;
        let Some(reason) = too_large(&scaled, size) else {
            return Ok((scaled, because));
        };
        ensure!(scaled.case.shrinks() && scale < MOST_SCALE, reason);
        because.get_or_insert(reason);
        scale *= 2;
    }
}

fn too_large(scaled: &Scaled, size: &Size) -> Option<String> {
    let [params, indices, output] = [
        scaled.params_bytes() as u64,
        scaled.indices_bytes() as u64,
        scaled.output_bytes() as u64,
    ];
    let largest = params.max(indices).max(output);
    if largest > size.tensor {
        return Some(format!(
            "a tensor of {largest} bytes is larger than a binding, {} bytes, which is a limit of \
             the peer",
            size.tensor
        ));
    }
    let all = size.copies * (params + SETS as u64 * indices + output);
    (all > size.memory).then(|| format!("{all} bytes in all, allowed are {}", size.memory))
}

/// What to call a case while it runs.
pub(crate) fn label(case: &Case) -> String {
    format!("{}, {}", case.name, case.pattern.name())
}

/// The cases that the command line asks for: all with the first pattern, then all with the next.
pub(crate) fn select(args: &CasesArgs) -> Result<Vec<Case>> {
    let mut all = cases::all();
    // No peer reads blocks of GGUF; `folds` has the other verbs.
    all.retain(|case| case.format.is_none() && case.verb == Verb::Gather);
    let is_wanted = |case: &Case, wanted: &String| *wanted == case.name || wanted == case.group;
    for wanted in &args.case {
        let known = all.iter().any(|case| is_wanted(case, wanted));
        ensure!(
            known,
            "no case is called \"{wanted}\" (wgpu-gather bench --list prints them)"
        );
    }
    all.retain(|case| args.case.iter().any(|wanted| is_wanted(case, wanted)));
    if args.pattern.is_empty() {
        return Ok(all);
    }
    // The others stand beside one of these, and are there for their pattern.
    all.retain(|case| case.pattern == Pattern::Random);
    let with = |&pattern: &Pattern| {
        all.clone()
            .into_iter()
            .map(move |case| Case { pattern, ..case })
    };
    Ok(args.pattern.iter().flat_map(with).collect())
}
