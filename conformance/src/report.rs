//! Outcomes, and counting them.

use std::fmt;

use wgpu_gather::Error;

/// How a check went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The answer is the expected one, bit for bit.
    Passed,
    /// It is not; says what is different, with the first differing element.
    Failed(String),
    /// It was not run; says why.
    Skipped(String),
}

/// Whether an error is the device's or the machine's, and so none that a framework has recorded of a call.
pub(crate) fn is_of_device(error: &Error) -> bool {
    matches!(
        error,
        Error::Gpu { .. }
            | Error::GpuOutOfMemory { .. }
            | Error::HostOutOfMemory { .. }
            | Error::DeviceLost { .. }
            | Error::CpuOnly { .. }
            | Error::TensorTooLarge { .. }
            | Error::TooMany { .. }
            | Error::TooComplex { .. }
            | Error::MissingLimit { .. }
    )
}

/// How many checks passed, and which did not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How many passed.
    pub passed: usize,
    /// Label and difference of each that failed.
    pub failed: Vec<(String, String)>,
    /// Label and reason of each that was not run.
    pub skipped: Vec<(String, String)>,
}

impl Report {
    /// Counts one outcome.
    pub fn add(&mut self, label: impl FnOnce() -> String, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed(difference) => self.failed.push((label(), difference)),
            Outcome::Skipped(reason) => self.skipped.push((label(), reason)),
        }
    }

    /// Counts everything of `other` too.
    pub fn merge(&mut self, other: Report) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
    }
}

/// `N passed, M failed, K skipped`.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, failed, skipped) = (self.passed, self.failed.len(), self.skipped.len());
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}
