//! The other libraries.

mod burn;
mod candle;
mod ndarray;

pub(crate) use burn::Burn;
pub(crate) use candle::Candle;
pub(crate) use ndarray::Ndarray;
