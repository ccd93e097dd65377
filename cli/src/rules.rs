//! The rules for indices, from `--rules`, `--negative` and `--out-of-bounds`.

use std::str::FromStr;

use anyhow::{Context, Result};
use clap::ValueEnum;
use wgpu_gather::{DType, Negative, OutOfBounds, Rules};

use crate::args::RulesArgs;
use crate::fill;

/// The one preset that depends on the element type.
const JAX_FILL: &str = "jax-fill";

/// The values of `--rules`.
pub(crate) fn preset_names() -> Vec<&'static str> {
    let presets = Rules::PRESETS.iter().map(|&(name, _)| name);
    presets.chain([JAX_FILL]).collect()
}

/// The values of `--negative`.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum NegativeArg {
    /// A negative index is out of bounds
    OutOfBounds,
    /// -extent..=-1 count from the end
    FromEnd,
}

/// The values of `--out-of-bounds`; the fill value is read when the element type is known.
#[derive(Clone)]
pub(crate) enum OutOfBoundsArg {
    Zero,
    Fill(String),
    Clip,
    Wrap,
    Error,
}

impl FromStr for OutOfBoundsArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.strip_prefix("fill=")) {
            (_, Some(value)) => Ok(OutOfBoundsArg::Fill(value.to_owned())),
            ("zero", _) => Ok(OutOfBoundsArg::Zero),
            ("clip", _) => Ok(OutOfBoundsArg::Clip),
            ("wrap", _) => Ok(OutOfBoundsArg::Wrap),
            ("error", _) => Ok(OutOfBoundsArg::Error),
            _ => Err("allowed: zero, fill=V, clip, wrap, error"),
        }
    }
}

/// The rules that `args` ask for, for params of `dtype`.
pub(crate) fn resolve(args: &RulesArgs, dtype: DType) -> Result<Rules> {
    let mut rules = preset(&args.rules, dtype);
    if let Some(negative) = args.negative {
        rules.negative = match negative {
            NegativeArg::OutOfBounds => Negative::OutOfBounds,
            NegativeArg::FromEnd => Negative::FromEnd,
        };
    }
    if let Some(out_of_bounds) = &args.out_of_bounds {
        rules.out_of_bounds = match out_of_bounds {
            OutOfBoundsArg::Zero => OutOfBounds::Zero,
            OutOfBoundsArg::Fill(text) => OutOfBounds::Fill(
                fill::parse(dtype, text).context(format!("--out-of-bounds fill={text}"))?,
            ),
            OutOfBoundsArg::Clip => OutOfBounds::Clip,
            OutOfBoundsArg::Wrap => OutOfBounds::Wrap,
            OutOfBoundsArg::Error => OutOfBounds::Error,
        };
    }
    Ok(rules)
}

/// The preset called `name`, which the command line has checked to be one of [`preset_names`].
fn preset(name: &str, dtype: DType) -> Rules {
    let named = Rules::PRESETS.iter().find(|&&(preset, _)| preset == name);
    match named {
        Some((_, rules)) => rules.clone(),
        None => Rules::jax_fill(dtype),
    }
}

/// What a negative index means, as `--negative` takes it.
pub(crate) fn negative_text(rules: &Rules) -> &'static str {
    match rules.negative {
        Negative::OutOfBounds => "out-of-bounds",
        Negative::FromEnd => "from-end",
    }
}

/// What a bad index gives, as `--out-of-bounds` takes it; a fill value as its bits.
pub(crate) fn out_of_bounds_text(rules: &Rules) -> String {
    match &rules.out_of_bounds {
        OutOfBounds::Zero => "zero".to_owned(),
        OutOfBounds::Fill(fill) => format!("fill={}", fill::bits(fill)),
        OutOfBounds::Clip => "clip".to_owned(),
        OutOfBounds::Wrap => "wrap".to_owned(),
        OutOfBounds::Error => "error".to_owned(),
        other => unreachable!("no preset or option gives {other:?}"),
    }
}
