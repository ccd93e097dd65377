//! The rows that one owner holds, where they are gathered from.

use std::borrow::Cow;

use super::format::RowFormat;
#[cfg(feature = "gpu")]
use super::pack::packed;
use crate::error::{Error, Result, Role};
use crate::executor::Executor;
#[cfg(feature = "gpu")]
use crate::gpu::{AnyDeviceTensor, Engine, WhenFull};
use crate::index::IndexType;
use crate::op::Op;
use crate::rules::{Negative, OutOfBounds, Rules};
use crate::shape::Layout;
#[cfg(feature = "gpu")]
use crate::shape::elements;
use crate::tensor::{Indices, Params};

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

/// Rows of a shard that were asked for.
pub(super) enum Asked {
    /// Nothing has begun: they are gathered when they are received, or there are none.
    Nothing,
    /// The device is about to gather them.
    #[cfg(feature = "gpu")]
    Device(AnyDeviceTensor),
}

/// A number that is no row is never read: it is an error, as after damage on the way.
const RULES: Rules = Rules::new(Negative::OutOfBounds, OutOfBounds::Error);

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
        let asked = self.ask(rows).await?;
        self.receive(rows, asked, output).await
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

    /// Has a device begin to gather these rows.
    pub(super) async fn ask(&self, rows: &[u64]) -> Result<Asked> {
        if rows.is_empty() {
            return Ok(Asked::Nothing);
        }
        match &self.place {
            Place::Host(..) => Ok(Asked::Nothing),
            #[cfg(feature = "gpu")]
            Place::Device(engine, table) => {
                let layout = Layout::contiguous(&[rows.len()]);
                let ids = Params::new(bytemuck::cast_slice(rows), 8, layout)?;
                let ids = engine.upload_any(&ids).await?;
                let made = engine.gather_any(Op::gather(0), &RULES, table, &ids, IndexType::U64);
                made.map(Asked::Device)
            }
        }
    }

    /// Gathers or downloads the rows that [`Shard::ask`] was called for.
    pub(super) async fn receive(
        &self,
        rows: &[u64],
        asked: Asked,
        output: &mut [u8],
    ) -> Result<()> {
        match (&self.place, asked) {
            #[cfg(feature = "gpu")]
            (Place::Device(engine, _), Asked::Device(made)) => {
                engine.download_bytes(&made, output).await
            }
            (Place::Host(executor, params), _) => {
                let ids = Cow::Borrowed(bytemuck::cast_slice(rows));
                let layout = Layout::contiguous(&[rows.len()]);
                let ids = Indices::new(ids, IndexType::U64, layout)?;
                executor
                    .run_bytes(Op::gather(0), &RULES, params, &ids, output)
                    .await
            }
            // Nothing was asked for.
            #[cfg(feature = "gpu")]
            (Place::Device(..), Asked::Nothing) if output.is_empty() => Ok(()),
            #[cfg(feature = "gpu")]
            (Place::Device(..), Asked::Nothing) => Err(Error::OutputLength {
                op: Op::gather(0).kind(),
                expected: 0,
                got: output.len(),
            }),
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
    let packed = Params::new(&packed, width, Layout::contiguous(layout.shape()))?;
    match engine.upload_any(&packed).await {
        Ok(table) => Ok(Place::Device(engine.clone(), table)),
        Err(Error::GpuOutOfMemory { .. }) if engine.when_full() == WhenFull::UseCpu => {
            Ok(Place::Host(Executor::Cpu, rows.clone()))
        }
        Err(error) => Err(error),
    }
}
