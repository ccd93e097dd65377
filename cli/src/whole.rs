//! Results that are made whole in memory before they are written or printed.

use std::time::{Duration, Instant};

use anyhow::Result;
use wgpu_gather::Error;

use crate::destination::Expected;
use crate::interrupt;
use crate::printed::Picture;
use crate::progress::Progress;

/// Bytes that are written at once.
const CHUNK_BYTES: usize = 8 << 20;

/// Computes in `bytes`, and hands them over: how long the computation took, and what is to be printed.
pub(crate) fn write(
    expected: &Expected<'_>,
    mut bytes: Vec<u8>,
    quiet: bool,
    compute: impl FnOnce(&mut [u8]) -> Result<(), Error>,
) -> Result<(Duration, Option<Picture>)> {
    interrupt::watch()?;
    let mut sink = expected.begin()?;
    let mut progress = Progress::new(bytes.len() as u64, quiet);
    let started = Instant::now();
    compute(&mut bytes)?;
    let time = started.elapsed();
    for chunk in bytes.chunks(CHUNK_BYTES) {
        sink.write(chunk)?;
        progress.add(chunk.len() as u64);
    }
    drop(progress);
    Ok((time, sink.finish()?))
}
