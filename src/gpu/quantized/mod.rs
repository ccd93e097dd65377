//! Quantized tables on the device, and the dispatches that decode them.
//!
//! `table` has the buffers and their windows, `block` the numbers of a window for the shaders, `recorder`
//! the dispatches of a plan, `pipeline` what a caller records into an encoder of its own.

mod block;
mod pipeline;
mod recorder;
mod table;

pub use pipeline::{QuantizedBuffers, QuantizedPipeline};
pub(super) use recorder::{DecodeRecorder, DecodeRecorders};
pub use table::DeviceQuantizedTable;
pub(super) use table::{BoundWindow, ScalesPlace};
