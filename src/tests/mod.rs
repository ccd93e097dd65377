//! Tests of what is private and concerns several modules.

mod calls;
mod faults;
mod kernels;
