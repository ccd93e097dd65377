//! Quantized tables: codes of 2 to 16 bits that a gather decodes between its load and its store.
//!
//! A [`QuantizedTable`] is a view of such a table on the host: its [`Format`], its logical shape and its
//! bytes. [`QuantizedTable::to`] makes it the table of a gather into `f32`, `f16` or `bf16`, or of a pooled
//! lookup; nothing is decoded that is not gathered. [`QuantizedTable::to_type`] is for a type that is known
//! at run time. On a device, `gpu::DeviceQuantizedTable` has both.
//!
//! ```
//! use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//!
//! // Two rows of one block of Q8_0 each: a scale as f16 (0.5, 2.0), then 32 signed bytes.
//! let mut bytes = Vec::new();
//! for (scale, code) in [(0x3800u16, 3i8), (0x4000, -7)] {
//!     bytes.extend(scale.to_le_bytes());
//!     bytes.extend([code.to_le_bytes()[0]; 32]);
//! }
//! let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes)?;
//! let ids = Tensor::new(&[3], vec![1i64, 0, 9])?;
//! let rows = Executor::Cpu
//!     .gather(Op::gather(0), &Rules::default(), &table.to::<f32>(), &ids)
//!     .wait()?;
//! assert_eq!(rows.shape(), [3, 32]);
//! assert_eq!([rows.data()[0], rows.data()[32], rows.data()[64]], [-14.0, 1.5, 0.0]);
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! # Bits
//!
//! Elements are decoded to `f32` and then rounded once, to nearest even, to the type of the output.
//! `docs/quantized.md` lists the formats and says which operations of each can round. All but the rows of
//! FBGEMM round at most once, so every executor gives the same bits: multiplying and adding in one step or
//! in two makes no difference there.

mod block;
mod decoded;
#[cfg(feature = "gpu")]
mod decoder;
mod float;
mod format;
mod gguf;
mod split;
mod table;
#[cfg(test)]
mod tests;
#[cfg(feature = "gpu")]
mod window;

pub use block::BlockFormat;
pub use decoded::{Decoded, DecodedAs};
#[cfg(feature = "gpu")]
pub(crate) use decoder::Decoder;
pub use float::{Float, FloatType};
pub use format::Format;
pub(crate) use format::{ROW_TAIL_BYTES, scale_and_bias};
#[cfg(feature = "gpu")]
pub(crate) use split::Blocks;
pub use split::{CodeType, ScaleType, SplitFormat, ZeroPoints};
pub use table::QuantizedTable;
#[cfg(feature = "gpu")]
pub(crate) use window::{TableLayout, Window};
