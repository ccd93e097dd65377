//! What burn keeps with an operator that it has queued: no tensors, as it has not made them yet. Checked against shapes
//! and types before burn queues it; strides are known only once a tensor is made.

mod bags;
mod gather;
mod scatter;

pub(crate) use bags::QueuedBags;
pub(crate) use gather::QueuedGather;
pub(crate) use scatter::QueuedScatter;
