//! A gather described on the command line by its shapes, without tensors.

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{DType, IndexType, Op, OpKind};

use crate::bench::case::Case;
use crate::bench::pattern::Pattern;
use crate::bench::verb::Verb;

/// An operator and the tensors that it gets.
#[derive(Args)]
pub(crate) struct ShapeArgs {
    /// The operator
    #[arg(
        long,
        value_parser = kinds(Op::ALL.map(|op| op.kind())),
        value_name = "OP",
        requires_all = ["params_shape", "indices_shape"]
    )]
    pub(crate) op: Option<OpKind>,
    /// The dims of params
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "op")]
    pub(crate) params_shape: Vec<usize>,
    /// The dims of indices
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "op")]
    pub(crate) indices_shape: Vec<usize>,
    /// The element type of params
    #[arg(long, value_name = "TYPE", default_value = "f32", requires = "op")]
    pub(crate) dtype: DType,
    /// Params are quantised in blocks of GGUF: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K,
    /// Q6_K, IQ4_NL, MXFP4, F16 or BF16. --dtype then is what they are decoded to: f32, f16 or bf16
    #[arg(long, value_name = "NAME", requires = "op")]
    pub(crate) format: Option<BlockFormat>,
    /// The type of indices
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(IndexType::ALL.map(IndexType::name))
            .try_map(|name| name.parse::<IndexType>()),
        value_name = "TYPE",
        default_value = "i32",
        requires = "op"
    )]
    pub(crate) index_type: IndexType,
    /// The dim of params selected from, in gather, gather-elements and their scatters [default: as in those
    /// commands]
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "op")]
    pub(crate) axis: Option<isize>,
    /// How many leading dims params and indices share, in gather, gather-nd and their scatters
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "op")]
    pub(crate) batch_dims: Option<isize>,
}

/// Reads the name of one of these, as commands are called.
pub(crate) fn kinds(allowed: impl AsRef<[OpKind]>) -> impl TypedValueParser<Value = OpKind> {
    let names = allowed.as_ref().iter().map(|&kind| command(kind));
    PossibleValuesParser::new(names).try_map(|name| name.replace('-', "_").parse::<OpKind>())
}

/// What the command of an operator is called.
fn command(kind: OpKind) -> String {
    kind.name().replace('_', "-")
}

impl ShapeArgs {
    /// The gather of these shapes, if one is given, of good random indices.
    pub(crate) fn case(&self) -> Result<Option<Case>> {
        let Some(op) = self.operator()? else {
            return Ok(None);
        };
        Ok(Some(Case {
            name: "own".to_owned(),
            group: "own",
            what: "",
            verb: Verb::Gather,
            op,
            dtype: self.dtype,
            format: self.format,
            index_type: self.index_type,
            params: self.params_shape.clone(),
            indices: self.indices_shape.clone(),
            divided: [None, None],
            pattern: Pattern::Random,
            bad: 0.0,
        }))
    }

    /// The gather with its attributes, or that whose transpose is meant; none for a pooled lookup.
    pub(crate) fn operator(&self) -> Result<Option<Op>> {
        let Some(mut op) = self.op.and_then(Op::of) else {
            return Ok(None);
        };
        let name = command(op.kind());
        let is_not_for = |option| format!("{option} is not for {name}");
        if let Some(axis) = self.axis {
            op = op.with_axis(axis).with_context(|| is_not_for("--axis"))?;
        }
        if let Some(batch_dims) = self.batch_dims {
            let with = op.with_batch_dims(batch_dims);
            op = with.with_context(|| is_not_for("--batch-dims"))?;
        }
        Ok(Some(op))
    }
}
