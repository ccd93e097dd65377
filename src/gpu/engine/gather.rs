//! Gathers on the device, as an engine's methods: each is a batch of one.

use crate::element::Element;
use crate::error::Result;
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::batch::Batch;
use crate::gpu::engine::Engine;
use crate::gpu::recording::Recording;
use crate::gpu::tensor::DeviceTensor;
use crate::index::{Index, IndexType};
use crate::op::Op;
use crate::rules::Rules;

impl Engine {
    /// Gathers into a new tensor, without waiting for the device.
    ///
    /// A submission costs more than a small gather. So the commands of this one may be held back, and
    /// go to the device together with those of up to 31 other calls (256 KiB of outputs). No result
    /// depends on it. A gather is submitted at once if it uses a buffer of yours, or one that you
    /// have [taken](DeviceTensor::buffer) from a tensor. What is held back is submitted when you
    /// take a buffer, and by every other call of the engine that reaches the device: a download, an
    /// upload, a [batch](Engine::batch). Only a program that waits for the device by itself
    /// (`wgpu::Device::poll`), to take the time of its gathers, has to call [`Engine::flush`] before.
    /// In a browser nothing is held back.
    ///
    /// `params` and `indices` may be views of any strides, and outputs of earlier gathers. The new
    /// tensor's buffer comes from dropped tensors, if there are any of its size.
    ///
    /// Under [`OutOfBounds::Error`](crate::OutOfBounds::Error) a bad index is reported when the
    /// tensor, or one that is gathered from or by it, is downloaded or [checked](Engine::check).
    /// A long chain of such gathers should be checked from time to time: each keeps a count of a
    /// few bytes on the device until then.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`](crate::Plan::new); [`Error::TensorTooLarge`](crate::Error::TensorTooLarge), [`Error::TooComplex`](crate::Error::TooComplex) and [`Error::TooMany`](crate::Error::TooMany)
    /// for what the device cannot hold; the errors of the device.
    pub fn gather<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
    ) -> Result<DeviceTensor<T>> {
        self.gather_one(|batch| batch.gather(op, rules, params, indices))
    }

    /// [`Engine::gather`] for tensors whose elements are known at run time. `index_type` says what
    /// the bits of `indices` are.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`]; [`Error::ElementWidth`](crate::Error::ElementWidth) and [`Error::Misaligned`](crate::Error::Misaligned) if indices are not
    /// as wide, or do not start at a multiple of that.
    pub fn gather_any(
        &self,
        op: Op,
        rules: &Rules,
        params: &AnyDeviceTensor,
        indices: &AnyDeviceTensor,
        index_type: IndexType,
    ) -> Result<AnyDeviceTensor> {
        self.gather_one(|batch| batch.gather_any(op, rules, params, indices, index_type))
    }

    /// Gathers into a tensor of the caller, which must be contiguous. Makes no tensor; waits for
    /// nothing, and may be held back as [`Engine::gather`] is.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// fn frame(
    ///     engine: &Engine,
    ///     table: &DeviceTensor<f32>,
    ///     ids: &DeviceTensor<u32>,
    ///     rows: &mut DeviceTensor<f32>,
    /// ) -> Result<()> {
    ///     engine.gather_into(Op::gather(0), &Rules::default(), table, ids, rows)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`]; [`Error::OutputShape`](crate::Error::OutputShape), [`Error::OutputStrided`](crate::Error::OutputStrided), and
    /// [`Error::SameBuffer`](crate::Error::SameBuffer) if `output` lies in a buffer that is read.
    pub fn gather_into<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        self.gather_one(|batch| batch.gather_into(op, rules, params, indices, output))
    }

    /// [`Engine::gather_into`] for tensors whose elements are known at run time.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_into`] and [`Engine::gather_any`]; [`Error::ElementWidth`](crate::Error::ElementWidth) if elements of
    /// `output` are not as wide as those of `params`.
    pub fn gather_any_into(
        &self,
        op: Op,
        rules: &Rules,
        params: &AnyDeviceTensor,
        indices: &AnyDeviceTensor,
        index_type: IndexType,
        output: &mut AnyDeviceTensor,
    ) -> Result<()> {
        self.gather_one(|batch| {
            batch.gather_any_into(op, rules, params, indices, index_type, output)
        })
    }

    /// [`Engine::gather_into`] for an output that shares its buffer with `params` or `indices`:
    /// what is read from there is first copied to scratch memory.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_into`] without [`Error::SameBuffer`](crate::Error::SameBuffer); [`Error::MissingUsage`](crate::Error::MissingUsage) if a
    /// shared buffer of the caller lacks `COPY_SRC`.
    pub fn gather_in_place<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        self.gather_one(|batch| batch.gather_in_place(op, rules, params, indices, output))
    }

    /// [`Engine::gather_into`], for as many indices as a `u32` at the start of `count` says: an
    /// earlier dispatch may have written it. It counts entries of the first dim of indices, which
    /// must be the first dim of the output. Output beyond them keeps its value, and indices beyond
    /// them are not looked at.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_into`]; [`Error::CountPlace`](crate::Error::CountPlace), [`Error::CountElsewhere`](crate::Error::CountElsewhere).
    pub fn gather_counted<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
        count: wgpu::BufferSlice<'_>,
    ) -> Result<()> {
        self.batch(|batch| batch.gather_counted(op, rules, params, indices, output, count))
    }

    /// Gathers from several tables with the same indices, in one submission.
    ///
    /// For tables of several types, use [`Engine::batch`].
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`]; then nothing is submitted.
    pub fn gather_tables<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        tables: &[&DeviceTensor<T>],
        indices: &DeviceTensor<I>,
    ) -> Result<Vec<DeviceTensor<T>>> {
        self.batch(|batch| {
            let gather = |&table| batch.gather(op, rules, table, indices);
            tables.iter().map(gather).collect()
        })
    }

    /// Records any number of gathers, which may read what earlier ones wrote, and submits them
    /// together when `record` returns `Ok`. Else nothing is submitted. (A gather of more than
    /// [`Options::max_pass_bytes`](crate::gpu::Options::max_pass_bytes) takes several submissions,
    /// which are made at the end, too.)
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// /// Names and prices of the products that other products point to.
    /// fn look_up(
    ///     engine: &Engine,
    ///     successors: &DeviceTensor<u32>,
    ///     ids: &DeviceTensor<i64>,
    ///     names: &DeviceTensor<[u8; 32]>,
    ///     prices: &DeviceTensor<f64>,
    /// ) -> Result<(DeviceTensor<[u8; 32]>, DeviceTensor<f64>)> {
    ///     engine.batch(|batch| {
    ///         let next = batch.gather(Op::gather(0), &Rules::default(), successors, ids)?;
    ///         Ok((
    ///             batch.gather(Op::gather(0), &Rules::default(), names, &next)?,
    ///             batch.gather(Op::gather(0), &Rules::default(), prices, &next)?,
    ///         ))
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What `record` returns, and the errors of the device.
    pub fn batch<R>(&self, record: impl FnOnce(&mut Batch<'_>) -> Result<R>) -> Result<R> {
        self.context().submit(|it| record(&mut self.batch_of(it)))
    }

    /// A batch of one gather, which may wait for more.
    pub(super) fn gather_one<R>(
        &self,
        record: impl FnOnce(&mut Batch<'_>) -> Result<R>,
    ) -> Result<R> {
        self.context().defer(|it| record(&mut self.batch_of(it)))
    }

    fn batch_of<'b>(&'b self, recording: &'b mut Recording) -> Batch<'b> {
        Batch {
            context: self.context(),
            recorders: self.recorders(),
            recording,
        }
    }
}
