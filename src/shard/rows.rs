//! The rows that one owner holds, where they are gathered from.

use super::format::RowFormat;
use crate::error::{Error, Result, Role};
use crate::executor::Executor;
#[cfg(feature = "gpu")]
use crate::gpu::{AnyDeviceTensor, Engine, WhenFull};
use crate::index::IndexType;
use crate::op::Op;
use crate::operand::{Indices, Params};
#[cfg(feature = "gpu")]
use crate::packed::packed;
use crate::rules::{Negative, OutOfBounds, Rules};
use crate::shape::Layout;
#[cfg(feature = "gpu")]
use crate::shape::{check_output_bytes, elements};
use crate::waiting::{PollMode, Waiting};

/// One shard of a table: rows in the memory of the host, or of a device that they were uploaded to.
#[derive(Debug, Clone)]
pub struct Shard<'a> {
    place: Place<'a>,
    format: RowFormat,
    rows: usize,
}

#[derive(Debug, Clone)]
enum Place<'a> {
    Host(Executor, Params<'a>),
    #[cfg(feature = "gpu")]
    Device(Engine, AnyDeviceTensor),
}

/// A gather from a shard that was begun: what is needed to finish it.
pub(super) enum Begun<'s> {
    /// Nothing has been done yet.
    Host {
        executor: &'s Executor,
        params: &'s Params<'s>,
        rules: &'s Rules,
        indices: Indices<'s>,
    },
    /// The device gathers these rows.
    #[cfg(feature = "gpu")]
    Device(&'s Engine, AnyDeviceTensor),
}

/// A number that is no row is never read: it is an error, as after damage on the way.
static RULES: Rules = Rules::new(Negative::OutOfBounds, OutOfBounds::Error);

impl<'a> Shard<'a> {
    /// The shard of these rows: the first dim of `rows` counts them. A GPU executor gets a copy of
    /// them on its device; the others read them where they lie.
    ///
    /// # Errors
    ///
    /// [`Error::RankTooSmall`] if `rows` has no dims; on a GPU, the errors of the device and
    /// [`Error::GpuOutOfMemory`], also for more bytes than the engine's `max_memory_bytes`, if its
    /// options say to fail then. Otherwise the CPU path has such a shard.
    pub fn new<'c>(executor: &'c Executor, rows: &'c Params<'a>) -> Waiting<'c, Result<Shard<'a>>> {
        Waiting::new(move |poll_mode| Shard::made(executor, rows, poll_mode))
    }

    #[cfg_attr(
        not(feature = "gpu"),
        expect(clippy::unused_async, reason = "a device is waited for")
    )]
    pub(super) async fn made(
        executor: &Executor,
        rows: &Params<'a>,
        _poll_mode: PollMode,
    ) -> Result<Shard<'a>> {
        let shape = rows.layout().shape();
        let Some((&count, row)) = shape.split_first() else {
            return Err(Error::RankTooSmall {
                op: Op::gather(0).kind(),
                role: Role::Params,
                rank: 0,
                min: 1,
            });
        };
        let format = RowFormat::new(rows.element_bytes(), row)?;
        let place = match executor {
            #[cfg(feature = "gpu")]
            Executor::Gpu(engine) => on_device(engine, rows, _poll_mode).await?,
            host => Place::Host(host.clone(), rows.clone()),
        };
        Ok(Shard {
            place,
            format,
            rows: count,
        })
    }

    /// The format of a row.
    pub fn format(&self) -> &RowFormat {
        &self.format
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Copies the rows of these numbers to `output`, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`] for a number that is no row; [`Error::OutputLength`]; those of the
    /// executor.
    pub fn gather<'c>(&'c self, rows: &'c [u64], output: &'c mut [u8]) -> Waiting<'c, Result<()>> {
        Waiting::new(move |poll_mode| async move {
            let begun = self.begin_rows(rows, poll_mode).await?;
            begun.finish(output, poll_mode).await
        })
    }

    /// Gathers by rules of the caller's, from a shard that has all rows of its table.
    ///
    /// # Errors
    ///
    /// Shapes or rules that do not fit, bad indices, errors of a device: those of [`Executor::gather`].
    pub fn run<'c>(
        &'c self,
        rules: &'c Rules,
        indices: &'c Indices<'_>,
        output: &'c mut [u8],
    ) -> Waiting<'c, Result<()>> {
        Waiting::new(move |poll_mode| async move {
            let begun = self.begin(rules, indices.borrowed(), poll_mode).await?;
            begun.finish(output, poll_mode).await
        })
    }

    /// Has a device begin to gather the rows of these numbers.
    pub(super) async fn begin_rows<'s>(
        &'s self,
        rows: &'s [u64],
        poll_mode: PollMode,
    ) -> Result<Begun<'s>> {
        let numbers: &[u8] = bytemuck::cast_slice(rows);
        let layout = Layout::contiguous(&[rows.len()]);
        let indices = Indices::new(numbers, IndexType::U64, layout)?;
        self.begin(&RULES, indices, poll_mode).await
    }

    #[cfg_attr(
        not(feature = "gpu"),
        expect(clippy::unused_async, reason = "a device is waited for")
    )]
    async fn begin<'s>(
        &'s self,
        rules: &'s Rules,
        indices: Indices<'s>,
        _poll_mode: PollMode,
    ) -> Result<Begun<'s>> {
        Ok(match &self.place {
            Place::Host(executor, params) => Begun::Host {
                executor,
                params,
                rules,
                indices,
            },
            #[cfg(feature = "gpu")]
            Place::Device(engine, table) => {
                let ids = engine.upload(&indices).within(_poll_mode).await?;
                let made = engine.gather(Op::gather(0), rules, table, &ids)?;
                Begun::Device(engine, made)
            }
        })
    }
}

impl Begun<'_> {
    /// Writes the rows to `output`.
    pub(super) async fn finish(self, output: &mut [u8], poll_mode: PollMode) -> Result<()> {
        match self {
            Begun::Host {
                executor,
                params,
                rules,
                indices,
            } => {
                executor
                    .gather(Op::gather(0), rules, params, &indices)
                    .into(output)
                    .within(poll_mode)
                    .await
            }
            #[cfg(feature = "gpu")]
            Begun::Device(engine, made) => {
                let width = made.element_bytes();
                let expected = elements(Role::Output, made.shape(), width)? * width;
                check_output_bytes(Op::gather(0).kind(), expected, output.len())?;
                engine.download_bytes(&made, output).within(poll_mode).await
            }
        }
    }
}

/// The rows on the device of `engine`, without the gaps that their layout may have.
#[cfg(feature = "gpu")]
async fn on_device<'a>(
    engine: &Engine,
    rows: &Params<'a>,
    poll_mode: PollMode,
) -> Result<Place<'a>> {
    let shape = rows.layout().shape();
    let bytes = elements(Role::Params, shape, rows.element_bytes())? * rows.element_bytes();
    if bytes as u64 > engine.max_memory() {
        return match engine.when_full() {
            WhenFull::UseCpu => Ok(Place::Host(Executor::Cpu, rows.clone())),
            WhenFull::Fail => Err(Error::GpuOutOfMemory {
                what: format!(
                    "a shard of {bytes} bytes, more than the {} that may be used",
                    engine.max_memory()
                ),
            }),
        };
    }
    let packed = packed(Role::Params, rows)?;
    let layout = Layout::contiguous(rows.layout().shape());
    let packed = Params::new(&packed, rows.element_type(), layout)?;
    match engine.upload(&packed).within(poll_mode).await {
        Ok(table) => Ok(Place::Device(engine.clone(), table)),
        Err(Error::GpuOutOfMemory { .. }) if engine.when_full() == WhenFull::UseCpu => {
            Ok(Place::Host(Executor::Cpu, rows.clone()))
        }
        Err(error) => Err(error),
    }
}
