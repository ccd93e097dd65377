//! What is expected of a step: how it ends, and which errors a call may fail with.

use std::collections::BTreeMap;

use wgpu_gather::{Error, Result};

/// What became of a step: it succeeded, was refused as it should be, or had nothing to work on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Outcome {
    Done,
    Refused,
    Skipped,
}

/// A difference between an engine and the model.
pub(super) type Difference = String;
pub(super) type Stepped = std::result::Result<Outcome, Difference>;

/// How often steps of each kind were done, refused and skipped; and what was compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) steps: BTreeMap<String, [usize; 3]>,
    pub(super) compared: BTreeMap<&'static str, usize>,
}

impl Tally {
    pub(super) fn add(&mut self, what: &'static str) {
        *self.compared.entry(what).or_default() += 1;
    }

    pub(super) fn merge(&mut self, other: &Tally) {
        for (kind, counts) in &other.steps {
            let all = self.steps.entry(kind.clone()).or_default();
            all.iter_mut().zip(counts).for_each(|(all, n)| *all += n);
        }
        for (what, n) in &other.compared {
            *self.compared.entry(what).or_default() += n;
        }
    }
}

/// The errors that a call may fail with; if there are none, it must succeed.
#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) allowed: Vec<&'static str>,
    /// Whether the device is lost: then it may also say that.
    pub(super) is_lost: bool,
}

/// Errors of shapes that do not fit.
const SHAPES: &[&str] = &[
    "RankTooSmall",
    "RankExpected",
    "AxisOutOfRange",
    "AxisBeforeBatchDims",
    "BatchDimsOutOfRange",
    "BatchShapeMismatch",
    "RankMismatch",
    "IndicesDimTooLarge",
    "IndexDepthTooLarge",
];

impl Expected {
    pub(super) fn when(&mut self, is_wrong: bool, error: &'static str) {
        if is_wrong {
            self.allowed.push(error);
        }
    }

    pub(super) fn shapes(&mut self, fit: bool) {
        if !fit {
            self.allowed.extend(SHAPES);
        }
    }

    /// Compares with what a call gave; the value, if it succeeded as it should.
    pub(super) fn check<T>(
        &self,
        what: &str,
        got: Result<T>,
    ) -> std::result::Result<Option<T>, Difference> {
        match (got, &self.allowed[..]) {
            (Ok(value), []) => Ok(Some(value)),
            (Err(Error::DeviceLost { .. }), _) if self.is_lost => Ok(None),
            (Err(error), allowed) if allowed.contains(&&name(&error)[..]) => Ok(None),
            (Err(error), allowed) => Err(format!("{what}: {error:?}, expected {allowed:?}")),
            (Ok(_), allowed) => Err(format!("{what}: no error, expected {allowed:?}")),
        }
    }
}

/// The name of an error's variant.
pub(super) fn name(error: &Error) -> String {
    let shown = format!("{error:?}");
    let end = shown.find(|c: char| !c.is_alphanumeric());
    shown[..end.unwrap_or(shown.len())].to_owned()
}
