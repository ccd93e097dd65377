//! Outcomes, counted per operator and kind of element.

use std::collections::BTreeMap;

use gather_conformance::{Outcome, Report};
use serde_json::{Value, json};
use wgpu_gather::OpKind;

use crate::text;

/// What a check is counted under: operator, bytes of an element, and the name of the kind.
type Group = (OpKind, usize, String);

/// Reports by group.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<Group, Report>);

impl Tally {
    /// Counts one outcome.
    pub(crate) fn add(&mut self, group: Group, label: impl FnOnce() -> String, outcome: Outcome) {
        self.0.entry(group).or_default().add(label, outcome);
    }

    /// Whether nothing was counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All groups together.
    pub(crate) fn total(&self) -> Report {
        let mut total = Report::default();
        for report in self.0.values() {
            total.merge(report.clone());
        }
        total
    }

    /// One line per group.
    pub(crate) fn table(&self) -> String {
        let headings = ["operator", "elements", "passed ", "failed ", "skipped "];
        let row = |((op, _, elements), report): (&Group, &Report)| {
            vec![
                op.to_string(),
                elements.clone(),
                report.passed.to_string(),
                report.failed.len().to_string(),
                report.skipped.len().to_string(),
            ]
        };
        let rows: Vec<_> = self.0.iter().map(row).collect();
        text::table(&headings, &rows)
    }

    /// One object per group.
    pub(crate) fn json(&self) -> Value {
        let group = |((op, _, elements), report): (&Group, &Report)| {
            json!({
                "op": op.to_string(),
                "elements": elements,
                "passed": report.passed,
                "failed": report.failed.len(),
                "skipped": report.skipped.len(),
            })
        };
        self.0.iter().map(group).collect()
    }
}
