//! `wgpu-gather explain`: how a gather is executed, and why.

pub(crate) mod args;
mod cost;
mod json;
mod place;
mod quantized;

use std::fmt::Write;

use anyhow::{Context, Result, bail, ensure};
use wgpu_gather::Explanation;

use crate::answer::Answer;
use crate::bench::case::Scaled;
use crate::bench::result::Figures;
use crate::bench::run_gpu::Gpu;
use crate::bench::unusable;
use crate::explain::args::ExplainArgs;
use crate::explain::cost::Cost;
use crate::explain::place::Place;
use crate::explain::quantized::Decoded;
use crate::rules;

/// What a gather took.
struct Measured {
    adapter: String,
    figures: Figures,
}

impl Measured {
    /// How fast the gather was in parts of what `cost` gives as the limit.
    fn of_limit(&self, cost: &Cost) -> Option<f64> {
        let limit = cost.bandwidth? / 1e9;
        Some(self.figures.gb_per_s / limit)
    }
}

/// Explains a gather; measures it, if that is asked for.
pub(crate) fn run(args: &ExplainArgs) -> Result<Answer> {
    let case = args.shape.case()?.context("--op is missing")?;
    let scaled = case.scaled(1, &rules::resolve(&args.rules, case.dtype)?)?;
    if args.measure
        && let Some(reason) = unusable(&scaled)
    {
        bail!(reason);
    }
    ensure!(
        scaled.case.format.is_none() || args.max_gpu_memory.is_none(),
        "--max-gpu-memory is for params that are not quantised"
    );
    let place = Place::new(args)?;
    let mut explanation = Explanation::new(&scaled.plan, &place.limits)?;
    if let Some(most) = args.max_gpu_memory {
        explanation = explanation.with_memory(most.0);
    }
    let measured = match args.measure {
        true => Some(measure(&scaled, args)?),
        false => None,
    };
    let copy = measured.as_ref().map(|m| m.figures.copy_gb_per_s);
    let bandwidth = args.bandwidth.or(copy).map(|b| b * 1e9);
    let cost = Cost::new(&scaled, bandwidth)?;
    let decoded = Decoded::of(&scaled);
    if args.json {
        let mut value = json::of(&scaled, &place, &explanation, &cost, measured.as_ref())?;
        if let Some(decoded) = &decoded {
            decoded.amend(&mut value);
        }
        return Ok(Answer::json(&value, true));
    }
    let mut text = match &decoded {
        // Loops and kernel would be those of a gather from the decoded table.
        Some(decoded) => format!("for {}\n\n{decoded}{cost}", place.label),
        None => format!("for {}\n\n{explanation}{cost}", place.label),
    };
    if let Some(measured) = &measured {
        measured_text(&mut text, measured, &cost)?;
    }
    Ok(Answer::good(text))
}

fn measure(scaled: &Scaled, args: &ExplainArgs) -> Result<Measured> {
    let gpu = Gpu::open(args.adapter.as_deref(), false)?;
    Ok(Measured {
        adapter: gpu.place().label(),
        figures: gpu.run(scaled, args.seconds)?,
    })
}

fn measured_text(text: &mut String, measured: &Measured, cost: &Cost) -> Result<()> {
    let figures = &measured.figures;
    writeln!(
        text,
        "measured    {} ms on {}",
        figures.median_ms, measured.adapter
    )?;
    writeln!(
        text,
        "            {:.1} GB/s, {:.2} of a copy of as many bytes in the same run ({:.1} GB/s)",
        figures.gb_per_s, figures.fraction, figures.copy_gb_per_s
    )?;
    if let Some(fraction) = measured.of_limit(cost) {
        writeln!(text, "            {fraction:.2} of the limit")?;
    }
    Ok(())
}
