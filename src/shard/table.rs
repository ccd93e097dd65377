//! A table over the executors of one process.

use super::format::RowFormat;
use super::partition::Partition;
use super::plan::ShardPlan;
use super::rows::Shard;
use crate::element::{Element, elements_from_bits};
use crate::error::{Error, Result, Role};
use crate::executor::Executor;
use crate::index::Index;
use crate::memory::zeroed_bits;
use crate::operand::{Indices, Params};
use crate::rules::Rules;
use crate::tensor::{Tensor, TensorView};
use crate::waiting::{PollMode, Waiting};

/// A table whose rows lie on several executors: for one that outgrows the memory of a device.
///
/// A gather has all devices work at once, and downloads the rows from one after the other. The bits,
/// and the errors about indices, are those of a gather on one executor.
///
/// ```
/// use wgpu_gather::shard::{Partition, ShardedTable};
/// use wgpu_gather::{Executor, Params, Rules, Tensor};
///
/// // With GPUs: `Executor::Gpu(engine)` for each of them.
/// let executors = [Executor::Cpu, Executor::Cpu];
/// let rows = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let partition = Partition::cyclic(3, 2)?;
/// let rows = Params::try_from(&rows.view())?;
/// let table = ShardedTable::new(&executors, partition, &rows).wait()?;
///
/// let ids = Tensor::new(&[2], vec![2i64, 7])?;
/// let found = table.gather::<f32, _>(&Rules::TENSORFLOW_GPU, &ids.view()).wait()?;
/// assert_eq!(found.data(), [5.0, 6.0, 0.0, 0.0]);
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug)]
pub struct ShardedTable<'a> {
    partition: Partition,
    format: RowFormat,
    shards: Vec<Shard<'a>>,
}

impl<'a> ShardedTable<'a> {
    /// Distributes the rows of `table` (its first dim) over the executors: those of shard `n` of the
    /// partition go to the executor `n`.
    ///
    /// # Errors
    ///
    /// [`Error::ShardExecutors`] if there are not as many executors as shards, [`Error::ShardTable`] if
    /// the table has not as many rows as the partition, [`Error::RankTooSmall`] if it has no dims; on a GPU,
    /// the errors of the device and [`Error::GpuOutOfMemory`], if its options say to fail then.
    pub fn new<'c>(
        executors: &'c [Executor],
        partition: Partition,
        table: &'c Params<'a>,
    ) -> Waiting<'c, Result<ShardedTable<'a>>> {
        Waiting::new(move |poll_mode| async move {
            if executors.len() != partition.shards() {
                return Err(Error::ShardExecutors {
                    shards: partition.shards(),
                    executors: executors.len(),
                });
            }
            let width = table.element_bytes();
            let mut shards = Vec::with_capacity(executors.len());
            for (shard, executor) in executors.iter().enumerate() {
                let view = partition.view(table.layout(), shard)?;
                let rows = Params::new(table.bytes(), width, view)?;
                shards.push(Shard::made(executor, &rows, poll_mode).await?);
            }
            let format = shards[0].format().clone();
            Ok(ShardedTable {
                partition,
                format,
                shards,
            })
        })
    }

    /// The assignment of rows to shards.
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The format of a row.
    pub fn format(&self) -> &RowFormat {
        &self.format
    }

    /// Gathers along the first axis.
    ///
    /// # Errors
    ///
    /// [`Error::TensorWidth`] if elements of `T` are not as wide as those of the table;
    /// [`Error::IndexOutOfBounds`] under the rule [`OutOfBounds::Error`](crate::OutOfBounds::Error),
    /// [`Error::NothingToRead`], [`Error::FillWidth`], [`Error::SizeOverflow`], [`Error::HostOutOfMemory`],
    /// and those of the executors; [`Error::InvalidBits`] for a fill value that is none of `T`.
    pub fn gather<'c, T: Element, I: Index>(
        &'c self,
        rules: &'c Rules,
        indices: &'c TensorView<'_, I>,
    ) -> Waiting<'c, Result<Tensor<T>>> {
        Waiting::new(move |poll_mode| async move {
            let (expected, got) = (size_of::<T>(), self.format.element_bytes());
            if expected != got {
                return Err(Error::TensorWidth { expected, got });
            }
            let plan = self.plan(rules, &Indices::try_from(indices)?)?;
            let mut bits = zeroed_bits::<T>(Role::Output, plan.output_bytes() / expected)?;
            let output = bytemuck::cast_slice_mut(&mut bits);
            self.execute(&plan, output, poll_mode).await?;
            Tensor::new(plan.output_shape(), elements_from_bits(Role::Output, bits)?)
        })
    }

    /// Gathers bytes along the first axis: `output` receives the elements, row-major.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`] under the rule [`OutOfBounds::Error`](crate::OutOfBounds::Error),
    /// [`Error::NothingToRead`], [`Error::FillWidth`], [`Error::SizeOverflow`], [`Error::HostOutOfMemory`],
    /// [`Error::OutputLength`], and those of the executors.
    pub fn gather_bytes<'c>(
        &'c self,
        rules: &'c Rules,
        indices: &'c Indices<'_>,
        output: &'c mut [u8],
    ) -> Waiting<'c, Result<()>> {
        Waiting::new(move |poll_mode| async move {
            let plan = self.plan(rules, indices)?;
            self.execute(&plan, output, poll_mode).await
        })
    }

    fn plan(&self, rules: &Rules, indices: &Indices<'_>) -> Result<ShardPlan> {
        ShardPlan::new(&self.partition, &self.format, rules, indices, true)
    }

    async fn execute(
        &self,
        plan: &ShardPlan,
        output: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        plan.check_output(output.len())?;
        // All devices have their work before the first is waited for.
        let mut begun = Vec::with_capacity(self.shards.len());
        for (n, shard) in self.shards.iter().enumerate() {
            begun.push(shard.begin_rows(plan.asked_of(n), poll_mode).await?);
        }
        let mut rows = zeroed_bits::<u8>(Role::Output, plan.row_bytes())?;
        let mut rest = &mut rows[..];
        for (n, begun) in begun.into_iter().enumerate() {
            let bytes = plan.asked_of(n).len() * self.format.bytes();
            let (here, after) = rest.split_at_mut(bytes);
            begun.finish(here, poll_mode).await?;
            rest = after;
        }
        plan.assemble(&rows, output)
    }
}
