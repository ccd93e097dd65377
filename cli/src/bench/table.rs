//! What a case reads rows of, on the host: plain or quantised.

use anyhow::Result;
use wgpu_gather::quantized::{FloatType, QuantizedTable};
use wgpu_gather::{AnyTable, BagMode, Bags, Executor, Indices, Layout, Params, Rules};

use crate::bench::case::Case;
use crate::bench::verb::Verb;

/// Params of a case, or a part of them.
pub(crate) enum Table<'a> {
    Plain(Params<'a>),
    Quantized(QuantizedTable<'a>, FloatType),
}

impl<'a> Table<'a> {
    /// `bytes` as params of `case`, of this shape.
    pub(crate) fn new(case: &Case, shape: &[usize], bytes: &'a [u8]) -> Result<Self> {
        Ok(match case.quantized()? {
            Some((format, to)) => {
                Table::Quantized(QuantizedTable::blocks(format, shape, bytes)?, to)
            }
            None => {
                let layout = Layout::contiguous(shape);
                Table::Plain(Params::new(bytes, case.dtype, layout)?)
            }
        })
    }

    /// Gathers rows, or sums them in bags, from host to host.
    pub(crate) fn read(
        &self,
        executor: &Executor,
        case: &Case,
        rules: &Rules,
        indices: &Indices<'_>,
        output: &mut [u8],
    ) -> wgpu_gather::Result<()> {
        let table = match self {
            Table::Plain(params) => AnyTable::Plain(params.clone()),
            Table::Quantized(table, to) => AnyTable::Quantized(table, *to),
        };
        match case.verb {
            Verb::SumBags => {
                let sums = Bags::rows(BagMode::Sum);
                let call = executor.embedding_bag(sums, rules, &table, indices);
                call.into(output).wait()
            }
            _ => {
                let call = executor.gather(case.op, rules, &table, indices);
                call.into(output).wait()
            }
        }
    }
}
