//! The rules for indices, from `--rules`, `--negative` and `--out-of-bounds`.

use std::str::FromStr;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use wgpu_gather::{DType, Fill, Negative, OutOfBounds, Rules};

use crate::fill;

/// The one preset that depends on the element type.
const JAX_FILL: &str = "jax-fill";

/// The values of `--rules`.
pub fn preset_names() -> Vec<&'static str> {
    let presets = Rules::PRESETS.iter().map(|&(name, _)| name);
    presets.chain([JAX_FILL]).collect()
}

/// How indices are treated.
#[derive(Args)]
pub struct RulesArgs {
    /// Whose rules to follow for negative and out-of-bounds indices
    #[arg(
        long,
        value_name = "NAME",
        default_value = "tensorflow-gpu",
        value_parser = PossibleValuesParser::new(preset_names())
    )]
    pub rules: String,
    /// What a negative index means, instead of what the rules say
    #[arg(long, value_name = "MEANING")]
    pub negative: Option<NegativeArg>,
    /// What an out-of-bounds index gives, instead of what the rules say: zero, fill=V, clip, wrap
    /// or error. V is a value of the element type of params (nan, inf and true are values; re,im
    /// for complex numbers), or its bits as 0x… with all their digits
    #[arg(long, value_name = "WHAT")]
    pub out_of_bounds: Option<OutOfBoundsArg>,
}

/// The values of `--negative`.
#[derive(Clone, Copy, ValueEnum)]
pub enum NegativeArg {
    /// A negative index is out of bounds
    OutOfBounds,
    /// -extent..=-1 count from the end
    FromEnd,
}

/// The value of `--out-of-bounds`; that of `fill=V` is read when the element type is known.
#[derive(Clone)]
pub struct OutOfBoundsArg {
    rule: OutOfBounds,
    fill: Option<String>,
}

impl FromStr for OutOfBoundsArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, fill) = match text.split_once('=') {
            Some((name, fill)) => (name, Some(fill.to_owned())),
            None => (text, None),
        };
        match OutOfBounds::named(name, Fill::from_bytes(&[])) {
            Some(rule) if matches!(rule, OutOfBounds::Fill(_)) == fill.is_some() => {
                Ok(OutOfBoundsArg { rule, fill })
            }
            _ => Err("allowed: zero, fill=V, clip, wrap, error"),
        }
    }
}

/// The rules that `args` ask for, for params of `dtype`.
pub fn resolve(args: &RulesArgs, dtype: DType) -> Result<Rules> {
    let mut rules = preset(&args.rules, dtype);
    if let Some(negative) = args.negative {
        rules.negative = match negative {
            NegativeArg::OutOfBounds => Negative::OutOfBounds,
            NegativeArg::FromEnd => Negative::FromEnd,
        };
    }
    if let Some(OutOfBoundsArg { rule, fill }) = &args.out_of_bounds {
        rules.out_of_bounds = match fill {
            Some(text) => OutOfBounds::Fill(
                fill::parse(dtype, text).context(format!("--out-of-bounds fill={text}"))?,
            ),
            None => rule.clone(),
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
pub fn negative_text(rules: &Rules) -> &'static str {
    rules.negative.name()
}

/// What a bad index gives, as `--out-of-bounds` takes it; a fill value as its bits.
pub fn out_of_bounds_text(rules: &Rules) -> String {
    match &rules.out_of_bounds {
        OutOfBounds::Fill(fill) => format!("fill={}", fill::bits(fill)),
        other => other.name().to_owned(),
    }
}
