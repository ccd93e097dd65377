//! A gather described on the command line by its shapes, without tensors.

use anyhow::{Result, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{DType, IndexType, Op};

use crate::bench::case::Case;
use crate::bench::pattern::Pattern;
use crate::bench::verb::Verb;

/// An operator, one of `O`, and the tensors that it gets.
#[derive(Args)]
pub(crate) struct ShapeArgs<O: ValueEnum + Clone + Send + Sync + 'static> {
    /// The operator
    #[arg(long, value_enum, value_name = "OP", requires_all = ["params_shape", "indices_shape"])]
    pub(crate) op: Option<O>,
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

/// The operators that gather.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GatherOp {
    Gather,
    GatherNd,
    GatherElements,
}

impl ShapeArgs<GatherOp> {
    /// The gather, if one is given, of good random indices.
    pub(crate) fn case(&self) -> Result<Option<Case>> {
        self.op.map(|op| self.case_of(op)).transpose()
    }
}

impl<O: ValueEnum + Clone + Send + Sync + 'static> ShapeArgs<O> {
    /// The gather of these shapes, of good random indices.
    pub(crate) fn case_of(&self, op: GatherOp) -> Result<Case> {
        Ok(Case {
            name: "own".to_owned(),
            group: "own",
            what: "",
            verb: Verb::Gather,
            op: self.operator(op)?,
            dtype: self.dtype,
            format: self.format,
            index_type: self.index_type,
            params: self.params_shape.clone(),
            indices: self.indices_shape.clone(),
            divided: [None, None],
            pattern: Pattern::Random,
            bad: 0.0,
        })
    }

    /// The gather, or that whose transpose is meant, with its attributes.
    pub(crate) fn operator(&self, op: GatherOp) -> Result<Op> {
        let batch_dims = self.batch_dims.unwrap_or(0);
        Ok(match op {
            GatherOp::Gather => Op::Gather {
                axis: self.axis,
                batch_dims,
            },
            GatherOp::GatherNd if self.axis.is_some() => bail!("--axis is not for gather-nd"),
            GatherOp::GatherNd => Op::GatherNd { batch_dims },
            GatherOp::GatherElements if self.batch_dims.is_some() => {
                bail!("--batch-dims is not for gather-elements")
            }
            GatherOp::GatherElements => Op::GatherElements {
                axis: self.axis.unwrap_or(0),
            },
        })
    }
}
