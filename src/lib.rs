//! Gather, scatter and embedding lookups (`tf.gather`, `GatherND`, `torch.gather`, `index_add_`, `ScatterND`,
//! `F.embedding_bag`): on the GPU as WGSL compute shaders through [wgpu](https://docs.rs/wgpu), and on the CPU.
//!
//! # What it computes
//!
//! A gather builds a tensor (the **output**) out of elements of another (**params**), which
//! **indices** select. There are three ways to select, the variants of [`Op`]:
//!
//! | operator | each index selects | output shape |
//! |---|---|---|
//! | [`Op::Gather`] | a slice of params along one axis | `p[..axis] + i[batch..] + p[axis+1..]` |
//! | [`Op::GatherNd`] | with `K-1` others, a slice at a tuple of coordinates | `i[..-1] + p[batch+K..]` |
//! | [`Op::GatherElements`] | one element along one axis | that of indices |
//!
//! Here `p` is the shape of params, `i` that of indices, and `K = i[-1]`. Diagrams, and the names
//! that frameworks have for them, are at the variants.
//!
//! ```
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//!
//! let params = Tensor::new(&[2, 3], vec!['a', 'b', 'c', 'd', 'e', 'f'])?;
//! let gather = |op, indices: Tensor<i32>| {
//!     Executor::Cpu.gather(op, &Rules::TORCH, &params, &indices).wait()
//! };
//!
//! let columns = gather(Op::gather(1), Tensor::new(&[2], vec![2, 0])?)?;
//! assert_eq!(columns, Tensor::new(&[2, 2], vec!['c', 'a', 'f', 'd'])?);
//!
//! let pairs = gather(Op::gather_nd(), Tensor::new(&[2, 2], vec![1, 0, 0, 2])?)?;
//! assert_eq!(pairs, Tensor::new(&[2], vec!['d', 'c'])?);
//!
//! let elements = gather(Op::gather_elements(0), Tensor::new(&[2, 3], vec![1, 0, 1, 0, 0, 1])?)?;
//! assert_eq!(elements, Tensor::new(&[2, 3], vec!['d', 'b', 'f', 'a', 'b', 'f'])?);
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! # Semantics
//!
//! **Rules for indices.** Frameworks differ in what a negative index means and in what happens to
//! an index that is out of bounds. [`Rules`] says both. There is a preset for each framework, such
//! as [`Rules::TENSORFLOW_GPU`] (the default), [`Rules::ONNX`], [`Rules::TORCH`] and
//! [`Rules::NUMPY`]; all presets are in [`Rules::PRESETS`], and [`Rules::preset`] finds one by name.
//! One predicate decides ([`Rules::resolve`]). It looks at one coordinate at a time, not at a flat
//! offset, and at the full width of the index: a 64-bit index is never cut to 32 bits.
//!
//! **Bad indices.** An index that stays out of bounds makes all elements that it selects zero
//! bits or the fill value, or the call fails, as the rules say. In `gather_nd` one bad coordinate
//! is enough. The error ([`BadIndices`]) names the first bad index in row-major order of indices,
//! its value, and how many there are.
//!
//! **Empty tensors.** Any dim may be 0. If the output is empty, no index is looked at, and a bad
//! one is no error. An axis of extent 0 has no valid index: with an output that is not empty, the
//! rules give zeros, the fill value or an error; to clip or wrap is an error, as there is nothing
//! to read.
//!
//! **Bits.** A gather moves bits and computes nothing. NaN payloads, negative zeros and subnormals
//! come out as they went in. An element type is only a width, so [`Element`] is any plain-old-data
//! type: numbers, `bool`, structs without padding. The same call under the same rules gives the
//! same bits, or the same error about an index, on every executor.
//!
//! **Views.** A [`TensorView`] may have any strides and offset ([`Layout`]): transposed, sliced,
//! broadcast (stride 0) and reversed tensors are read where they lie. The output is contiguous and
//! row-major. [`Tensor`]s and views print as NumPy prints arrays.
//!
//! ```
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//!
//! // The columns of a 2 × 3 matrix as rows, and one index for both of two positions.
//! let matrix = Tensor::new(&[2, 3], vec![11u16, 12, 13, 21, 22, 23])?;
//! let columns = matrix.view().permute(&[1, 0])?;
//! let last = Tensor::from([-1i64]);
//! let last = last.view().broadcast(&[2])?;
//!
//! let rows = Executor::Cpu.gather(Op::gather(0), &Rules::NUMPY, &columns, &last).wait()?;
//! assert_eq!(rows.to_string(), "[[13 23]\n [13 23]]");
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! # Scatter and gradients
//!
//! [`Executor::scatter`] is the transpose of a gather: the same operator and rules, with updates in the
//! shape of the gather's output and a destination in that of its params. [`Reduce`] says how updates with
//! one destination are combined. They are folded in row-major order of the indices, so sums have the bits
//! of the sequential loop (`np.add.at`) on every executor. [`Executor::scatter_into`] writes in place, and
//! [`Executor::gather_gradient`] is the gradient of a gather with respect to its params.
//!
//! # Calling it
//!
//! Four verbs, on the host ([`Executor`]) and on a device (`gpu::Engine`):
//!
//! | verb | does | writes to memory of yours |
//! |---|---|---|
//! | [`gather`](Executor::gather) | selects | `gather(…).into(&mut out)`; on a device, `gather_into` |
//! | [`scatter`](Executor::scatter) | the transpose: combines updates with a tensor | [`scatter_into`](Executor::scatter_into) |
//! | [`gather_gradient`](Executor::gather_gradient) | the gradient of a gather | `gather_gradient(…).into(&mut out)` |
//! | [`embedding_bag`](Executor::embedding_bag) | pools the rows of each bag of indices | `embedding_bag(…).into(&mut out)`; on a device, `embedding_bag_into` |
//!
//! **Host tensors.** A call on an executor is a value: `.await` it, or block with `wait`. There are three
//! executors: [`Executor::Reference`] (the definitions, slow and plain), [`Executor::Cpu`] (all cores) and
//! `Executor::Gpu`. [`Executor::auto`] takes the GPU if there is one that gets a small gather right, and
//! else the CPU; it says why. A software adapter does not count as a GPU here.
//!
//! ```
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//!
//! let auto = Executor::auto().wait();
//! println!("{} ({})", auto.executor.describe(), auto.reason);
//!
//! let table = Tensor::new(&[3, 2], vec![0.5f32, 1.5, 2.5, 3.5, 4.5, 5.5])?;
//! let ids = Tensor::new(&[2], vec![2i64, 7])?;
//! let look_up = |rules| auto.executor.gather(Op::gather(0), rules, &table, &ids).wait();
//!
//! assert_eq!(look_up(&Rules::TENSORFLOW_GPU)?.data(), [4.5, 5.5, 0.0, 0.0]);
//! assert_eq!(
//!     look_up(&Rules::ONNX).unwrap_err().to_string(),
//!     "gather: indices[1] = 7 is out of bounds for params axis 0 of extent 3"
//! );
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! **Tables.** A verb takes any [`Table`]: a [`Tensor`] or a [`TensorView`]; [`Params`], bytes whose type is
//! known at run time ([`DType`]); a quantized table and the type to decode it to. The output follows:
//! `Tensor<T>`, or an [`AnyTensor`] that knows its type. Indices are an [`IndexTensor`]: a [`Tensor`] or a
//! [`TensorView`] of integers, or [`Indices`].
//!
//! ```
//! use wgpu_gather::{AnyTensor, DType, Executor, IndexType, Indices, Layout, Op, Params, Rules};
//!
//! // Shapes and types from a file, say.
//! let table = Params::new(&[1, 2, 3, 4, 5, 6], DType::U8, Layout::contiguous(&[3, 2]))?;
//! let ids = bytemuck::cast_slice::<u32, u8>(&[2, 0, 9]);
//! let ids = Indices::new(ids, IndexType::U32, Layout::contiguous(&[3]))?;
//! let rows = Executor::Cpu.gather(Op::gather(0), &Rules::default(), &table, &ids).wait()?;
//! assert_eq!(rows, AnyTensor::new(&[3, 2], DType::U8, vec![5, 6, 1, 2, 0, 0])?);
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! **Outputs.** [`GatherCall::into`] writes to memory of yours, for a call that is made again and again;
//! [`GatherCall::chunks`] gives the output piece by piece, and never has it whole.
//!
//! **Non-POD values** such as strings: [`gather_cloned`] gathers positions and clones the values on the
//! host.
//!
//! ```
//! use wgpu_gather::{Op, Rules, Tensor, gather_cloned};
//!
//! let words = Tensor::new(&[3], ["zero", "one", "two"].map(String::from).to_vec())?;
//! let ids = Tensor::new(&[3], vec![2u8, 9, 0])?;
//! let none = String::new();
//! let (words, ids) = (words.view(), ids.view());
//! let found = gather_cloned(Op::gather(0), &Rules::default(), &words, &ids, &none)?;
//! assert_eq!(found.data(), ["two", "", "zero"]);
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! **Pooled lookups.** [`Executor::embedding_bag`] makes one row of each bag of indices: the sum, mean or
//! maximum of the rows that they select, in their order, without a tensor of all of those. [`Bags`] says
//! which indices form a bag.
//!
//! **Quantized tables** of 2 to 8 bits are decoded as they are gathered or pooled:
//! `executor.gather(op, &rules, &table.to::<f16>(), &ids)`. See [`quantized`].
//!
//! **On the device.** [`guide`] goes on from here: tensors that stay on the device
//! (`gpu::DeviceTensor`), outputs that are used again, many calls in one submission
//! (`gpu::Engine::batch`), in your own encoder between shaders of your own (`gpu::Engine::record`), or bound
//! once (`gpu::Engine::bind`); what waits for what, and what each level costs. The folder `examples/` has
//! whole programs.
//!
//! **On several devices or machines.** [`shard`] has tables whose rows lie on several executors, and the
//! plans for moving ids and rows between machines.
//!
//! # Limits
//!
//! The size of a tensor is not limited. Params, indices and output may each be larger than a binding
//! of the device and than its `max_buffer_size`: they are bound as segments. A call between host tensors
//! that the device has no memory for, or that takes more than `gpu::Options::max_memory_bytes`, is made on
//! the CPU path; `gpu::Options::when_full` makes it an error instead. Beyond these limits a call is a
//! typed error:
//!
//! - At most [32 loops](Plan::MAX_LOOPS) and [32 coordinates](Plan::MAX_COORDINATES), and a fill
//!   value of at most [256 bytes](Plan::MAX_FILL_BYTES) ([`Error::TooComplex`]). Loops are counted
//!   after neighbouring ones are merged; contiguous tensors of any rank need four or fewer, unless
//!   in `gather_elements` indices are smaller than params off the axis.
//! - One element of params, and the index tuple of one lookup (from its first index to its last,
//!   which strides may put far apart), fit a quarter of a binding and a binding
//!   ([`Error::TensorTooLarge`]).
//! - What a call writes to lies in another buffer than what it reads ([`Error::SameBuffer`]).
//!
//! No optional device feature is needed, and no limit beyond `wgpu::Limits::downlevel_defaults()`.
//! On `wasm32-unknown-unknown` there is nothing that blocks, the CPU path has one thread, and the
//! device says later what was wrong with a call: see `gpu::Engine::settle`.
//!
//! # Cargo features
//!
//! - `gpu` (default): the wgpu executor, in the module `gpu`, and wgpu itself as
//!   `wgpu_gather::wgpu`. Without it: planner and CPU path only.
//! - `vulkan`, `metal`, `dx12`, `gles`, `webgpu` (default): the backends of wgpu, each on the
//!   platforms that have it (`webgpu` in browsers). Each turns on `gpu`. An application that wants
//!   fewer turns the default features off and names its own. Without any, no adapter is found, and
//!   an engine is made on a device of the application's.
//! - `rayon` (default): the CPU path on all cores; without it, on one.
//! - `ndarray`: arrays of ndarray 0.17 as tensors, of any strides and without a copy, and tensors as
//!   its arrays: see [`interop`].
//! - `half`: `half::f16` and `half::bf16` are [`Element`]s and have a [`DType`] ([`HasDType`]).
//! - `num-complex`: `num_complex::Complex<f32>` and `<f64>` are [`Element`]s and have a [`DType`].
//! - `serde`: [`Op`], [`Rules`] and the enumerations with names ([`DType`], [`IndexType`], [`Reduce`],
//!   [`BagMode`], [`quantized::FloatType`] and others) implement `Serialize` and `Deserialize`. Names, and
//!   [`OutOfBounds`] with its [`Fill`], are the text that they print. [`Explanation`],
//!   [`ScatterExplanation`] and [`BagExplanation`] implement `Serialize`.
//! - `internals`: for the project's own tests. No part of the public API.
//!
//! Without features the dependencies are bytemuck, pollster, smallvec and thiserror, and libc on
//! Linux. `ndarray`, `half`, `num-complex` and `serde` are part of the public API: your program must use the same major
//! version of them (before 1.0: minor version) for its types and traits to be these.
//!
//! The crate needs wgpu 30. A new major version of wgpu is a breaking change of this crate.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "gpu"),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "the crate docs link to what the feature gpu adds"
    )
)]

mod bag;
mod call;
mod cloned;
mod cpu;
mod element;
mod error;
mod executor;
mod fold;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(feature = "gpu")]
pub mod guide;
mod halves;
mod index;
pub mod interop;
mod memory;
mod names;
mod op;
mod operand;
mod packed;
pub mod plan;
pub mod quantized;
mod rules;
mod scatter;
mod serial;
mod shape;
pub mod shard;
mod table;
mod tensor;
#[cfg(all(test, feature = "gpu"))]
mod tests;
mod view;
mod waiting;

#[cfg(feature = "gpu")]
pub use wgpu;

pub use bag::{BagMode, Bags};
pub use cloned::gather_cloned;
pub use cpu::bad_indices;
pub use element::{DType, Element, ElementType, HasDType};
pub use error::{BadIndices, Error, OpKind, Result, Role};
pub use executor::{Auto, EmbeddingBagCall, Executor, GatherCall, GradientCall, ScatterCall};
pub use fold::Reduce;
pub use index::{Index, IndexType};
pub use op::Op;
pub use operand::{AnyTable, AnyTensor, Indices, Params};
pub use plan::{BagExplanation, BindingLimits, Explanation, Plan};
pub use rules::{ElementsShapes, Fill, Negative, OutOfBounds, Rules};
pub use scatter::{ScatterExplanation, ScatterLayouts, ScatterPlan};
pub use shape::Layout;
pub use table::{IndexTensor, Table, Values};
pub use tensor::{Tensor, TensorView};
pub use waiting::{BoxFuture, Waiting};

/// The examples of the README.
#[cfg(all(doctest, feature = "gpu", feature = "ndarray"))]
#[doc = include_str!("../README.md")]
struct Readme;
