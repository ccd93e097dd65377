//! This crate, called as its users call it.

mod cpu;
mod gpu;

use wgpu_gather::IndexType;

pub(crate) use cpu::contestants as on_cpu;
pub(crate) use gpu::{Device, contestants as on_gpu, wait};

/// Runs `$body` with `T` of the width of the elements of a task and `I` its index type: an element
/// type is only a width to a gather.
macro_rules! typed {
    ($task:expr, $body:ident($($arg:expr),*)) => {{
        use wgpu_gather::IndexType::{I32, I64};
        match ($task.case().dtype.bytes(), $task.case().index_type) {
            (1, I32) => $body::<u8, i32>($($arg),*),
            (2, I32) => $body::<u16, i32>($($arg),*),
            (4, I32) => $body::<u32, i32>($($arg),*),
            (1, I64) => $body::<u8, i64>($($arg),*),
            (2, I64) => $body::<u16, i64>($($arg),*),
            (4, I64) => $body::<u32, i64>($($arg),*),
            (bytes, index_type) => $crate::ours::unlisted(bytes, index_type),
        }
    }};
}
use typed;

/// For a list of cases that has grown.
fn unlisted<T>(bytes: usize, index_type: IndexType) -> anyhow::Result<T> {
    anyhow::bail!(
        "no case had elements of {bytes} bytes and {} indices before",
        index_type.name()
    )
}
