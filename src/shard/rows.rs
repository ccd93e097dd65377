//! The rows that one owner holds, where they are gathered from.

use super::format::RowFormat;
#[cfg(feature = "gpu")]
use super::pack::packed;
use crate::error::{Error, Result, Role};
use crate::executor::Executor;
#[cfg(feature = "gpu")]
use crate::gpu::{AnyDeviceTensor, Engine, WhenFull};
use crate::index::IndexType;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::rules::{Negative, OutOfBounds, Rules};
use crate::shape::Layout;
#[cfg(feature = "gpu")]
use crate::shape::elements;

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
    pub async fn new(executor: &Executor, rows: &Params<'a>) -> Result<Shard<'a>> {
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
            Executor::Gpu(engine) => on_device(engine, rows).await?,
            host => Place::Host(host.clone(), rows.clone()),
        };
        Ok(Shard {
            place,
            format,
            rows: count,
        })
    }

    /// [`Shard::new`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Shard::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new_blocking(executor: &Executor, rows: &Params<'a>) -> Result<Shard<'a>> {
        pollster::block_on(Shard::new(executor, rows))
    }

    /// What a row is.
    pub fn format(&self) -> &RowFormat {
        &self.format
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Copies the rows of these numbers to `output`, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`] for a number that is no row; [`Error::OutputLength`]; those of the
    /// executor.
    pub async fn gather(&self, rows: &[u64], output: &mut [u8]) -> Result<()> {
        self.begin_rows(rows).await?.finish(output).await
    }

    /// [`Shard::gather`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Shard::gather`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gather_blocking(&self, rows: &[u64], output: &mut [u8]) -> Result<()> {
        pollster::block_on(self.gather(rows, output))
    }

    /// Gathers by rules of the caller's, from a shard that has all rows of its table.
    ///
    /// # Errors
    ///
    /// As [`Executor::gather`].
    pub async fn run(&self, rules: &Rules, indices: &Indices<'_>, output: &mut [u8]) -> Result<()> {
        let (index_type, layout) = (indices.index_type(), indices.layout().clone());
        let indices = Indices::new(indices.bytes(), index_type, layout)?;
        self.begin(rules, indices).await?.finish(output).await
    }

    /// [`Shard::run`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::gather`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_blocking(
        &self,
        rules: &Rules,
        indices: &Indices<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        pollster::block_on(self.run(rules, indices, output))
    }

    /// Has a device begin to gather the rows of these numbers.
    pub(super) async fn begin_rows<'s>(&'s self, rows: &'s [u64]) -> Result<Begun<'s>> {
        let numbers: &[u8] = bytemuck::cast_slice(rows);
        let layout = Layout::contiguous(&[rows.len()]);
        let indices = Indices::new(numbers, IndexType::U64, layout)?;
        self.begin(&RULES, indices).await
    }

    async fn begin<'s>(&'s self, rules: &'s Rules, indices: Indices<'s>) -> Result<Begun<'s>> {
        Ok(match &self.place {
            Place::Host(executor, params) => Begun::Host {
                executor,
                params,
                rules,
                indices,
            },
            #[cfg(feature = "gpu")]
            Place::Device(engine, table) => {
                let ids = engine.upload(&indices).await?;
                let made = engine.gather(Op::gather(0), rules, table, &ids)?;
                Begun::Device(engine, made)
            }
        })
    }
}

impl Begun<'_> {
    /// Writes the rows to `output`.
    pub(super) async fn finish(self, output: &mut [u8]) -> Result<()> {
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
                    .await
            }
            #[cfg(feature = "gpu")]
            Begun::Device(engine, made) => {
                let width = made.element_bytes();
                let expected = elements(Role::Output, made.shape(), width)? * width;
                if output.len() != expected {
                    return Err(Error::OutputLength {
                        op: Op::gather(0).kind(),
                        expected,
                        got: output.len(),
                    });
                }
                engine.download_bytes(&made, output).await
            }
        }
    }
}

/// The rows on the device of `engine`, without the gaps that their layout may have.
#[cfg(feature = "gpu")]
async fn on_device<'a>(engine: &Engine, rows: &Params<'a>) -> Result<Place<'a>> {
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
    let (width, layout) = (rows.element_bytes(), rows.layout());
    let packed = packed(Role::Params, rows.bytes(), width, layout)?;
    let layout = Layout::contiguous(layout.shape());
    let packed = Params::new(&packed, rows.element_type(), layout)?;
    match engine.upload(&packed).await {
        Ok(table) => Ok(Place::Device(engine.clone(), table)),
        Err(Error::GpuOutOfMemory { .. }) if engine.when_full() == WhenFull::UseCpu => {
            Ok(Place::Host(Executor::Cpu, rows.clone()))
        }
        Err(error) => Err(error),
    }
}
