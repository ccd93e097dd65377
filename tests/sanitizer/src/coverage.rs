//! Which pipelines no call reaches: there must be none.

use std::collections::BTreeSet;

use crate::bench::pipelines;
use crate::figures::Figures;

/// A line for each pipeline that did not run.
pub(crate) fn unreached(figures: &Figures) -> Vec<String> {
    let ran: BTreeSet<&str> = figures.pipelines().collect();
    let all = pipelines().into_keys();
    let unreached = all.filter(|name| !ran.contains(name.as_str()));
    unreached
        .map(|name| format!("{name}: no call reaches it"))
        .collect()
}
