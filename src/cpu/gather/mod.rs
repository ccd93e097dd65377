//! Gathers on all cores.

mod ahead;
mod chunks;
mod copy;
pub(crate) mod plain;
mod quantized;
#[cfg(test)]
mod tests;

pub(crate) use chunks::chunks;

use crate::call::Gather;
use crate::element::Element;
use crate::error::{Result, Role};
use crate::memory::zeroed_bits;
use crate::operand::AnyTable;
use crate::plan::Plan;

/// Executes a gather by a plan that was made for it, or for a part of it, writing the output's bytes,
/// row-major.
pub(crate) fn execute(call: &Gather<'_>, plan: &Plan, output: &mut [u8]) -> Result<()> {
    match &call.table {
        AnyTable::Plain(params) => plain::execute(plan, params, &call.indices, output),
        AnyTable::Quantized(table, to) => {
            quantized::execute(plan, (table, *to), &call.indices, output)
        }
    }
}

/// The same into fresh memory, for elements of type `T`; returns their bits.
pub(crate) fn gathered<T: Element>(call: &Gather<'_>, plan: &Plan) -> Result<Vec<T::Bits>> {
    if let AnyTable::Plain(params) = &call.table {
        return plain::gathered::<T>(plan, params, &call.indices);
    }
    let len = plan.output_bytes() / size_of::<T>();
    let mut bits = zeroed_bits::<T>(Role::Output, len)?;
    execute(call, plan, bytemuck::cast_slice_mut(&mut bits))?;
    Ok(bits)
}
