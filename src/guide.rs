// One page, which is read from top to bottom: longer than other files for that.
//! From a host call to your own encoder.
//!
//! Four verbs (`gather`, `scatter`, `gather_gradient`, `embedding_bag`) can be called at six levels. Each
//! level does less than the one before it, and leaves more to you. Take the first that is fast enough: all
//! give the same bits.
//!
//! | level | call | waits for the device | submissions | makes, besides a pass |
//! |---|---|---|---|---|
//! | [host call](#host-call) | [`Executor::gather`] | until the output is there | several | tensors on the device |
//! | [device tensors](#device-tensors) | [`Engine::gather`] | no | one; small ones share it | the output, bind groups |
//! | [your output](#your-output) | [`Engine::gather_into`] | no | one; small ones share it | bind groups |
//! | [batch](#batch) | [`Engine::batch`] | no | one for all | as the calls in it |
//! | [your encoder](#your-encoder) | [`Engine::record`] | no | none | as the calls in it |
//! | [bound once](#bound-once) | [`Engine::bind`], [`Binding::encode`] | no | none | nothing |
//!
//! All of them check their tensors. Below them is one that does not: a plain gather from
//! [bare buffers](#bare-buffers).
//!
//! The page has three parts:
//!
//! - **Levels**, with gathers as the example: the table above, and [a count on the device](#a-count-on-the-device).
//! - **Verbs and tables**: [gather](#gather), [scatter](#scatter), [gather_gradient](#gradients) and
//!   [embedding_bag](#pooled-lookups); [quantized tables](#quantized-tables), [tables of f16 and
//!   bf16](#tables-of-f16-and-bf16), [tables in files](#tables-in-files), [tables beyond the device's
//!   memory](#tables-beyond-the-devices-memory).
//! - **In a program**: [async programs](#async-programs), [render loops](#render-loops),
//!   [transfers](#transfers), [memory](#memory), [order](#order) and [bad indices](#bad-indices).
//!
//! # Host call
//!
//! Tensors in, a tensor out. Params and indices go up, the output comes down, each time.
//!
//! ```
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//!
//! # fn main() -> wgpu_gather::Result<()> {
//! let executor = Executor::auto().wait().executor; // the GPU, or the CPU where there is none
//! let table = Tensor::new(&[3, 2], vec![0.5f32, 1.5, 2.5, 3.5, 4.5, 5.5])?;
//! let ids = Tensor::new(&[2], vec![2i64, 0])?;
//! let rows = executor.gather(Op::gather(0), &Rules::TENSORFLOW_GPU, &table, &ids).wait()?;
//! assert_eq!(rows.data(), [4.5, 5.5, 0.5, 1.5]);
//! # Ok(())
//! # }
//! ```
//!
//! Every call that may wait for the device is a value ([`GatherCall`], or [`Waiting`]), and does nothing
//! until you say how to wait: `.await` it, or block this thread with `wait`. (In a browser there is no
//! `wait`.)
//!
//! A host call moves all of params that its view reaches to read a part of it. On data that the
//! host has, [`Executor::Cpu`] reads only that part. The GPU is for data that is on the device, or
//! stays there.
//!
//! [`GatherCall::into`] writes to memory of yours instead of a new tensor. Where the same call is
//! made again and again, the system then need not find and clear memory for each output:
//!
//! ```
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//!
//! # fn main() -> wgpu_gather::Result<()> {
//! let table = Tensor::new(&[3, 2], vec![0.5f32, 1.5, 2.5, 3.5, 4.5, 5.5])?;
//! let mut rows = vec![0.0; 2 * 2];
//! for step in 0..2i64 {
//!     let ids = Tensor::new(&[2], vec![step, step + 1])?;
//!     let call = Executor::Cpu.gather(Op::gather(0), &Rules::TENSORFLOW_GPU, &table, &ids);
//!     call.into(&mut rows).wait()?;
//! }
//! assert_eq!(rows, [2.5, 3.5, 4.5, 5.5]);
//! # Ok(())
//! # }
//! ```
//!
//! # Device tensors
//!
//! An [`Engine`] executes gathers on one device: yours, or one of its own
//! ([`Engine::headless`]); [`requirements`] says what to request a device with, and [`Engine::probe`]
//! whether its driver gets a small gather right. A [`DeviceTensor`] is a range of a buffer with shape
//! and strides. Upload what stays, gather as often as you like, download what you want to see.
//!
//! ```no_run
//! use wgpu_gather::gpu::Engine;
//! use wgpu_gather::{Op, Result, Rules, Tensor, wgpu};
//!
//! async fn look_up(device: wgpu::Device, queue: wgpu::Queue) -> Result<Tensor<f32>> {
//!     let engine = Engine::new(device, queue).await?;
//!     let table = Tensor::new(&[1000, 64], vec![0.5f32; 64_000])?;
//!     let table = engine.upload(&table).await?;
//!     let ids = Tensor::new(&[4, 2], vec![0i32, 7, 1, 8, 2, 9, 3, 999])?;
//!     let ids = engine.upload(&ids).await?;
//!
//!     // Submitted; nothing waits.
//!     let rows = engine.gather(Op::gather(0), &Rules::default(), &table, &ids)?;
//!     // Outputs are params and indices of the next gather, and so are views of them.
//!     let last = engine.upload(&Tensor::new(&[1], vec![1u32])?).await?;
//!     let second = engine.gather(Op::gather(1), &Rules::default(), &rows, &last)?;
//!     let second = second.reshape(&[4, 64])?.slice(1, 0..8)?;
//!
//!     // Here the host waits, for all of it.
//!     engine.download(&second).await
//! }
//! ```
//!
//! Data that your program has on the device needs no upload: [`DeviceTensor::wrap`] takes a slice
//! of a buffer, of any strides, and [`DeviceTensor::share_buffer`] is the buffer of a tensor, for your
//! shaders (the first of [`DeviceTensor::share_parts`], if the tensor is larger than a buffer can be).
//! Tensors need not come from data: [`Engine::zeros`] makes one of zeros, and [`Engine::write`] writes to
//! one, or to a part of it.
//!
//! Where the type of the elements is known at run time only, [`AnyDeviceTensor`] takes the place of
//! [`DeviceTensor`], in every verb and at every level: it knows its type, and outputs have the type of
//! their table.
//!
//! # Your output
//!
//! [`Engine::gather_into`] writes into a contiguous tensor that you have: a slice of a larger one,
//! or a part of your own buffer. It lies in another buffer than what is read.
//!
//! ```no_run
//! use wgpu_gather::gpu::{DeviceTensor, Engine};
//! use wgpu_gather::{Layout, Op, Result, Rules, wgpu};
//!
//! /// Rows of a table into the vertex data of a frame, from byte 4096 on.
//! fn frame(
//!     engine: &Engine,
//!     table: &DeviceTensor<f32>,
//!     ids: &DeviceTensor<u32>, // 512 of them
//!     vertices: &wgpu::Buffer, // usage STORAGE, besides your own
//! ) -> Result<()> {
//!     let shape = Layout::contiguous(&[512, table.shape()[1]]);
//!     let mut rows = DeviceTensor::wrap(vertices.slice(4096..), shape)?;
//!     engine.gather_into(Op::gather(0), &Rules::default(), table, ids, &mut rows)
//! }
//! ```
//!
//! # Batch
//!
//! Each submission has a fixed cost. Small gathers on the engine's own tensors therefore share one
//! ([`Engine::gather`] says when). [`Engine::batch`] guarantees it, also for buffers of yours and in a browser:
//! it records any number of calls, of any verbs and types, and submits them together, or none if one is
//! refused. A call may read what an earlier one writes.
//!
//! ```no_run
//! use wgpu_gather::gpu::{DeviceTensor, Engine};
//! use wgpu_gather::{Op, Result, Rules};
//!
//! /// Positions and colours of the neighbours of some points.
//! fn neighbours(
//!     engine: &Engine,
//!     neighbour: &DeviceTensor<u32>,
//!     points: &DeviceTensor<u32>,
//!     positions: &DeviceTensor<[f32; 3]>,
//!     colours: &DeviceTensor<[u8; 4]>,
//! ) -> Result<(DeviceTensor<[f32; 3]>, DeviceTensor<[u8; 4]>)> {
//!     let (op, rules) = (Op::gather(0), Rules::default());
//!     engine.batch(|batch| {
//!         let ids = batch.gather(op, &rules, neighbour, points)?;
//!         let positions = batch.gather(op, &rules, positions, &ids)?;
//!         Ok((positions, batch.gather(op, &rules, colours, &ids)?))
//!     })
//! }
//! ```
//!
//! # Your encoder
//!
//! Between shaders of your own, a call is a few commands in your encoder. [`Engine::record`] records calls
//! there, with the verbs of a [batch](#batch); you submit when you like. Tensors are checked when they are
//! recorded; what is in them is read when the device executes the encoder.
//!
//! ```no_run
//! use wgpu_gather::gpu::{DeviceTensor, Engine};
//! use wgpu_gather::{Op, Result, Rules, wgpu};
//!
//! fn step(
//!     engine: &Engine,
//!     encoder: &mut wgpu::CommandEncoder,
//!     table: &DeviceTensor<f32>,
//!     ids: &DeviceTensor<u32>,
//!     rows: &mut DeviceTensor<f32>,
//! ) -> Result<()> {
//!     // dispatches of your own that write `ids`
//!     engine.record(encoder, |r| r.gather_into(Op::gather(0), &Rules::default(), table, ids, rows))
//!     // dispatches of your own that read `rows`
//! }
//! ```
//!
//! # Bound once
//!
//! Where the same tensors come again, frame by frame or step by step, [`Engine::bind`] does all that can
//! fail, once: it checks the tensors and makes the bind groups. What is left is to set a pipeline and a
//! bind group and to dispatch, in an encoder of yours ([`Binding::encode`]) or within a compute pass of
//! yours ([`Binding::encode_in_pass`]).
//!
//! ```no_run
//! use wgpu_gather::gpu::{Binding, DeviceTensor, Engine};
//! use wgpu_gather::{Op, Result, Rules, wgpu};
//!
//! /// Two tensors that take turns as table and output.
//! fn turns(
//!     engine: &Engine,
//!     [a, b]: [&mut DeviceTensor<f32>; 2],
//!     order: &DeviceTensor<i32>,
//! ) -> Result<[Binding; 2]> {
//!     let (op, rules) = (Op::gather(0), Rules::default());
//!     Ok([
//!         engine.bind(|r| r.gather_into(op, &rules, a, order, b))?,
//!         engine.bind(|r| r.gather_into(op, &rules, b, order, a))?,
//!     ])
//! }
//!
//! fn step(turns: &[Binding; 2], step: usize, pass: &mut wgpu::ComputePass<'_>) -> Result<()> {
//!     // dispatches of your own that write `order`
//!     turns[step % 2].encode_in_pass(pass)
//!     // dispatches of your own that read the output
//! }
//! ```
//!
//! A binding fixes the buffers, not their contents: write new indices into the tensor, from a shader or with
//! [`Engine::write`], and encode it again. A binding may be several calls, such as the
//! write of a token to a cache and the read of what it attends to (`examples/kv_cache.rs`). Calls that copy
//! or clear a buffer cannot be recorded into a pass: a scatter over a copy, a gradient, bags with both
//! weights and offsets.
//!
//! # Bare buffers
//!
//! A [`Plan`] says what is gathered, from shapes alone, and [`Engine::pipeline`] compiles it.
//! [`GatherPipeline::encode`] takes slices of buffers instead of tensors: you vouch that they hold what the plan
//! says. It is for plain gathers. [`GatherPipeline::bind`] makes the bind groups once, as [`Engine::bind`] does.
//!
//! ```no_run
//! use wgpu_gather::gpu::{Buffers, Engine, GatherPipeline};
//! use wgpu_gather::{IndexType, Layout, Op, Plan, Result, Rules, wgpu};
//!
//! /// Once: 512 rows of a table of 30,522 rows of 384 f32.
//! async fn prepare(engine: &Engine) -> Result<GatherPipeline> {
//!     let plan = Plan::new(
//!         Op::gather(0), &Rules::default(),
//!         size_of::<f32>(), &Layout::contiguous(&[30_522, 384]),
//!         IndexType::I32, &Layout::contiguous(&[512]),
//!     )?;
//!     engine.pipeline(&plan).await
//! }
//!
//! /// As often as you like, with any buffers.
//! fn record(
//!     gather: &GatherPipeline,
//!     encoder: &mut wgpu::CommandEncoder,
//!     [table, ids, rows]: [&wgpu::Buffer; 3],
//! ) -> Result<()> {
//!     gather.encode(encoder, &Buffers::new(table.slice(..), ids.slice(..), rows.slice(..)))
//! }
//! ```
//!
//! # A count on the device
//!
//! Where a shader decides how many indices there are (after compaction, sorting or sampling), the
//! call is made for the most there can be, and the count stays where it is: a `u32` in a buffer.
//! A one-workgroup prepass writes the indirect dispatch arguments from it. Output past the count keeps its
//! value; indices past it are not looked at. It counts entries of the first dim of indices, which must be
//! the first of the output.
//!
//! ```no_run
//! use wgpu_gather::gpu::{DeviceTensor, Engine};
//! use wgpu_gather::{Op, Result, Rules, wgpu};
//!
//! /// Rows of the ids that a shader of yours left in `ids`, as many as it wrote at byte 16 of `count`.
//! fn survivors(
//!     engine: &Engine,
//!     encoder: &mut wgpu::CommandEncoder,
//!     table: &DeviceTensor<f32>,
//!     ids: &DeviceTensor<u32>,
//!     rows: &mut DeviceTensor<f32>,
//!     count: &wgpu::Buffer,
//! ) -> Result<()> {
//!     let (op, rules) = (Op::gather(0), Rules::default());
//!     engine.record(encoder, |r| {
//!         r.gather_counted(op, &rules, table, ids, rows, count.slice(16..))
//!     })
//! }
//! ```
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
//! To add to a gradient that exists, call `scatter_into` with [`Reduce::Add`].
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
//! ([memory](#memory)). For a table that does not fit the device's memory there are four ways:
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
//!
//! # Async programs
//!
//! Calls that wait for the device return a future ([`Waiting`] or a call such as [`GatherCall`]); calls that
//! only submit return at once, so they can be made in async code as they are. No runtime is needed. While a
//! transfer is awaited, a thread of the engine polls the device; it ends when nothing is under way. `wait`
//! starts no thread and polls on the thread that called it.
//!
//! ```no_run
//! use wgpu_gather::gpu::{DeviceTensor, Engine};
//! use wgpu_gather::{Op, Result, Rules, Tensor};
//!
//! async fn serve(engine: &Engine, table: &DeviceTensor<f32>, ids: Vec<u32>) -> Result<Tensor<f32>> {
//!     let ids = engine.upload(&Tensor::from(ids)).await?;
//!     let rows = engine.gather(Op::gather(0), &Rules::TENSORFLOW_GPU, table, &ids)?; // submits
//!     engine.download(&rows).await
//! }
//! ```
//!
//! [`Executor::Cpu`] computes when its future is polled, and does not yield: run such a call on a thread that
//! may block (`spawn_blocking` of your runtime).
//!
//! # Render loops
//!
//! A frame must neither wait for the device nor compile a shader:
//!
//! - Before the first frame, upload the tables, [`bind`](Engine::bind) the calls to tensors that stay, or
//!   [warm up](Engine::warm_up) the pipelines of calls that differ from frame to frame.
//! - In a frame, update indices from a shader or with [`Engine::write`], then encode the binding in a compute
//!   pass of the frame's encoder. A write of up to 256 KiB does not wait (see [transfers](#transfers)), and the
//!   binding allocates nothing.
//! - Do not download in a frame. To look for bad indices, await [`Binding::check`] in a task of its own; it
//!   waits for what was submitted so far.
//!
//! ```no_run
//! use wgpu_gather::gpu::{Binding, DeviceTensor, Engine};
//! use wgpu_gather::{Op, Result, Rules, wgpu};
//!
//! /// Once: the transforms of the visible instances, gathered in the order in which they are drawn.
//! fn prepare(
//!     engine: &Engine,
//!     transforms: &DeviceTensor<[f32; 16]>,
//!     visible: &DeviceTensor<u32>,
//!     drawn: &mut DeviceTensor<[f32; 16]>,
//! ) -> Result<Binding> {
//!     let (op, rules) = (Op::gather(0), Rules::TENSORFLOW_GPU);
//!     engine.bind(|r| r.gather_into(op, &rules, transforms, visible, drawn))
//! }
//!
//! /// Each frame.
//! fn frame(binding: &Binding, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<()> {
//!     let mut encoder = device.create_command_encoder(&Default::default());
//!     let mut pass = encoder.begin_compute_pass(&Default::default());
//!     // dispatches of your own that write `visible`
//!     binding.encode_in_pass(&mut pass)?;
//!     drop(pass);
//!     // render passes that read `drawn`
//!     queue.submit([encoder.finish()]);
//!     Ok(())
//! }
//! ```
//!
//! # Transfers
//!
//! [`Engine::upload`] of up to 256 KiB waits for nothing: the bytes are copied at once, and reach
//! the device before what is submitted next. A larger tensor goes through four chunks of 4 MiB
//! that the engine keeps, and the call returns when the last of them is through.
//! [`Engine::download`] waits for everything that was submitted before it, and goes through four
//! such chunks. A view that is not contiguous is first gathered into one that is.
//!
//! # Memory
//!
//! - The buffer of a tensor that the engine made serves other tensors when the last view of it is
//!   dropped, also while the device still works on it: the order of submissions keeps them apart.
//!   A buffer that you saw ([`DeviceTensor::share_buffer`]), and those of calls that were recorded or bound,
//!   serve no other tensor.
//!   [`Engine::trim_pool`] frees what waits, and [`Options::max_pool_bytes`] limits it (to
//!   256 MiB, unless you say otherwise).
//! - On the host nothing is kept: each output of [`Executor::gather`] is new memory, and goes back to
//!   the allocator when it is dropped. [`GatherCall::into`] uses memory of yours.
//! - A host call that the device has no memory for is made by the CPU path; [`Engine::fallbacks`] counts
//!   those, and [`Options::when_full`] makes it an error instead. [`Options::max_memory_bytes`] limits what
//!   such a call takes.
//! - A tensor larger than `max_buffer_size` lies in several buffers ([`DeviceTensor::share_parts`]). What is
//!   larger than a binding is bound as several segments, in as few dispatches as the device's limits allow.
//! - wgpu fills a fresh buffer with zeros before a shader may see it, also one that the gather
//!   overwrites: one more pass over that memory. An output that is used again has that behind it.
//! - The numbers of a plan (shapes, strides, rules) are in a small uniform block for each dispatch,
//!   which is written once and never changed. The engine keeps the 512 that it used last; a [`Binding`]
//!   keeps its own.
//! - Pipelines are compiled when they are first needed, and kept. There are few, as shapes and
//!   rules are in the uniform block. Where a pause in the middle of work hurts, [`Engine::warm_up`] compiles
//!   those of calls to come, [`Engine::compile_all`] all that there are, and [`Options::pipeline_cache`] keeps
//!   them from run to run.
//!
//! # Order
//!
//! Submissions to a queue take effect in their order, and so do the commands in an encoder and
//! the dispatches in a pass; where one reads what another wrote, wgpu puts the barrier. Nothing
//! here needs a fence or a wait, and no gather disturbs another one that was recorded before it.
//! A small call may be submitted later than it was made, but never after something that would
//! show it. Keep three things in mind:
//!
//! - `queue.write_buffer` lands before *all* commands of the next submission. Two gathers in one
//!   encoder cannot see two contents that are written in this way; submit between them, or copy in
//!   the encoder.
//! - One dispatch cannot read and write one buffer, not even different parts of it. Output and
//!   inputs lie in different buffers, else there is [`Error::SameBuffer`].
//! - wgpu runs your callbacks (`map_async`, `on_submitted_work_done`) within any call that submits
//!   or polls, also of the engine. A callback may call the engine, and wait for another thread that
//!   does.
//!
//! # Bad indices
//!
//! A dispatch does not stop at a bad index. It writes what the rules say: zeros, the fill value,
//! or what the clipped or wrapped index selects. Under [`OutOfBounds::Error`] it writes zeros, and
//! further dispatches over the indices count the bad ones and find the first, into a [`Status`].
//! It is the only rule with further dispatches. Reading a status is a download of a few bytes, and waits.
//!
//! - A host call reads it, and fails.
//! - A tensor has reports of the bad indices that its calls have met, and inherits those of what they
//!   read. All views of the tensor share them. [`Engine::check`] takes them, [`Engine::download`] fails if
//!   there are any; after either, the data can be downloaded. The calls that write to one tensor, such as
//!   the steps of a loop, count in one status.
//! - Calls [recorded](#your-encoder) into your encoder report through the tensor that they write to, once
//!   the encoder was submitted. Those of a [binding](#bound-once) report through [`Binding::check`], which
//!   knows of the last recording that was submitted; in a pass, counts go on from recording to recording.
//! - With [bare buffers](#bare-buffers), `status` of [`Buffers`] is yours to give and to read, under any rules.
//!   It is cleared when a gather is recorded into an encoder, while in a pass it goes on counting.
//! - Under any rules, [`Engine::bad_indices`] looks at indices on the device and [`bad_indices`] at those of
//!   the host, without a gather.
//!
//! Counting reads the indices once more. With room for a flag behind the output it does so only if one of
//! them is bad: outputs that the engine makes have that room, and bare buffers if you say so
//! ([`Buffers::flag`]).
//!
//! ```no_run
//! use wgpu_gather::Result;
//! use wgpu_gather::gpu::Binding;
//!
//! /// After the submission, when it suits.
//! async fn look(binding: &Binding) -> Result<()> {
//!     match binding.check().await? {
//!         Some(bad) => println!("{} bad indices, the first at {:?}", bad.count, bad.position),
//!         None => println!("all indices are good"),
//!     }
//!     Ok(())
//! }
//! ```

#[cfg(doc)]
use crate::gpu::{
    AnyDeviceTensor, Binding, Buffers, DeviceQuantizedTable, DeviceTensor, Engine, GatherPipeline,
    Options, Status, requirements,
};
#[cfg(doc)]
use crate::quantized::QuantizedTable;
#[cfg(doc)]
use crate::shard::ShardedTable;
#[cfg(doc)]
use crate::{
    Bags, DType, Error, Executor, GatherCall, Op, OutOfBounds, Params, Plan, Reduce, Rules,
    ScatterPlan, Waiting, bad_indices,
};
