//! Probes a device: compiles a small gather, and compares its result with the known answer.
//!
//! Some drivers' shader compilers refuse every gather, and some take commands and execute none.
//! Called before an adapter is chosen (`select`), and by users; knows no kernel.

use crate::error::{Error, Result};
use crate::gpu::engine::Engine;
use crate::index::IndexType;
use crate::op::Op;
use crate::operand::Params;
use crate::plan::Plan;
use crate::rules::Rules;
use crate::shape::Layout;
use crate::tensor::Tensor;
use crate::waiting::{PollMode, Waiting};

const ROWS: usize = 3;
/// Wide enough for the kernel that copies rows, which embedding lookups use.
const COLUMNS: usize = 64;
/// Good ones and bad ones.
const IDS: [i32; 4] = [2, 7, 0, -1];

impl Engine {
    /// Compiles a gather and runs it on a few rows, at good and bad indices.
    ///
    /// [`Executor::auto`](crate::Executor::auto), and [`Engine::headless`] without a name, do so
    /// before they take an adapter. For a device of your own it is a quick check of the driver; the
    /// command `wgpu-gather verify` is the thorough one.
    ///
    /// # Errors
    ///
    /// [`Error::AdapterLacks`] if the shaders cannot be compiled or the result is wrong; else the
    /// errors of the device.
    pub fn probe(&self) -> Waiting<'_, Result<()>> {
        Waiting::new(|poll_mode| self.probe_driven(poll_mode))
    }

    pub(super) async fn probe_driven(&self, poll_mode: PollMode) -> Result<()> {
        self.probe_compiler().await?;
        let gathered = self.probe_rows(poll_mode).await;
        self.context().pool.trim();
        let gathered = gathered?;
        let expected = IDS.iter().flat_map(|&id| {
            let row = usize::try_from(id).ok().filter(|&row| row < ROWS);
            (0..COLUMNS).map(move |column| row.map_or(0, |row| value(row * COLUMNS + column)))
        });
        let mut both = gathered.data().iter().zip(expected).enumerate();
        match both.find(|(_, (got, expected))| *got != expected) {
            None => Ok(()),
            Some((at, (got, expected))) => {
                let at = [at / COLUMNS, at % COLUMNS];
                Err(self.lacks(format!(
                    "right results: of a small gather, output{at:?} is {got}, expected {expected}"
                )))
            }
        }
    }

    /// Compiles a gather.
    pub(super) async fn probe_compiler(&self) -> Result<()> {
        let params = Layout::contiguous(&[ROWS, COLUMNS]);
        let indices = Layout::contiguous(&[IDS.len()]);
        let (op, rules) = (Op::gather(0), Rules::default());
        let plan = Plan::new(op, &rules, 4, &params, IndexType::I32, &indices)?;
        match self.pipeline(&plan).await {
            Ok(_) => Ok(()),
            Err(Error::Gpu { reason, .. }) => {
                Err(self.lacks(format!("a compiler for the shaders: {}", cause(&reason))))
            }
            Err(error) => Err(error),
        }
    }

    /// Gathers between tensors of the device, which options about host calls do not concern.
    async fn probe_rows(&self, poll_mode: PollMode) -> Result<Tensor<u32>> {
        let table: Vec<u32> = (0..ROWS * COLUMNS).map(value).collect();
        let table = Tensor::new(&[ROWS, COLUMNS], table)?;
        let table = Params::try_from(&table.view())?;
        let table = self.upload_params(&table, poll_mode).await?;
        let ids = Tensor::new(&[IDS.len()], IDS.to_vec())?;
        let ids = Params::try_from(&ids.view())?;
        let ids = self.upload_params(&ids, poll_mode).await?;
        let rows = self.gather(Op::gather(0), &Rules::default(), &table, &ids)?;
        let mut data = vec![0; IDS.len() * COLUMNS];
        let output = bytemuck::cast_slice_mut(&mut data);
        self.download_driven(&rows, output, poll_mode).await?;
        Tensor::new(&[IDS.len(), COLUMNS], data)
    }

    fn lacks(&self, what: String) -> Error {
        let adapter = self.adapter().label();
        Error::AdapterLacks { adapter, what }
    }
}

/// The element at position `at` of the table: none is zero, as memory that nobody wrote is.
fn value(at: usize) -> u32 {
    0x0101_0101 + at as u32
}

/// The part of wgpu's words for a refused shader that says why: what it was doing precedes it, and
/// the source follows.
fn cause(reason: &str) -> &str {
    let after = |text: &'static str| reason.rsplit_once(text).map(|(_, cause)| cause);
    let cause = after("Internal error: ").or_else(|| after("parsing error: "));
    let cause = cause.unwrap_or(reason);
    cause.split(" ┌─").next().unwrap_or(cause).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_what_wgpu_says_at_the_end() {
        for (reason, expected) in [
            (
                "Validation Error Caused by: In Device::create_compute_pipeline, label = 'x' \
                 Internal error: The selected version doesn't support Features(COMPUTE_SHADER)",
                "The selected version doesn't support Features(COMPUTE_SHADER)",
            ),
            (
                "Validation Error Caused by: In Device::create_shader_module, label = 'x' Shader \
                 'x' parsing error: expected global item, found \"fn\" ┌─ wgsl:9:1 │ 9 │ fn │ ^^",
                "expected global item, found \"fn\"",
            ),
            ("something else", "something else"),
        ] {
            assert_eq!(cause(reason), expected);
        }
    }
}
