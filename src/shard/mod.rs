//! Tables over several devices and machines: who owns a row, which rows to ask whom for, and how the
//! rows that come back return into order.
//!
//! [`Partition`] and [`ShardPlan`] are plain data and know no transport. [`Shard`] is the rows that one
//! owner holds, on the host or a device; [`ShardedTable`] is a table over the executors of one process.
//! A program that spreads a table over machines moves the ids and the rows itself, by the plan; the
//! crate in `mpi/` does so on MPI.
//!
//! ```
//! use wgpu_gather::shard::{Partition, RowFormat, ShardPlan};
//! use wgpu_gather::{Indices, Rules, TensorView};
//!
//! // Rows 0 to 3 lie on shard 0, rows 4 and 5 on shard 1; a row is two f32.
//! let partition = Partition::blocks(&[4, 2])?;
//! let format = RowFormat::new(4, &[2])?;
//! let ids = [5i64, 1, 5, 9];
//! let ids = TensorView::new(&[4], &ids)?;
//! let rules = Rules::TENSORFLOW_GPU;
//! let plan = ShardPlan::new(&partition, &format, &rules, &Indices::try_from(&ids)?, true)?;
//!
//! // Each row is asked for once, by its number within the shard.
//! assert_eq!(plan.asked_of(0), [1]);
//! assert_eq!(plan.asked_of(1), [1]);
//! // Row 5 came second and is needed twice; there is no row 9.
//! assert_eq!(plan.sources(), [1, 0, 1, ShardPlan::NONE]);
//! # Ok::<(), wgpu_gather::Error>(())
//! ```

mod format;
mod order;
mod partition;
mod plan;
mod rows;
mod table;
#[cfg(test)]
mod tests;

pub use format::RowFormat;
pub use partition::Partition;
pub use plan::ShardPlan;
pub use rows::Shard;
pub use table::ShardedTable;
