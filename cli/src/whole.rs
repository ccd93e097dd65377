//! Outputs that are made whole in memory before they are written.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use wgpu_gather::Error;

use crate::interrupt;
use crate::output::Output;
use crate::progress::Progress;

/// Bytes that are written at once.
const CHUNK_BYTES: usize = 8 << 20;

/// Computes in `bytes`, and writes them behind the header; how long the computation took.
pub(crate) fn write(
    out: &Output,
    header: &[u8],
    mut bytes: Vec<u8>,
    quiet: bool,
    compute: impl FnOnce(&mut [u8]) -> Result<(), Error>,
) -> Result<Duration> {
    let named = || format!("output {}", out.path().display());
    interrupt::watch()?;
    let all = (header.len() as u64).saturating_add(bytes.len() as u64);
    let mut file = out.begin(all).with_context(named)?;
    file.write(header).with_context(named)?;
    let mut progress = Progress::new(bytes.len() as u64, quiet);
    let started = Instant::now();
    compute(&mut bytes)?;
    let time = started.elapsed();
    for chunk in bytes.chunks(CHUNK_BYTES) {
        file.write(chunk).with_context(named)?;
        progress.add(chunk.len() as u64);
    }
    drop(progress);
    file.finish().with_context(named)?;
    Ok(time)
}
