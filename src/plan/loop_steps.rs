//! The bound that the loops of every kernel keep to.

use crate::error::{Error, Result};
use crate::plan::Plan;

/// The most loop steps that an invocation takes in one dispatch, nested loops and the step that leaves a
/// loop included.
///
/// llvmpipe and lavapipe before Mesa 25 count the steps of all loops of an invocation together, and after
/// 65,535 leave every loop for good, whatever its condition: results are wrong, and nothing says so. GPUs
/// may end a dispatch that takes seconds. Half of that number leaves room for the steps of loops that a
/// compiler adds.
///
/// Loops over data derive their share of a dispatch from this: the updates of a key
/// (`scatter::fold_block`), the lookups of a bag (`plan::bag::passes`), the parts of a row
/// ([`parts_of_row`]). Loops of a constant count assert that they stay below it, next to the constant.
pub(crate) const MAX_LOOP_STEPS: u32 = 1 << 15;

/// The same on GPUs, for loops over data that one dispatch after another would go on with. Such a dispatch costs an
/// NVIDIA H200 about 6 microseconds, and 8,388,608 updates of single elements took 770 of them; so many steps take it a
/// fraction of a second, if all updates have one key.
#[cfg(feature = "gpu")]
pub(crate) const GPU_LOOP_STEPS: u32 = 1 << 22;

/// The most loop steps of one lookup: 32 loops of a nest and 32 coordinates, plus the step that leaves each.
pub(crate) const LOOKUP_STEPS: u32 = 33 + 33;

/// The workgroups in z for a row of so many chunks: an invocation takes every z-th of them.
///
/// # Errors
///
/// [`Error::TooMany`], if that is too many for an invocation. A device with 8 workgroups per dimension
/// takes any row that one dispatch makes.
pub(crate) fn parts_of_row(plan: &Plan, chunks: u64, max_workgroups: u32) -> Result<u32> {
    let z = chunks.min(u64::from(max_workgroups.max(1)));
    let limit = z * u64::from(MAX_LOOP_STEPS - 2 * LOOKUP_STEPS - 1);
    match chunks <= limit {
        true => Ok(z as u32),
        false => Err(Error::TooMany {
            op: plan.op(),
            what: "the number of chunks of a row",
            got: chunks,
            limit,
        }),
    }
}
