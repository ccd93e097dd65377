//! `wgpu-gather explain`: how a call is executed, and why.

pub(crate) mod args;
mod bag;
mod cost;
mod json;
mod measured;
mod place;
mod quantized;
mod scatter;

use std::fmt::Display;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use wgpu_gather::{Explanation, Op};

use crate::answer::Answer;
use crate::bench::unusable;
use crate::explain::args::ExplainArgs;
use crate::explain::cost::Cost;
use crate::explain::measured::Measured;
use crate::explain::place::Place;
use crate::explain::quantized::Decoded;
use crate::rules;

/// Explains a call of the operator, which has only options that mean something to it.
pub(crate) fn run(args: &ExplainArgs) -> Result<Answer> {
    let of_scatters = [("--reduce", args.reduce.is_some())];
    let of_bags = [
        ("--mode", args.mode.is_some()),
        ("--offsets", args.offsets.is_some()),
    ];
    let of_gathers = [
        ("--bandwidth", args.bandwidth.is_some()),
        ("--max-gpu-memory", args.max_gpu_memory.is_some()),
        ("--adapter", args.adapter.is_some()),
        ("--limits", args.limits.is_some()),
        ("--measure", args.measure),
    ];
    let shape = &args.shape;
    let kind = shape.op.context("--op is missing")?;
    match Op::of(kind).map(|op| op.kind()) {
        Some(gather) if gather == kind => {
            refuse("gathers", &of_scatters)?;
            refuse("gathers", &of_bags)?;
            self::gather(args)
        }
        Some(_) => {
            refuse("scatters", &of_gathers)?;
            refuse("scatters", &of_bags)?;
            refuse("scatters", &[("--format", shape.format.is_some())])?;
            answer(args, &scatter::explained(args)?)
        }
        None => {
            refuse("embedding-bag", &of_gathers)?;
            refuse("embedding-bag", &of_scatters)?;
            let attributes = [
                ("--axis", shape.axis.is_some()),
                ("--batch-dims", shape.batch_dims.is_some()),
            ];
            refuse("embedding-bag", &attributes)?;
            answer(args, &bag::explained(args)?)
        }
    }
}

/// Fails for an option that is given (its name, and whether) though it means nothing to these operators.
fn refuse(op: &str, options: &[(&str, bool)]) -> Result<()> {
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => bail!("explain: {option} is not for {op}"),
        None => Ok(()),
    }
}

/// An explanation of the library, as it is.
fn answer(args: &ExplainArgs, explanation: &(impl Display + Serialize)) -> Result<Answer> {
    match args.json {
        true => Ok(Answer::json(&serde_json::to_value(explanation)?, true)),
        false => Ok(Answer::good(explanation.to_string())),
    }
}

/// Explains a gather; measures it, if that is asked for.
fn gather(args: &ExplainArgs) -> Result<Answer> {
    let case = args.shape.case()?.context("--op is missing")?;
    let scaled = case.scaled(1, &rules::resolve(&args.rules, case.dtype)?)?;
    if args.measure
        && let Some(reason) = unusable(&scaled)
    {
        bail!(reason);
    }
    ensure!(
        scaled.case.format.is_none() || args.max_gpu_memory.is_none(),
        "--max-gpu-memory is for params that are not quantized"
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
