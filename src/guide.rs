// One page, which is read from top to bottom: longer than other files for that.
//! From a host call to your own encoder.
//!
//! A gather can be called at six levels. Each does less than the one before it, and leaves more to
//! you. Take the first that is fast enough: all give the same bits.
//!
//! | level | call | waits for the device | submissions | makes, besides a pass |
//! |---|---|---|---|---|
//! | [host call](#host-call) | [`Executor::run`] | until the output is there | several | tensors on the device |
//! | [device tensors](#device-tensors) | [`Engine::gather`] | no | one; small ones share it | the output, bind groups |
//! | [your output](#your-output) | [`Engine::gather_into`] | no | one; small ones share it | bind groups |
//! | [batch](#batch) | [`Engine::batch`] | no | one for all | as the calls in it |
//! | [your encoder](#your-encoder) | [`GatherPipeline::encode`] | no | none | bind groups |
//! | [bound once](#bound-once) | [`GatherBinding::encode`] | no | none | nothing |
//!
//! [Transfers](#transfers), [memory](#memory), [order](#order) and [bad indices](#bad-indices) work
//! alike at every level; they are at the end.
//!
//! # Host call
//!
//! Tensors in, a tensor out. Params and indices go up, the output comes down, each time.
//!
//! ```
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//!
//! # fn main() -> wgpu_gather::Result<()> {
//! let executor = Executor::auto_blocking().executor; // the GPU, or the CPU where there is none
//! let table = Tensor::new(&[3, 2], vec![0.5f32, 1.5, 2.5, 3.5, 4.5, 5.5])?;
//! let ids = Tensor::new(&[2], vec![2i64, 0])?;
//! let rules = Rules::TENSORFLOW_GPU;
//! let rows = executor.run_blocking(Op::gather(0), &rules, &table.view(), &ids.view())?;
//! assert_eq!(rows.data(), [4.5, 5.5, 0.5, 1.5]);
//! # Ok(())
//! # }
//! ```
//!
//! A host call moves all of params that its view reaches to read a part of it. On data that the
//! host has, [`Executor::Cpu`] reads only that part. The GPU is for data that is on the device, or
//! stays there.
//!
//! In an async program, note that [`Executor::Cpu`] computes when its future is polled, and does not
//! yield: give such a call to a thread that may block (`spawn_blocking` of your runtime).
//!
//! [`Executor::run_into`] writes to memory of yours instead of a new tensor. Where the same call is
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
//!     let rules = Rules::TENSORFLOW_GPU;
//!     let (params, indices) = (&table.view(), &ids.view());
//!     Executor::Cpu.run_into_blocking(Op::gather(0), &rules, params, indices, &mut rows)?;
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
//!     let table = engine.upload(&table.view()).await?;
//!     let ids = Tensor::new(&[4, 2], vec![0i32, 7, 1, 8, 2, 9, 3, 999])?;
//!     let ids = engine.upload(&ids.view()).await?;
//!
//!     // Submitted; nothing waits.
//!     let rows = engine.gather(Op::gather(0), &Rules::default(), &table, &ids)?;
//!     // Outputs are params and indices of the next gather, and so are views of them.
//!     let last = engine.upload(&Tensor::new(&[1], vec![1u32])?.view()).await?;
//!     let second = engine.gather(Op::gather(1), &Rules::default(), &rows, &last)?;
//!     let second = second.reshape(&[4, 64])?.slice(1, 0..8)?;
//!
//!     // Here the host waits, for all of it.
//!     engine.download(&second).await
//! }
//! ```
//!
//! Every call that waits has a twin that blocks the thread, such as
//! [`Engine::download_blocking`].
//!
//! Data that your program has on the device needs no upload: [`DeviceTensor::wrap`] takes a slice
//! of a buffer, of any strides, and [`DeviceTensor::buffer`] is the buffer of a tensor, for your
//! shaders (the first of [`DeviceTensor::parts`], if the tensor is larger than a buffer can be).
//!
//! # Your output
//!
//! [`Engine::gather_into`] writes into a contiguous tensor that you have: a slice of a larger one,
//! or a part of your own buffer. [`Engine::gather_in_place`] allows that it shares its buffer
//! with what is read, for the price of a copy of that.
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
//! A submission has a price of its own, which small gathers notice. Those on the engine's own
//! tensors therefore share one as they are ([`Engine::gather`] says when). [`Engine::batch`] makes
//! sure of it, also with buffers of yours and in a browser: it records any number of gathers, of
//! any types, and submits them together, or none if one is refused. One may read what an earlier
//! one writes. [`Engine::gather_tables`] is short for several tables of one type and the same
//! indices.
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
//! Between shaders of your own, a gather is a few commands in your encoder. A [`Plan`] says what is
//! gathered, from shapes alone. [`Engine::pipeline`] compiles it. [`GatherPipeline::encode`] records it,
//! in a compute pass of its own, and [`GatherPipeline::encode_in_pass`] into a pass of yours; you submit
//! when you like. It takes tensors, which it checks
//! ([`GatherPipeline::bind_tensors`]), or just slices of buffers ([`Buffers`]).
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
//!     gather.encode(encoder, &Buffers {
//!         params: table.slice(..),
//!         indices: ids.slice(..),
//!         output: rows.slice(..),
//!         status: None,
//!         flag: false,
//!         count: None,
//!     })
//! }
//! ```
//!
//! # Bound once
//!
//! Where the same buffers come again, frame by frame or step by step, [`GatherPipeline::bind`] does all
//! that can fail: it checks the buffers and makes the bind groups. What is left is to set a
//! pipeline and a bind group and to dispatch.
//!
//! ```no_run
//! use wgpu_gather::gpu::{GatherBinding, Buffers, DeviceTensor, GatherPipeline};
//! use wgpu_gather::{Result, wgpu};
//!
//! /// Two buffers that take turns as params and output.
//! fn turns(
//!     gather: &GatherPipeline,
//!     [a, b]: [&DeviceTensor<f32>; 2],
//!     order: &DeviceTensor<i32>,
//! ) -> Result<[GatherBinding; 2]> {
//!     Ok([
//!         gather.bind_tensors(a, order, b, None)?,
//!         gather.bind_tensors(b, order, a, None)?,
//!     ])
//! }
//!
//! fn step(turns: &[GatherBinding; 2], step: usize, pass: &mut wgpu::ComputePass<'_>) {
//!     // dispatches of your own that write `order`
//!     turns[step % 2].encode_in_pass(pass);
//!     // dispatches of your own that read the output
//! }
//! ```
//!
//! What the bind groups refer to is fixed, not what lies there: write new indices into the buffer,
//! from a shader or with `queue.write_buffer`, and record again.
//!
//! # A count on the device
//!
//! Where a shader decides how many indices there are (after compaction, sorting or sampling), the
//! plan is made for the most there can be, and the count stays where it is: a `u32` in a buffer.
//! A small dispatch before the gather reads it and fits the gather to it (`dispatch_indirect`).
//! Output past the count keeps its value; indices past it are not looked at. It counts entries of
//! the first dim of indices, which must be the first of the output.
//!
//! ```no_run
//! use wgpu_gather::gpu::{Buffers, DeviceTensor, Engine, GatherPipeline};
//! use wgpu_gather::{Op, Result, Rules, wgpu};
//!
//! /// Rows of the ids that a shader of yours left in `ids`, as many as it wrote into `count`.
//! fn survivors(
//!     engine: &Engine,
//!     table: &DeviceTensor<f32>,
//!     ids: &DeviceTensor<u32>,
//!     rows: &mut DeviceTensor<f32>,
//!     count: &wgpu::Buffer,
//! ) -> Result<()> {
//!     let (op, rules) = (Op::gather(0), Rules::default());
//!     engine.gather_counted(op, &rules, table, ids, rows, count.slice(..))
//! }
//!
//! /// The same in your own encoder; the count is the word at byte 16.
//! fn record(
//!     gather: &GatherPipeline,
//!     encoder: &mut wgpu::CommandEncoder,
//!     buffers: &Buffers<'_>,
//!     count: &wgpu::Buffer,
//! ) -> Result<()> {
//!     gather.encode(encoder, &Buffers { count: Some(count.slice(16..)), ..*buffers })
//! }
//! ```
//!
//! # Scatters
//!
//! A scatter has the same levels: [`Executor::scatter`](crate::Executor::scatter) and
//! [`scatter_into`](crate::Executor::scatter_into) on host tensors, [`Engine::scatter`],
//! [`Engine::scatter_into`] (in place, into a view of a cache, say) and [`Engine::gather_gradient`] on
//! device tensors, the same in a [batch](#batch), and
//! [`ScatterPipeline`](crate::gpu::ScatterPipeline) in your own encoder.
//! [`ScatterPlan::explain`](crate::ScatterPlan::explain) says what one does. It is submitted at once, as
//! it takes several dispatches: the keys of the lookups, a sort of them, and the fold.
//!
//! # Quantized tables
//!
//! `gpu::Engine::upload_quantized` uploads a [`QuantizedTable`](crate::quantized::QuantizedTable) as it is,
//! and `gpu::Engine::gather_quantized` decodes what it gathers: one dispatch, as from a plain table. In an
//! encoder of your own, `gpu::Engine::quantized_pipeline` is what `gpu::Engine::pipeline` is for plain
//! tables. Between host tensors there is
//! [`Executor::gather_quantized`](crate::Executor::gather_quantized), which uploads the codes for each call.
//!
//! # Transfers
//!
//! [`Engine::upload`] of up to 256 KiB waits for nothing: the bytes are copied at once, and reach
//! the device before what is submitted next. A larger tensor goes through four chunks of 4 MiB
//! that the engine keeps, and the call returns when the last of them is through.
//! [`Engine::download`] waits for everything that was submitted before it, and goes through four
//! such chunks. A view that is not contiguous is first gathered into one that is.
//! [`Engine::upload_with_progress`] and [`Engine::download_with_progress`] say how far they are.
//!
//! # Memory
//!
//! - The buffer of a tensor that the engine made serves other tensors when the last view of it is
//!   dropped, also while the device still works on it: the order of submissions keeps them apart.
//!   A buffer that you saw ([`DeviceTensor::buffer`]) stays yours.
//!   [`Engine::trim_pool`] frees what waits, and [`Options::max_pool_bytes`] limits it (to
//!   256 MiB, unless you say otherwise).
//! - On the host nothing is kept: each output of [`Executor::run`] is new memory, and goes back to
//!   the allocator when it is dropped. [`Executor::run_into`] uses memory of yours.
//! - A tensor larger than `max_buffer_size` lies in several buffers ([`DeviceTensor::parts`]); at
//!   this level, [`GatherPipeline::bind_tensors`] takes it. What is larger than a binding is bound as
//!   several segments, in as few dispatches as the device's limits allow.
//! - wgpu fills a fresh buffer with zeros before a shader may see it, also one that the gather
//!   overwrites: one more pass over that memory. An output that is used again has that behind it.
//! - The numbers of a plan (shapes, strides, rules) are in a small uniform block for each dispatch,
//!   which is written once and never changed. The engine keeps those of the 16 plans that it met
//!   last; a [`GatherPipeline`] keeps its own.
//! - Pipelines are compiled when they are first needed, and kept. There are few, as shapes and
//!   rules are in the uniform block. Where a pause in the middle of work hurts,
//!   [`Engine::pipeline`] compiles those of a plan, [`Engine::warm_up`] all that there are, and
//!   [`Options::pipeline_cache`] keeps them from run to run.
//!
//! # Order
//!
//! Submissions to a queue take effect in their order, and so do the commands in an encoder and
//! the dispatches in a pass; where one reads what another wrote, wgpu puts the barrier. Nothing
//! here needs a fence or a wait, and no gather disturbs another one that was recorded before it.
//! A small gather may be submitted later than it was called, but never after something that would
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
//! That is the one rule that costs more. Reading a status is a download of a few bytes, and waits.
//!
//! - A host call reads it, and fails.
//! - A tensor has reports of the bad indices that its calls have met, and inherits those of what they
//!   read. All views of the tensor share them. [`Engine::check`] takes them, [`Engine::download`] fails if
//!   there are any; after either, the data can be downloaded. The calls that write to one tensor, such as
//!   the steps of a loop, count in one status.
//! - In your own encoder, `status` of [`Buffers`] is yours to give and to read, under any rules. It is
//!   cleared when a gather is recorded into an encoder, while in a pass it goes on counting.
//! - Under any rules, [`Engine::bad_indices`] looks at indices on the device and [`bad_indices`] at those of
//!   the host, without a gather.
//!
//! Counting reads the indices once more. With room for a flag behind the output it does so only if one of
//! them is bad: outputs that the engine makes have that room, and yours if you say so
//! ([`flag`](crate::gpu::Buffers::flag) of [`Buffers`]).
//!
//! ```no_run
//! use wgpu_gather::gpu::{DeviceTensor, GatherBinding, GatherPipeline, Status};
//! use wgpu_gather::Result;
//!
//! fn bind(
//!     gather: &GatherPipeline,
//!     table: &DeviceTensor<f32>,
//!     ids: &DeviceTensor<i64>,
//!     rows: &DeviceTensor<f32>,
//! ) -> Result<(GatherBinding, Status)> {
//!     let status = gather.status()?;
//!     Ok((gather.bind_tensors(table, ids, rows, Some(&status))?, status))
//! }
//!
//! /// After the submission, when it suits.
//! async fn look(status: &Status) -> Result<()> {
//!     match status.read().await? {
//!         Some(bad) => println!("{} bad indices, the first at {:?}", bad.count, bad.position),
//!         None => println!("all indices are good"),
//!     }
//!     Ok(())
//! }
//! ```
//!
//! [`Executor::run`]: crate::Executor::run
//! [`Executor::run_into`]: crate::Executor::run_into
//! [`Executor::Cpu`]: crate::Executor::Cpu
//! [`Engine`]: crate::gpu::Engine
//! [`Engine::batch`]: crate::gpu::Engine::batch
//! [`Engine::check`]: crate::gpu::Engine::check
//! [`Engine::download`]: crate::gpu::Engine::download
//! [`Engine::download_blocking`]: crate::gpu::Engine::download_blocking
//! [`Engine::download_with_progress`]: crate::gpu::Engine::download_with_progress
//! [`Engine::trim_pool`]: crate::gpu::Engine::trim_pool
//! [`Engine::gather`]: crate::gpu::Engine::gather
//! [`Engine::gather_gradient`]: crate::gpu::Engine::gather_gradient
//! [`Engine::scatter`]: crate::gpu::Engine::scatter
//! [`Engine::scatter_into`]: crate::gpu::Engine::scatter_into
//! [`Engine::gather_in_place`]: crate::gpu::Engine::gather_in_place
//! [`Engine::gather_into`]: crate::gpu::Engine::gather_into
//! [`Engine::gather_tables`]: crate::gpu::Engine::gather_tables
//! [`Engine::headless`]: crate::gpu::Engine::headless
//! [`Engine::probe`]: crate::gpu::Engine::probe
//! [`Engine::pipeline`]: crate::gpu::Engine::pipeline
//! [`Engine::upload`]: crate::gpu::Engine::upload
//! [`Engine::upload_with_progress`]: crate::gpu::Engine::upload_with_progress
//! [`Engine::warm_up`]: crate::gpu::Engine::warm_up
//! [`Options::max_pool_bytes`]: crate::gpu::Options::max_pool_bytes
//! [`Options::pipeline_cache`]: crate::gpu::Options::pipeline_cache
//! [`DeviceTensor`]: crate::gpu::DeviceTensor
//! [`DeviceTensor::buffer`]: crate::gpu::DeviceTensor::buffer
//! [`DeviceTensor::parts`]: crate::gpu::DeviceTensor::parts
//! [`DeviceTensor::wrap`]: crate::gpu::DeviceTensor::wrap
//! [`Plan`]: crate::Plan
//! [`GatherPipeline`]: crate::gpu::GatherPipeline
//! [`GatherPipeline::bind`]: crate::gpu::GatherPipeline::bind
//! [`GatherPipeline::encode`]: crate::gpu::GatherPipeline::encode
//! [`GatherPipeline::encode_in_pass`]: crate::gpu::GatherPipeline::encode_in_pass
//! [`GatherBinding::encode`]: crate::gpu::GatherBinding::encode
//! [`Buffers`]: crate::gpu::Buffers
//! [`Engine::bad_indices`]: crate::gpu::Engine::bad_indices
//! [`bad_indices`]: crate::bad_indices
//! [`GatherPipeline::bind_tensors`]: crate::gpu::GatherPipeline::bind_tensors
//! [`Status`]: crate::gpu::Status
//! [`requirements`]: crate::gpu::requirements
//! [`Error::SameBuffer`]: crate::Error::SameBuffer
//! [`OutOfBounds::Error`]: crate::OutOfBounds::Error
