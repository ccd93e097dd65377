//! The verbs on the device, as an engine's methods: each is a batch of one.

use crate::bag::Bags;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::fold::Reduce;
use crate::gpu::batch::Batch;
use crate::gpu::engine::Engine;
use crate::gpu::tensor::table::{IndexTensor, Table, Values};
use crate::op::Op;
use crate::rules::Rules;

impl Engine {
    /// Gathers into a new tensor of the shape [`Op::output_shape`] and of the table's type, without waiting for the
    /// device.
    ///
    /// A submission costs more than a small gather. So the commands of this one may be held back, and
    /// go to the device together with those of up to 31 other calls (256 KiB of outputs). No result
    /// depends on it. A call is submitted at once if it uses a buffer of yours, or one that you
    /// have [taken](crate::gpu::AnyDeviceTensor::share_buffer) from a tensor. What is held back is submitted when
    /// you take a buffer, and by every other call of the engine that reaches the device: a download, an
    /// upload, a [batch](Engine::batch). Only a program that waits for the device by itself
    /// (`wgpu::Device::poll`), to take the time of its gathers, has to call [`Engine::flush`] before.
    /// In a browser nothing is held back.
    ///
    /// `table` is a tensor, or a quantized table that is decoded
    /// ([`DeviceQuantizedTable::to`](crate::gpu::DeviceQuantizedTable::to)). Tensors may be views of any
    /// strides, and outputs of earlier calls. The new tensor's buffer comes from dropped tensors, if there are
    /// any of its size.
    ///
    /// Under [`OutOfBounds::Error`](crate::OutOfBounds::Error) a bad index is reported when the
    /// tensor, or one that is made from it, is downloaded or [checked](Engine::check).
    /// A long chain of such gathers should be checked from time to time: each keeps a count of a
    /// few bytes on the device until then.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// fn rows(
    ///     engine: &Engine,
    ///     table: &DeviceTensor<f32>,
    ///     ids: &DeviceTensor<u32>,
    /// ) -> Result<DeviceTensor<f32>> {
    ///     engine.gather(Op::gather(0), &Rules::TORCH, table, ids)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// An [`Error`] that names the attribute or dim that does not fit; [`Error::NothingToRead`] and
    /// [`Error::FillWidth`] for rules that cannot be followed; [`Error::SizeOverflow`];
    /// [`Error::ElementsWithout`] and [`Error::Misaligned`] for indices that are none;
    /// [`Error::TensorTooLarge`], [`Error::TooComplex`] and [`Error::TooMany`] for what the device cannot
    /// hold; the errors of the device.
    pub fn gather<T: Table, I: IndexTensor>(
        &self,
        op: Op,
        rules: &Rules,
        table: &T,
        indices: &I,
    ) -> Result<T::Output> {
        self.one(|batch| batch.gather(op, rules, table, indices))
    }

    /// Gathers into a tensor of the caller, which must be contiguous. Makes no tensor; waits for
    /// nothing, and may be held back: see [`Engine::gather`].
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
    /// Those of [`Engine::gather`]: shapes, attributes or rules that do not fit, or exceed the device.
    /// [`Error::ElementWidth`], [`Error::OutputShape`], [`Error::OutputStrided`], and
    /// [`Error::SameBuffer`] if `output` lies in a buffer that is read.
    pub fn gather_into<T: Table, I: IndexTensor>(
        &self,
        op: Op,
        rules: &Rules,
        table: &T,
        indices: &I,
        output: &mut T::Output,
    ) -> Result<()> {
        self.one(|batch| batch.gather_into(op, rules, table, indices, output))
    }

    /// [`Engine::gather_into`], for as many indices as a `u32` at the start of `count` says: an
    /// earlier dispatch may have written it. It counts entries of the first dim of indices, which
    /// must be the first dim of the output. Output beyond them keeps its value, and indices beyond
    /// them are not looked at.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules, wgpu};
    ///
    /// /// Rows of the ids that a shader left in `ids`, as many as it wrote to the start of `count`.
    /// fn survivors(
    ///     engine: &Engine,
    ///     table: &DeviceTensor<f32>,
    ///     ids: &DeviceTensor<u32>,
    ///     rows: &mut DeviceTensor<f32>,
    ///     count: &wgpu::Buffer, // usage STORAGE
    /// ) -> Result<()> {
    ///     let (op, rules) = (Op::gather(0), Rules::default());
    ///     engine.gather_counted(op, &rules, table, ids, rows, count.slice(..))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Engine::gather`]: shapes, attributes or rules that do not fit, or exceed the device.
    /// [`Error::ElementWidth`], [`Error::OutputShape`], [`Error::OutputStrided`] and
    /// [`Error::SameBuffer`] for an output that does not fit; [`Error::CountPlace`],
    /// [`Error::CountElsewhere`]; [`Error::CountOfQuantized`] for a quantized table.
    pub fn gather_counted<T: Table, I: IndexTensor>(
        &self,
        op: Op,
        rules: &Rules,
        table: &T,
        indices: &I,
        output: &mut T::Output,
        count: wgpu::BufferSlice<'_>,
    ) -> Result<()> {
        self.one(|batch| batch.gather_counted(op, rules, table, indices, output, count))
    }

    /// Scatters `updates` over a copy of `base`, without waiting for the device: see
    /// [`Executor::scatter`](crate::Executor::scatter) for what that means. May be held back:
    /// see [`Engine::gather`].
    ///
    /// Tensors may be views of any strides. Under
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error) a bad index writes nothing, and is reported
    /// when the new tensor is downloaded or [checked](Engine::check), as that of a gather.
    ///
    /// The lookups are sorted by destination, stably, and each destination is folded by one
    /// invocation in the order of the indices: no atomic sum, and the same bits each time. That
    /// takes scratch memory of 18 bytes for each lookup, of up to 4 million at a time.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Reduce, Result, Rules};
    ///
    /// fn sums(
    ///     engine: &Engine,
    ///     base: &DeviceTensor<f32>,
    ///     ids: &DeviceTensor<u32>,
    ///     updates: &DeviceTensor<f32>,
    /// ) -> Result<DeviceTensor<f32>> {
    ///     engine.scatter(Op::gather(0), Reduce::Add, &Rules::TORCH, base, ids, updates)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// An [`Error`] that names the attribute or dim that does not fit, in the name of the scatter;
    /// [`Error::UpdatesShape`]; [`Error::OtherElements`] and [`Error::ElementsWithout`] for a type that is not
    /// that of `updates`, or that is none of numbers; [`Error::ReduceType`], [`Error::NothingToRead`],
    /// [`Error::FillWidth`], [`Error::SizeOverflow`]; [`Error::Misaligned`] for a tensor that does not
    /// start at a whole element; [`Error::CpuOnly`] for f64 and complex numbers, unless they are only moved
    /// ([`Reduce::None`]). For what the device cannot hold: [`Error::TensorTooLarge`] if updates take several
    /// bindings and are of 16-bit floats, or not in the order of their lookups in memory;
    /// [`Error::TooComplex`]; [`Error::TooMany`] for 2^31 lookups or destinations. The errors of the device.
    pub fn scatter<T: Values, I: IndexTensor>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        base: &T,
        indices: &I,
        updates: &T,
    ) -> Result<T> {
        self.one(|batch| batch.scatter(op, reduce, rules, base, indices, updates))
    }

    /// Scatters in place: into a tensor of the device, which may be a view, such as a part of a
    /// cache. Makes no tensor and waits for nothing.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Reduce, Result, Rules};
    ///
    /// /// Writes the keys of new tokens to their places.
    /// fn step(
    ///     engine: &Engine,
    ///     cache: &mut DeviceTensor<f32>,
    ///     places: &DeviceTensor<u32>,
    ///     keys: &DeviceTensor<f32>,
    /// ) -> Result<()> {
    ///     engine.scatter_into(Op::gather(0), Reduce::None, &Rules::ONNX, cache, places, keys)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Engine::scatter`]: shapes, attributes, types or rules that do not fit, or exceed the device.
    /// [`Error::OverlappingDestination`] for a view in which two elements may lie in one place; [`Error::SameBuffer`] if the destination lies in a buffer that is read.
    pub fn scatter_into<T: Values, I: IndexTensor>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        destination: &mut T,
        indices: &I,
        updates: &T,
    ) -> Result<()> {
        self.one(|batch| batch.scatter_into(op, reduce, rules, destination, indices, updates))
    }

    /// The gradient of a gather with respect to its params: a new tensor of the shape `params_shape`, in which
    /// `grad_output` (of the shape of the gather's output) is summed where the gather read, in the order of the
    /// indices. Does not wait for the device. To add to a gradient that exists, [scatter](Engine::scatter_into) into
    /// it with [`Reduce::Add`].
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// fn of_table(
    ///     engine: &Engine,
    ///     table: &DeviceTensor<f32>,
    ///     ids: &DeviceTensor<u32>,
    ///     grad_rows: &DeviceTensor<f32>,
    /// ) -> Result<DeviceTensor<f32>> {
    ///     engine.gather_gradient(Op::gather(0), &Rules::TORCH, table.shape(), ids, grad_rows)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Engine::scatter`] with [`Reduce::Add`]: shapes, attributes, types or rules that do not fit, elements
    /// without sums on a device.
    pub fn gather_gradient<T: Values, I: IndexTensor>(
        &self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: &I,
        grad_output: &T,
    ) -> Result<T> {
        self.one(|batch| batch.gather_gradient(op, rules, params_shape, indices, grad_output))
    }

    /// Pools the rows of a table into a new tensor, without waiting for the device: see
    /// [`Executor::embedding_bag`](crate::Executor::embedding_bag).
    ///
    /// Offsets come from the host, which checks them, and go along with the call. It may be held back,
    /// and reports bad indices when the output is downloaded: see [`Engine::gather`]. One invocation folds up to 16
    /// bytes of the columns of a bag, from its first index to its last: a bag with very many indices
    /// takes as long as those do one after the other.
    ///
    /// A quantized table is decoded to f32 ([`DeviceQuantizedTable::to`](crate::gpu::DeviceQuantizedTable::to))
    /// and may exceed a binding. Besides the output, such a call takes memory for at most 16 MiB of decoded
    /// rows, at least one.
    ///
    /// ```no_run
    /// # use wgpu_gather::{BagMode, Bags, Result, Rules, Tensor, gpu::Engine};
    /// # use wgpu_gather::quantized::QuantizedTable;
    /// # fn sums(engine: &Engine, bytes: &[u8]) -> Result<Tensor<f32>> {
    /// let table = engine.upload(&QuantizedTable::rows(&[1 << 20, 128], bytes)?).wait()?;
    /// let ids = engine.upload(&Tensor::new(&[3], vec![7u32, 9, 9])?).wait()?;
    /// let bags = Bags::offsets(BagMode::Sum, &[0, 1]);
    /// let sums = engine.embedding_bag(bags, &Rules::TORCH, &table.to::<f32>(), &ids, None)?;
    /// engine.download(&sums).wait()
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::RankExpected`], [`Error::OffsetOutOfRange`], [`Error::NoOffsets`], [`Error::BagModeType`],
    /// [`Error::WeightsWithout`], [`Error::WeightsShape`] and [`Error::PaddingOutOfRange`] for bags that do not
    /// fit; [`Error::ElementsWithout`] for elements that are no numbers, and [`Error::OtherElements`] for
    /// weights of another type or a quantized table that is not decoded to f32; [`Error::NothingToRead`],
    /// [`Error::FillWidth`], [`Error::SizeOverflow`]; [`Error::CpuOnly`] for f64 and complex numbers;
    /// [`Error::TensorTooLarge`] for what a dispatch cannot bind (see
    /// [`Executor::embedding_bag`](crate::Executor::embedding_bag));
    /// [`Error::MissingUsage`] if a buffer of the caller with weights lacks `COPY_SRC` and there are
    /// offsets; the errors of the device.
    pub fn embedding_bag<T: Table, I: IndexTensor>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &T,
        indices: &I,
        weights: Option<&T::Output>,
    ) -> Result<T::Output> {
        self.one(|batch| batch.embedding_bag(bags, rules, table, indices, weights))
    }

    /// Pools into a tensor of the caller, which must be contiguous. Makes no tensor, but memory for decoded
    /// rows of a quantized table.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{BagMode, Bags, Result, Rules};
    ///
    /// /// The mean of the rows of each row of ids.
    /// fn means(
    ///     engine: &Engine,
    ///     table: &DeviceTensor<f32>,
    ///     ids: &DeviceTensor<u32>,
    ///     means: &mut DeviceTensor<f32>,
    /// ) -> Result<()> {
    ///     let bags = Bags::rows(BagMode::Mean);
    ///     engine.embedding_bag_into(bags, &Rules::TORCH, table, ids, None, means)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Engine::embedding_bag`]: bags, shapes, types or rules that do not fit, or exceed the device.
    /// [`Error::OutputShape`], [`Error::OutputStrided`], and
    /// [`Error::SameBuffer`] if `output` lies in a buffer that is read.
    pub fn embedding_bag_into<T: Table, I: IndexTensor>(
        &self,
        bags: Bags<'_>,
        rules: &Rules,
        table: &T,
        indices: &I,
        weights: Option<&T::Output>,
        output: &mut T::Output,
    ) -> Result<()> {
        self.one(|batch| batch.embedding_bag_into(bags, rules, table, indices, weights, output))
    }

    /// A batch of one call, which may wait for more.
    pub(super) fn one<R>(&self, record: impl FnOnce(&mut Batch<'_>) -> Result<R>) -> Result<R> {
        let context = self.context();
        context.defer(|recording| record(&mut Batch { context, recording }))
    }
}
