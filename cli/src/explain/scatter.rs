//! What is said of a scatter.

use anyhow::{Context, Result};
use wgpu_gather::{Layout, Reduce, ScatterExplanation, ScatterLayouts, ScatterPlan};

use crate::explain::args::ExplainArgs;
use crate::rules;

/// Explains a scatter into contiguous tensors.
pub(super) fn explained(args: &ExplainArgs) -> Result<ScatterExplanation> {
    let shape = &args.shape;
    let op = shape.operator()?.context("--op is no scatter")?;
    let rules = rules::resolve(&args.rules, shape.dtype)?;
    let updates = op.output_shape(&shape.params_shape, &shape.indices_shape, &rules)?;
    let layouts = ScatterLayouts {
        dtype: shape.dtype,
        destination: &Layout::contiguous(&shape.params_shape),
        index_type: shape.index_type,
        indices: &Layout::contiguous(&shape.indices_shape),
        updates: &Layout::contiguous(&updates),
    };
    let reduce = args.reduce.unwrap_or(Reduce::Add);
    Ok(ScatterPlan::new(op, reduce, &rules, layouts)?.explain())
}
