//! The status of a gather whose rules ask for an error: how many lookups are bad, and the first.
//!
//! It is counted on the device beside the gather and costs no synchronisation until it is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::gpu::engine::Engine;
use crate::gpu::pool::Owned;
use crate::gpu::storage::Located;
use crate::gpu::wait::Drive;
use crate::plan::Plan;

/// Counts the bad indices of recorded gathers of one plan.
#[derive(Debug, Clone)]
pub struct Status {
    engine: Engine,
    plan: Plan,
    owned: Arc<Owned>,
    /// Whether it was read after its gather and had nothing to report.
    clean: Arc<AtomicBool>,
}

impl Status {
    pub(super) fn new(engine: &Engine, plan: &Plan) -> Result<Status> {
        Ok(Status {
            engine: engine.clone(),
            plan: plan.clone(),
            owned: engine.acquire("status", bytes(plan) as u64)?,
            clean: Arc::default(),
        })
    }

    /// Counts from zero again. Takes effect before what is submitted next.
    ///
    /// # Errors
    ///
    /// The errors of the device.
    pub fn clear(&self) -> Result<()> {
        let zeros = vec![0; bytes(&self.plan)];
        let queue = self.engine.queue();
        self.engine
            .scoped("a status", || queue.write_buffer(self.buffer(), 0, &zeros))
    }

    /// Whether it need not be read again. For the status of a tensor, which one gather writes.
    pub(super) fn is_clean(&self) -> bool {
        self.clean.load(Ordering::Relaxed)
    }

    pub(super) fn buffer(&self) -> &wgpu::Buffer {
        self.owned.buffer()
    }

    pub(super) fn owned(&self) -> &Arc<Owned> {
        &self.owned
    }

    /// Waits for what was submitted and reads whether an index was bad.
    ///
    /// # Errors
    ///
    /// [`Error::IndexOutOfBounds`] names the first bad index in row-major order and says how many
    /// there are, exactly as the CPU path does; else the errors of the device.
    pub async fn read(&self) -> Result<()> {
        self.read_driven(Drive::Aside).await
    }

    /// [`Status::read`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Status::read`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn read_blocking(&self) -> Result<()> {
        pollster::block_on(self.read_driven(Drive::Here))
    }

    pub(super) async fn read_driven(&self, drive: Drive) -> Result<()> {
        let mut words = vec![0u32; bytes(&self.plan) / 4];
        let output = bytemuck::cast_slice_mut(&mut words);
        let located = Located::at(self.buffer(), 0);
        self.engine
            .read(located, output, drive, &mut |_, _| ())
            .await?;
        match error(&self.plan, &words) {
            Some(error) => Err(error),
            None => {
                self.clean.store(true, Ordering::Relaxed);
                Ok(())
            }
        }
    }
}

/// Six words, and two more for each coordinate: see `shaders/check.wgsl`.
fn bytes(plan: &Plan) -> usize {
    24 + 8 * plan.lookups().coordinates.len()
}

fn error(plan: &Plan, words: &[u32]) -> Option<Error> {
    let wide = |w: &[u32]| u64::from(w[0]) | u64::from(w[1]) << 32;
    let (count, first) = (wide(&words[..2]), wide(&words[4..6]));
    if count == 0 {
        return None;
    }
    let value = |w: &[u32]| {
        if plan.index_type().is_signed() {
            i128::from(wide(w) as i64)
        } else {
            i128::from(wide(w))
        }
    };
    let values: Vec<i128> = words[6..].chunks_exact(2).map(value).collect();
    Some(plan.bad_index(first, &values, count))
}
