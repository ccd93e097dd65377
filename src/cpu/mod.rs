//! The executors that need no GPU.
//!
//! [`mod@reference`] is written from the operators' definitions and knows no plan; [`parallel`]
//! executes a [`Plan`](crate::Plan). Comparing the two finds wrong lowering, merging and splitting.

mod ahead;
pub(crate) mod bag;
pub(crate) mod bag_reference;
mod chunks;
mod coordinate;
mod copy;
mod decode;
mod destination;
mod fetch;
mod fold;
mod lookups;
pub(crate) mod parallel;
pub(crate) mod reference;
mod report;
mod rows;
pub(crate) mod scatter;
pub(crate) mod scatter_reference;
#[cfg(test)]
mod tests;
pub(crate) mod threads;
mod vectors;

use crate::call::Gather;
use crate::element::Element;
use crate::error::{Result, Role};
use crate::memory::zeroed_bits;
use crate::operand::AnyTable;
use crate::plan::Plan;
pub(crate) use chunks::chunks;
pub use report::bad_indices;

/// Executes a gather by a plan that was made for it, or for a part of it, writing the output's bytes,
/// row-major.
pub(crate) fn execute(call: &Gather<'_>, plan: &Plan, output: &mut [u8]) -> Result<()> {
    match &call.table {
        AnyTable::Plain(params) => parallel::execute(plan, params, &call.indices, output),
        AnyTable::Quantized(table, to) => {
            decode::execute(plan, (table, *to), &call.indices, output)
        }
    }
}

/// [`execute`] into fresh memory.
pub(crate) fn gather<T: Element>(call: &Gather<'_>, plan: &Plan) -> Result<Vec<T::Bits>> {
    if let AnyTable::Plain(params) = &call.table {
        return parallel::gather::<T>(plan, params, &call.indices);
    }
    let len = plan.output_bytes() / size_of::<T>();
    let mut bits = zeroed_bits::<T>(Role::Output, len)?;
    execute(call, plan, bytemuck::cast_slice_mut(&mut bits))?;
    Ok(bits)
}
