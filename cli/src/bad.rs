//! The indices of a call that are out of bounds: how many, and what they gave.

use serde_json::{Value, json};
use wgpu_gather::{BadIndices, Indices, Op, OutOfBounds, Result, Rules, bad_indices};

/// Which way a call moves elements, and so what a bad index does under rules that find no element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Gathers and pooled lookups: it reads zeros or the fill value.
    Reads,
    /// Scatters: it writes nothing.
    Writes,
}

/// The bad indices of a call that has succeeded, by one pass over the indices; none where they would
/// have ended it.
pub(crate) fn of_good_call(
    op: Op,
    rules: &Rules,
    params_shape: &[usize],
    indices: &Indices<'_>,
) -> Result<Option<BadIndices>> {
    match rules.out_of_bounds {
        OutOfBounds::Error => Ok(None),
        _ => bad_indices(op, rules, params_shape, indices),
    }
}

/// `none out of bounds`, or how many, what they gave, and the first.
pub(crate) fn text(bad: Option<&BadIndices>, rules: &Rules, direction: Direction) -> String {
    let Some(bad) = bad else {
        return "none out of bounds".to_owned();
    };
    let at = match &bad.position[..] {
        [] => String::new(),
        position => format!("{position:?}"),
    };
    let tip = match counts_from_end(bad) {
        true => format!("; {FROM_END}"),
        false => String::new(),
    };
    format!(
        "{} out of bounds: {} (first: indices{at} = {}, params axis {} has extent {}{tip})",
        bad.count,
        gave(rules, direction),
        bad.value,
        bad.axis,
        bad.extent
    )
}

/// The remedy for an index that [`counts_from_end`].
pub(crate) const FROM_END: &str = "--negative from-end counts negative indices from the end";

/// Whether the first bad index would be a good one, if negative indices counted from the end.
pub(crate) fn counts_from_end(bad: &BadIndices) -> bool {
    bad.value < 0 && bad.value >= -(bad.extent as i128)
}

/// The same as JSON.
pub(crate) fn json(bad: Option<&BadIndices>, rules: &Rules, direction: Direction) -> Value {
    let first = bad.map(|bad| {
        json!({
            "position": bad.position,
            "value": bad.value,
            "axis": bad.axis,
            "extent": bad.extent,
        })
    });
    json!({
        "count": bad.map_or(0, |bad| bad.count),
        "gave": bad.map(|_| gave(rules, direction)),
        "first": first,
    })
}

/// What a bad index gives.
fn gave(rules: &Rules, direction: Direction) -> String {
    match (&rules.out_of_bounds, direction) {
        (OutOfBounds::Clip, _) => "clipped".to_owned(),
        (OutOfBounds::Wrap, _) => "wrapped".to_owned(),
        (_, Direction::Writes) => "not written".to_owned(),
        (OutOfBounds::Fill(fill), _) => format!("fill value {fill}"),
        (OutOfBounds::Zero, _) => "zeros".to_owned(),
        (other, _) => other.name().to_owned(),
    }
}
