//! stub docs
pub mod cpu;
mod element;
mod error;
mod executor;
#[cfg(feature = "gpu")]
pub mod gpu;
mod index;
mod op;
pub mod plan;
mod rules;
mod shape;
mod tensor;
#[cfg(feature = "verify")]
pub mod verify;

#[cfg(feature = "gpu")]
pub use wgpu;

pub use element::{DType, Element};
pub use error::{BadIndex, Error, Result, Role};
pub use executor::{Auto, Executor};
pub use index::{Index, IndexType};
pub use op::{Op, OpKind};
pub use plan::Plan;
pub use rules::{ElementsShapes, Fill, Negative, OutOfBounds, Rules};
pub use shape::{Layout, checked_elements};
pub use tensor::{Indices, Params, Tensor, TensorView};
