//! The four verbs, and the tables they read. The levels of a call are in the [guide](super).
//!
//! # Gather
//!
//! [`Op`] says what an index selects: [`Op::gather`] a slice along an axis (`tf.gather`, `index_select`),
//! [`Op::gather_nd`] the slice at a tuple of coordinates (`GatherND`), [`Op::gather_elements`] one element
//! (`torch.gather`, `take_along_axis`). [`Rules`] say what a negative or out-of-range index means. The table
//! may be a view:
//!
//! ```
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//!
//! # fn main() -> wgpu_gather::Result<()> {
//! let scores = Tensor::new(&[2, 3], vec![0.1f32, 0.7, 0.2, 0.5, 0.3, 0.9])?;
//! let best = Tensor::new(&[2, 1], vec![1i64, 2])?;
//! let call = Executor::Cpu.gather(Op::gather_elements(1), &Rules::TORCH, &scores, &best);
//! assert_eq!(call.wait()?.data(), [0.7, 0.9]);
//!
//! // Two columns, as rows of the transposed matrix.
//! let columns = scores.view().permute(&[1, 0])?;
//! let ids = Tensor::from([2, 0]);
//! let picked = Executor::Cpu.gather(Op::gather(0), &Rules::TORCH, &columns, &ids).wait()?;
//! assert_eq!(picked.data(), [0.2, 0.9, 0.1, 0.5]);
//! # Ok(())
//! # }
//! ```
//!
//! # Scatter
//!
//! A scatter takes the operator of a gather and goes the other way: where the gather would read an element of
//! its table, the scatter writes an update. [`Executor::scatter`] and [`Engine::scatter`] write to a copy
//! (`tensor_scatter_nd_*`, `ScatterND`, `ScatterElements`, `.at[].add`); [`Executor::scatter_into`] and
//! [`Engine::scatter_into`] write in place (`index_add_`, `scatter_reduce_`), also into a view of a tensor,
//! such as a part of a cache.
//!
//! ```
//! use wgpu_gather::{Executor, Op, Reduce, Rules, Tensor};
//!
//! # fn main() -> wgpu_gather::Result<()> {
//! let mut counts = [0u32; 4];
//! let ids = Tensor::from([2, 0, 2]);
//! let ones = Tensor::from([1u32, 1, 1]);
//! let (op, rules) = (Op::gather(0), Rules::TORCH);
//! Executor::Cpu.scatter_into(op, Reduce::Add, &rules, &[4], &mut counts, &ids, &ones).wait()?;
//! assert_eq!(counts, [1, 0, 2, 0]);
//! # Ok(())
//! # }
//! ```
//!
//! ## How duplicate indices are combined
//!
//! [`Reduce`] names the operation: replace (the last update wins), add, multiply, minimum, maximum. Updates of
//! one destination are combined in row-major order of the indices, starting from the value that is already
//! there. Float sums therefore have the bits of the sequential loop, on every executor and in every run; only
//! subnormal numbers may become zeros on a GPU. An out-of-range index that a gather would answer with zeros
//! or a fill value writes nothing.
//!
//! On a device a scatter takes several dispatches: the keys of the lookups, a stable sort of them, and the
//! fold. [`ScatterPlan::explain`] lists them. Devices have no arithmetic on `f64` and complex numbers: such
//! a call is [`Error::CpuOnly`] there.
//!
//! ```no_run
//! use wgpu_gather::gpu::{DeviceTensor, Engine};
//! use wgpu_gather::{Op, Reduce, Result, Rules};
//!
//! /// Adds the rows of `updates` to those rows of `table` that `ids` name.
//! fn add_rows(
//!     engine: &Engine,
//!     table: &mut DeviceTensor<f32>,
//!     ids: &DeviceTensor<u32>,
//!     updates: &DeviceTensor<f32>,
//! ) -> Result<()> {
//!     engine.scatter_into(Op::gather(0), Reduce::Add, &Rules::TORCH, table, ids, updates)
//! }
//! ```
//!
//! # Gradients
//!
//! [`Executor::gather_gradient`] and [`Engine::gather_gradient`] take the gradient of a gather's output and
//! return that of its table: zeros, to which each row of the gradient is added where the gather read its row.
//! To add to a gradient that exists, call `scatter_into` with [`Reduce::Add`] and the gradient as destination. No
//! verb scales: for a step of gradient descent, multiply the rows by the negative learning rate first
//! (`examples/train_embedding.rs`).
//!
//! ```
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//!
//! # fn main() -> wgpu_gather::Result<()> {
//! let ids = Tensor::from([2, 0, 2]);
//! let grad_rows = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! let (op, rules) = (Op::gather(0), Rules::TORCH);
//! let grad_table = Executor::Cpu.gather_gradient(op, &rules, &[3, 2], &ids, &grad_rows).wait()?;
//! assert_eq!(grad_table.data(), [3.0, 4.0, 0.0, 0.0, 6.0, 8.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Pooled lookups
//!
//! [`Executor::embedding_bag`] and [`Engine::embedding_bag`] return one row for each bag of indices: the sum,
//! mean or maximum of the rows that they select (`F.embedding_bag`). [`Bags`] says where bags begin and which
//! index stands for padding. Offsets are in host memory and go along with the call; a binding keeps those
//! that it was made with. Weights are a method of the host call, and an argument on a device.
//!
//! ```
//! use wgpu_gather::{BagMode, Bags, Executor, Rules, Tensor};
//!
//! # fn main() -> wgpu_gather::Result<()> {
//! let table = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 10.0, 20.0, 100.0, 200.0])?;
//! let ids = Tensor::from([2, 0, 1]);
//! // Two bags: the indices 2 and 0, and the index 1.
//! let bags = Bags::offsets(BagMode::Sum, &[0, 2]);
//! let sums = Executor::Cpu.embedding_bag(bags, &Rules::TORCH, &table, &ids).wait()?;
//! assert_eq!(sums.data(), [101.0, 202.0, 10.0, 20.0]);
//! # Ok(())
//! # }
//! ```
//!
//! ```no_run
//! use wgpu_gather::gpu::{DeviceTensor, Engine};
//! use wgpu_gather::{BagMode, Bags, Result, Rules};
//!
//! fn means(
//!     engine: &Engine,
//!     table: &DeviceTensor<f32>,
//!     ids: &DeviceTensor<u32>,
//!     offsets: &[usize],
//! ) -> Result<DeviceTensor<f32>> {
//!     engine.embedding_bag(Bags::offsets(BagMode::Mean, offsets), &Rules::TORCH, table, ids, None)
//! }
//! ```
//!
//! # Quantized tables
//!
//! [`Engine::upload`] uploads a [`QuantizedTable`] as it is, and [`DeviceQuantizedTable::to`] makes it the table
//! of a gather or a pooled lookup, at every level: what is read is decoded. A gather takes one dispatch, as from
//! a plain table. Between host tensors, [`QuantizedTable::to`] does the same; the codes are uploaded for each
//! call.
//!
//! ```no_run
//! # use wgpu_gather::{Op, Result, Rules, gpu::{DeviceQuantizedTable, DeviceTensor, Engine}};
//! fn rows(
//!     engine: &Engine,
//!     table: &DeviceQuantizedTable,
//!     ids: &DeviceTensor<u32>,
//! ) -> Result<DeviceTensor<f32>> {
//!     engine.gather(Op::gather(0), &Rules::TORCH, &table.to::<f32>(), ids)
//! }
//! ```
//!
//! # Tables of f16 and bf16
//!
//! Gathers move 16-bit elements as they are. Without the feature `half`, a table of them is [`Params`]: the
//! bytes, their [`DType`] and a layout. To decode the rows to `f32` as they are gathered, make it a
//! [`QuantizedTable`] of the format `F16` or `BF16`, which holds the same bytes:
//!
//! ```
//! use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
//! use wgpu_gather::{DType, Executor, Layout, Op, Params, Rules, Tensor};
//!
//! # fn main() -> wgpu_gather::Result<()> {
//! // Two rows of two elements, as a file has them: 1, -2; 0.5, 0.
//! let bytes = [0x00, 0x3c, 0x00, 0xc0, 0x00, 0x38, 0x00, 0x00];
//! let last = Tensor::from([1]);
//! let (op, rules) = (Op::gather(0), Rules::TORCH);
//!
//! let table = Params::new(&bytes, DType::F16, Layout::contiguous(&[2, 2]))?;
//! let rows = Executor::Cpu.gather(op, &rules, &table, &last).wait()?;
//! assert_eq!((rows.element_type(), rows.bytes()), (DType::F16.into(), &bytes[4..]));
//!
//! let table = QuantizedTable::blocks(BlockFormat::F16, &[2, 2], &bytes)?;
//! let rows = Executor::Cpu.gather(op, &rules, &table.to::<f32>(), &last).wait()?;
//! assert_eq!(rows.data(), [0.5, 0.0]);
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `half`, `Tensor<half::f16>` and `Tensor<half::bf16>` are tables like any other. Scatters,
//! gradients and pooled lookups of 16-bit floats calculate in `f32` and round once, at the end.
//!
//! # Tables in files
//!
//! The crate `wgpu-gather-files` (the folder `files/`) maps `.safetensors`, `.gguf`, `.npy` and `.npz` files.
//! `TensorFile::open(path)?.tensor(name)?` is a tensor of a file. Its `params()` is a table of plain elements,
//! `indices()` a tensor of indices, and `quantized_table()` a table to decode: blocks of GGUF, or f16 and bf16
//! of a `.safetensors` file. They are views of the mapped file (arrays of an `.npz` file are held in memory), and
//! all go into [`Engine::upload`]. The crate's documentation has a GGUF table and a table of f16 from
//! `.safetensors`; both examples run as tests.
//!
//! # Tables beyond the device's memory
//!
//! A table larger than a binding or a buffer of the device needs nothing of you: it is split into segments
//! ([memory](super::programs#memory)). For a table that does not fit the device's memory there are four ways:
//!
//! - **Store fewer bits.** A [quantized table](#quantized-tables) stays quantized on the device.
//! - **Gather on the CPU path** from a mapped file, and upload the rows. The file is read where rows are selected.
//! - **Several devices.** [`ShardedTable`] distributes the rows over executors, one for each GPU, or a GPU and
//!   the CPU path; the crate in `mpi/` distributes them over machines.
//! - **Fall back.** A host call on [`Executor::Gpu`] that the device has no memory for runs on the CPU path.
//!   [`Engine::fallbacks`] counts such calls. [`Options::max_memory_bytes`] sets a limit below that of the
//!   device, and [`Options::when_full`] makes the fallback an error.
//!
//! An output that is too large for host memory comes in pieces ([`GatherCall::chunks`]):
//!
//! ```
//! use wgpu_gather::{Error, Executor, Op, Rules, Tensor};
//!
//! # fn main() -> wgpu_gather::Result<()> {
//! // In a program: a mapped file.
//! let table = Tensor::new(&[3, 2], vec![0.5f32, 1.5, 2.5, 3.5, 4.5, 5.5])?;
//! let ids = Tensor::from([2, 0]);
//! let mut file = Vec::new();
//! Executor::Cpu
//!     .gather(Op::gather(0), &Rules::TENSORFLOW_GPU, &table, &ids)
//!     .chunks(64 << 20, |bytes| {
//!         file.extend_from_slice(bytes); // or write them to a file
//!         Ok::<(), Error>(())
//!     })
//!     .wait()?;
//! assert_eq!(file.len(), 4 * size_of::<f32>());
//! # Ok(())
//! # }
//! ```

#[cfg(doc)]
use crate::gpu::{DeviceQuantizedTable, Engine, Options};
#[cfg(doc)]
use crate::quantized::QuantizedTable;
#[cfg(doc)]
use crate::shard::ShardedTable;
#[cfg(doc)]
use crate::{Bags, DType, Error, Executor, GatherCall, Op, Params, Reduce, Rules, ScatterPlan};
