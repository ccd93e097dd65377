//! The operators of [`wgpu_gather`] on [burn]'s tensors: `gather`, `gather_nd` and `gather_elements` with
//! batch dims, their transposes ([`Gathers::scatter`]) and pooled lookups ([`Gathers::embedding_bag`]),
//! with the index rules of the frameworks, on burn's own wgpu device and queue.
//!
//! ```no_run
//! use burn::tensor::{Device, Int, Tensor};
//! use wgpu_gather_burn::{Gathers, Op, Rules};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (device, gathers) = Gathers::init(Device::wgpu_options())?;
//! let table = Tensor::<2>::random([50_000, 768], Default::default(), &device);
//! let ids = Tensor::<1, Int>::from_ints([7, 49_999, -1], &device);
//!
//! // As PyTorch has it: a negative index is an error, which is reported when asked for.
//! let rows: Tensor<2> = gathers.gather(Op::gather(0), &Rules::TORCH, table, ids)?;
//! let sum = rows.sum();
//! if let Err(error) = gathers.read(sum) {
//!     println!("{error}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! ```text
//! gather: indices[2] = -1 is out of bounds for params axis 0 of extent 50000
//! ```
//!
//! # What happens
//!
//! Inputs are read where they lie in burn's memory, with their strides; the output lies in memory that burn
//! allocated. No tensor goes through the host, nothing waits, and there is one device. What
//! burn has recorded before is submitted first, the gather next, so the order of the program holds, also
//! between threads as far as burn itself keeps it. What that costs: where burn would put the commands of
//! up to 32 operators (`tasks_max`) into a submission, a call ends one and makes one of its own.
//!
//! With the feature `fusion`, a call is queued by burn and runs when burn's queue does. It is opaque to
//! fusion: operators before and behind it are fused among themselves.
//!
//! burn keeps two things from this crate. A device that burn has already started gives out neither its wgpu
//! device nor its queue, so [`Gathers::init`] or [`Gathers::share`] makes the device. And a call
//! cannot be recorded into a graph of burn ([`Error::Capturing`]).
//!
//! # Versions
//!
//! | this crate | burn | wgpu | wgpu-gather |
//! |---|---|---|---|
//! | 0.1 | 0.22 (from 0.22.1) | 30 | 0.1 |
//!
//! With another burn, the compiler says that a tensor is not of the burn that this crate is built with.
//!
//! # Features
//!
//! `fusion`, `autotune` and `autodiff` (all default) turn on the same of burn. A program that turns on
//! burn's `fusion` or `autodiff` must turn them on here, too: burn's tensors have the types of its features.

#[cfg(feature = "autodiff")]
mod autodiff;
mod backend;
mod bag;
mod bags;
mod elements;
mod error;
mod gather;
mod gathers;
#[cfg(feature = "autodiff")]
mod gradient;
mod handle;
mod kind;
mod launch;
mod output;
mod place;
mod queued;
mod reports;
mod scatter;
mod scatters;
mod versions;

pub use burn;
pub use error::{Error, Result};
pub use handle::Gathers;
pub use kind::{Kind, Number};
pub use versions::{BurnOptions, BurnSetup, BurnTensor};
pub use wgpu_gather::{
    BadIndices, BagMode, Bags, DType, Error as GatherError, Fill, Negative, Op, OutOfBounds,
    Reduce, Rules,
};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
