//! A gather described on the command line by its shapes, without tensors.

use anyhow::{Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{DType, IndexType, Op};

use crate::bench::case::Case;
use crate::bench::pattern::Pattern;

/// An operator and the tensors that it gets.
#[derive(Args)]
pub(crate) struct ShapeArgs {
    /// The operator
    #[arg(long, value_enum, value_name = "OP", requires_all = ["params_shape", "indices_shape"])]
    op: Option<OpArg>,
    /// The dims of params
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "op")]
    params_shape: Vec<usize>,
    /// The dims of indices
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "op")]
    indices_shape: Vec<usize>,
    /// The element type of params
    #[arg(long, value_name = "TYPE", default_value = "f32", requires = "op")]
    dtype: DType,
    /// Params are quantised in blocks of GGUF: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K,
    /// Q6_K, IQ4_NL, MXFP4, F16 or BF16. --dtype then is what they are decoded to: f32, f16 or bf16
    #[arg(long, value_name = "NAME", requires = "op")]
    format: Option<BlockFormat>,
    /// The type of indices
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(IndexType::ALL.map(IndexType::name))
            .try_map(|name| name.parse::<IndexType>()),
        value_name = "TYPE",
        default_value = "i32",
        requires = "op"
    )]
    index_type: IndexType,
    /// The dim of params selected from, in gather and gather-elements [default: as in those
    /// commands]
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "op")]
    axis: Option<isize>,
    /// How many leading dims params and indices share, in gather and gather-nd
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "op")]
    batch_dims: Option<isize>,
}

/// The values of `--op`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OpArg {
    Gather,
    GatherNd,
    GatherElements,
}

impl ShapeArgs {
    /// The gather, if one is given, of good random indices.
    pub(crate) fn case(&self) -> Result<Option<Case>> {
        let Some(op) = self.op else {
            return Ok(None);
        };
        Ok(Some(Case {
            name: "own".to_owned(),
            group: "own",
            what: "",
            op: self.operator(op)?,
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

    fn operator(&self, op: OpArg) -> Result<Op> {
        let batch_dims = self.batch_dims.unwrap_or(0);
        Ok(match op {
            OpArg::Gather => Op::Gather {
                axis: self.axis,
                batch_dims,
            },
            OpArg::GatherNd if self.axis.is_some() => bail!("--axis is not for gather-nd"),
            OpArg::GatherNd => Op::GatherNd { batch_dims },
            OpArg::GatherElements if self.batch_dims.is_some() => {
                bail!("--batch-dims is not for gather-elements")
            }
            OpArg::GatherElements => Op::GatherElements {
                axis: self.axis.unwrap_or(0),
            },
        })
    }
}
