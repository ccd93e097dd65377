//! `wgpu-gather explain`: how a gather is executed, and why.

pub(crate) mod args;
mod cost;
mod json;
mod measured;
mod place;
mod quantized;

use anyhow::{Context, Result, bail, ensure};
use wgpu_gather::Explanation;

use crate::answer::Answer;
use crate::bench::unusable;
use crate::explain::args::ExplainArgs;
use crate::explain::cost::Cost;
use crate::explain::measured::Measured;
use crate::explain::place::Place;
use crate::explain::quantized::Decoded;
use crate::rules;

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
        true => Some(Measured::new(&scaled, args)?),
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
        text += &measured.text(&cost);
    }
    Ok(Answer::good(text))
}
