//! The least that a gather costs: the bytes that it has to move, and the time that takes.

use std::fmt::{self, Display, Formatter};

use anyhow::Result;

use crate::bench::case::Scaled;
use crate::bench::moved;
use crate::bench::traffic::{SECTOR_BYTES, Traffic};
use crate::text;

/// The bytes of a gather whose indices are uniformly random.
pub(super) struct Cost {
    pub(super) traffic: Traffic,
    /// The bandwidth of the memory, in bytes per second.
    pub(super) bandwidth: Option<f64>,
}

impl Cost {
    pub(super) fn new(scaled: &Scaled, bandwidth: Option<f64>) -> Result<Self> {
        let traffic = moved::expected(scaled)?;
        Ok(Cost { traffic, bandwidth })
    }

    /// The least time that moving the bytes takes, if the bandwidth is known.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.bandwidth.map(|b| self.traffic.total() as f64 / b)
    }
}

impl Display for Cost {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let t = &self.traffic;
        if t.total() == 0 {
            return Ok(());
        }
        let size = text::bytes;
        writeln!(
            f,
            "{:<12}{} at least: {} of output, {} of indices, {} of params",
            "bytes",
            size(t.total()),
            size(t.output),
            size(t.indices),
            size(t.params_sectors),
        )?;
        writeln!(
            f,
            "{:<12}of params {} are asked for; they lie in sectors of {SECTOR_BYTES} bytes, each \
             read once, if indices are random",
            "",
            size(t.params)
        )?;
        if let (Some(seconds), Some(bandwidth)) = (self.seconds(), self.bandwidth) {
            let (time, speed) = (duration(seconds), bandwidth / 1e9);
            writeln!(f, "{:<12}{time} at least, at {speed} GB/s", "time")?;
        }
        Ok(())
    }
}

/// `12.3 µs`.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.3} µs", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}
