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
//! The guide has three pages:
//!
//! - **Levels**, this one, with gathers as the example; also [a count on the device](#a-count-on-the-device).
//! - **[Verbs and tables](verbs)**: [gather](verbs#gather), [scatter](verbs#scatter), [gather_gradient](verbs#gradients) and
//!   [embedding_bag](verbs#pooled-lookups); [quantized tables](verbs#quantized-tables), [tables of f16 and
//!   bf16](verbs#tables-of-f16-and-bf16), [tables in files](verbs#tables-in-files), [tables beyond the device's
//!   memory](verbs#tables-beyond-the-devices-memory).
//! - **[In a program](programs)**: [async programs](programs#async-programs), [render loops](programs#render-loops),
//!   [transfers](programs#transfers), [memory](programs#memory), [order](programs#order) and [bad indices](programs#bad-indices).
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
//! of a buffer, of any strides, and [`AnyDeviceTensor::share_buffer`] is the buffer of a tensor, for your
//! shaders (the first of [`AnyDeviceTensor::share_parts`], if the tensor is larger than a buffer can be).
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
//! or clear a buffer cannot be recorded into a pass: a gradient, bags with both weights and offsets.
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

pub mod programs;
pub mod verbs;

#[cfg(doc)]
use crate::gpu::{AnyDeviceTensor, Binding, DeviceTensor, Engine, GatherPipeline, requirements};
#[cfg(doc)]
use crate::{Executor, GatherCall, Op, Plan, Waiting};
