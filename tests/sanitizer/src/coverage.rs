//! Which pipelines no call reaches, and why.

use std::collections::BTreeSet;

use crate::bench::pipelines;
use crate::figures::Figures;

/// Pipelines that no call reaches, each below the reason.
const UNREACHED: &str = include_str!("../unreached.txt");

/// What is not as [`UNREACHED`] has it; nothing, if all is.
pub(crate) fn wrong(figures: &Figures) -> Vec<String> {
    let all = pipelines();
    let ran: BTreeSet<&str> = figures.pipelines().collect();
    let unreached = UNREACHED
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'));
    let unreached: BTreeSet<&str> = unreached.collect();
    let names: BTreeSet<&str> = all.keys().map(String::as_str).collect();
    let lost = names
        .iter()
        .filter(|name| !ran.contains(*name) && !unreached.contains(*name));
    let lost = lost.map(|name| format!("{name}: no call reaches it"));
    let found = unreached
        .iter()
        .filter(|name| ran.contains(*name) || !names.contains(*name));
    let found = found.map(|name| format!("{name}: it is reached, or gone"));
    lost.chain(found).collect()
}
