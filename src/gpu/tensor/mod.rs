//! Tensors and tables on the device, where they lie, and what they report.

pub(in crate::gpu) mod any;
pub(in crate::gpu) mod quantized;
pub(in crate::gpu) mod reports;
pub(in crate::gpu) mod status;
pub(in crate::gpu) mod storage;
pub(in crate::gpu) mod table;
pub(in crate::gpu) mod typed;
