//! The rules for indices, from `--rules`, `--negative` and `--out-of-bounds`.

use std::str::FromStr;

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use wgpu_gather::{DType, Error, Negative, OutOfBounds, Rules};

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
#[command(next_help_heading = "Rules for indices")]
pub struct RulesArgs {
    /// Whose rules to follow for negative and out-of-bounds indices
    #[arg(
        long,
        value_name = "NAME",
        default_value = "tensorflow-gpu",
        value_parser = PossibleValuesParser::new(preset_names())
    )]
    pub rules: String,
    /// What a negative index means, instead of what the rules say: out-of-bounds, or from-end, where
    /// -extent..=-1 count from the end
    #[arg(long, value_name = "MEANING", value_parser = negative())]
    pub negative: Option<Negative>,
    /// What an out-of-bounds index gives, instead of what the rules say: zero, fill=V, clip, wrap
    /// or error. V is a value of the element type of params (nan, inf and true are values; re,im
    /// for complex numbers), or its bits as 0x… with all their digits
    #[arg(long, value_name = "WHAT")]
    pub out_of_bounds: Option<OutOfBoundsArg>,
}

fn negative() -> impl TypedValueParser<Value = Negative> {
    let names = PossibleValuesParser::new(Negative::ALL.map(Negative::name));
    names.try_map(|name| name.parse::<Negative>())
}

/// The value of `--out-of-bounds`.
#[derive(Clone)]
pub enum OutOfBoundsArg {
    /// `fill=V`, of which V is read when the element type is known.
    Fill(String),
    /// Any other.
    Rule(OutOfBounds),
}

impl FromStr for OutOfBoundsArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(value) = text.strip_prefix("fill=") {
            return Ok(OutOfBoundsArg::Fill(value.to_owned()));
        }
        let rule = text.parse().map(OutOfBoundsArg::Rule);
        rule.map_err(|_: Error| "allowed: zero, fill=V, clip, wrap, error")
    }
}

/// The rules that `args` ask for, for params of `dtype`.
pub fn resolve(args: &RulesArgs, dtype: DType) -> Result<Rules> {
    let mut rules = preset(&args.rules, dtype)?;
    if let Some(negative) = args.negative {
        rules.negative = negative;
    }
    if let Some(out_of_bounds) = &args.out_of_bounds {
        rules.out_of_bounds = match out_of_bounds {
            OutOfBoundsArg::Fill(text) => OutOfBounds::Fill(
                fill::parse(dtype, text).context(format!("--out-of-bounds fill={text}"))?,
            ),
            OutOfBoundsArg::Rule(rule) => rule.clone(),
        };
    }
    Ok(rules)
}

/// The preset called `name`, one of [`preset_names`].
fn preset(name: &str, dtype: DType) -> Result<Rules, Error> {
    match name {
        JAX_FILL => Ok(Rules::jax_fill(dtype)),
        name => Rules::preset(name),
    }
}
