//! The tensors of a case on the host, and its call from host to host.

use anyhow::Result;
use wgpu_gather::{AnyTensor, Executor, Indices, Layout, Params};

use crate::bench::case::Scaled;
use crate::bench::inputs::Inputs;
use crate::bench::table::Table;
use crate::bench::verb::Verb;

/// Views of the tensors of a case.
pub(crate) struct Host<'a> {
    scaled: &'a Scaled,
    table: Table<'a>,
    indices: Indices<'a>,
    /// Of a scatter; else without elements.
    updates: Params<'a>,
    /// What params were before.
    base: Params<'a>,
}

impl<'a> Host<'a> {
    pub(crate) fn new(scaled: &'a Scaled, inputs: &'a Inputs) -> Result<Self> {
        let case = &scaled.case;
        let indices = Layout::contiguous(&case.indices);
        let of_case = |bytes: &'a [u8], shape: &[usize]| {
            Params::new(bytes, case.dtype, Layout::contiguous(shape))
        };
        let (updates, base) = match case.verb.reduce() {
            Some(_) => (
                of_case(&inputs.updates, scaled.plan.output_shape())?,
                of_case(&inputs.params, &case.params)?,
            ),
            None => (of_case(&[], &[0])?, of_case(&[], &[0])?),
        };
        Ok(Host {
            scaled,
            table: Table::new(case, &case.params, &inputs.params)?,
            indices: Indices::new(inputs.indices.as_slice(), case.index_type, indices)?,
            updates,
            base,
        })
    }

    /// Runs the call into `output`, which is the destination of a scatter in place; gives the new tensor of
    /// a scatter over a copy, which leaves `output` alone.
    pub(crate) fn run(&self, executor: &Executor, output: &mut [u8]) -> Result<Option<AnyTensor>> {
        let Scaled { case, rules, .. } = self.scaled;
        let (op, indices, updates) = (case.op, &self.indices, &self.updates);
        match case.verb {
            Verb::Gather | Verb::SumBags => {
                self.table.read(executor, case, rules, indices, output)?;
            }
            Verb::ScatterInto(reduce) => {
                let shape = &case.params;
                let call =
                    executor.scatter_into(op, reduce, rules, shape, output, indices, updates);
                call.wait()?;
            }
            Verb::Scatter(reduce) => {
                let call = executor.scatter(op, reduce, rules, &self.base, indices, updates);
                return Ok(Some(call.wait()?));
            }
        }
        Ok(None)
    }
}
