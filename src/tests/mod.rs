//! Tests of what is private and concerns several modules.

mod faults;
mod kernels;
