//! The engine in a program: what waits, what it keeps, and what it reports.
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
//! - Do not wait for a download in a frame. Start it, and [poll it](#a-result-some-frames-later) in later frames.
//!   To look for bad indices, do the same with [`Binding::check`], which waits for what was submitted so far.
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
//! ## A result some frames later
//!
//! A [`Waiting`] becomes a future by `into_future`. Its first poll starts it; each further one returns at once, and
//! the data when it is there. No runtime and no waker are needed:
//!
//! ```
//! use std::task::{Context, Poll, Waker};
//! use wgpu_gather::{BoxFuture, Result, Tensor};
//!
//! /// A download that is under way: `engine.download(&rows).into_future()`.
//! type Download<'a> = BoxFuture<'a, Result<Tensor<f32>>>;
//!
//! /// Each frame: the rows, once they are on the host. Not to be called again after that.
//! fn arrived(download: &mut Download<'_>) -> Result<Option<Tensor<f32>>> {
//!     match download.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
//!         Poll::Ready(rows) => rows.map(Some),
//!         Poll::Pending => Ok(None),
//!     }
//! }
//! # let rows = Tensor::new(&[1], vec![0.5f32]);
//! # let mut download: Download<'_> = Box::pin(std::future::ready(rows));
//! # assert_eq!(arrived(&mut download)?.unwrap().data(), [0.5]);
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! # Transfers
//!
//! [`Engine::upload`] of up to 256 KiB waits for nothing: the bytes are copied at once, and reach
//! the device before what is submitted next. A larger tensor goes through four chunks of 4 MiB
//! that the engine keeps, and the call returns when the last of them has been copied.
//! [`Engine::download`] waits for everything that was submitted before it, and goes through four
//! such chunks. A view that is not contiguous is first gathered into one that is.
//!
//! # Memory
//!
//! - The buffer of a tensor that the engine made serves other tensors when the last view of it is
//!   dropped, also while the device still works on it: the order of submissions keeps them apart.
//!   A buffer that you saw ([`AnyDeviceTensor::share_buffer`]), and those of calls that were recorded or bound,
//!   serve no other tensor.
//!   [`Engine::trim_pool`] frees what waits, and [`Options::max_pool_bytes`] limits it (to
//!   256 MiB, unless you say otherwise).
//! - On the host nothing is kept: each output of [`Executor::gather`] is new memory, and goes back to
//!   the allocator when it is dropped. [`GatherCall::into`] uses memory of yours.
//! - A host call that the device has no memory for is made by the CPU path; [`Engine::fallbacks`] counts
//!   those, and [`Options::when_full`] makes it an error instead. [`Options::max_memory_bytes`] limits what
//!   such a call takes.
//! - A tensor larger than `max_buffer_size` lies in several buffers ([`AnyDeviceTensor::share_parts`]). What is
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
//! show it. Keep four things in mind:
//!
//! - `queue.write_buffer` lands before *all* commands of the next submission. Two gathers in one
//!   encoder cannot see two contents that are written in this way; submit between them, or copy in
//!   the encoder.
//! - One dispatch cannot read and write one buffer, not even different parts of it. Output and
//!   inputs lie in different buffers, else there is [`Error::SameBuffer`].
//! - wgpu runs your callbacks (`map_async`, `on_submitted_work_done`) within any call that submits
//!   or polls, also of the engine. A callback may call the engine, and wait for another thread that
//!   does.
//! - On GL one thread at a time uses the device. wgpu makes the others wait, and panics in one that has waited for
//!   6 seconds (1 on Windows). Software drivers do the work of a submission while it is submitted: make large calls
//!   from one thread there.
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
//! - Calls [recorded](super#your-encoder) into your encoder report through the tensor that they write to, once
//!   the encoder was submitted. Those of a [binding](super#bound-once) report through [`Binding::check`], which
//!   knows of the last recording that was submitted; in a pass, counts go on from recording to recording.
//! - With [bare buffers](super#bare-buffers), `status` of [`Buffers`] is yours to give and to read, under any rules.
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
use crate::gpu::{AnyDeviceTensor, Binding, Buffers, Engine, Options, Status};
#[cfg(doc)]
use crate::{Error, Executor, GatherCall, Op, OutOfBounds, Waiting, bad_indices};
