//! What the shaders of scatters have of their own: keys, the sort of them, folds. Used by `shader`.

use crate::scatter::{FoldKernel, SortStage};

const KEYS: &str = include_str!("../../../shaders/keys.wgsl");
const KEYS_SORTED: &str = include_str!("../../../shaders/keys_sorted.wgsl");
const SORT: &str = include_str!("../../../shaders/sort.wgsl");
const SORT_TILE: &str = include_str!("../../../shaders/sort_tile.wgsl");
const SUM_BEFORE: &str = include_str!("../../../shaders/sum_before.wgsl");
const FOLD: &str = include_str!("../../../shaders/fold.wgsl");

/// The keys, after what reads indices.
pub(super) fn keys(sorted: bool) -> &'static [&'static str] {
    match sorted {
        true => &[KEYS, SUM_BEFORE, SORT_TILE, KEYS_SORTED],
        false => &[KEYS, include_str!("../../../shaders/keys_unsorted.wgsl")],
    }
}

/// A step of the sort.
pub(super) fn sort(stage: SortStage) -> &'static [&'static str] {
    match stage {
        SortStage::Count => &[SORT, include_str!("../../../shaders/sort_count.wgsl")],
        SortStage::AddGroups | SortStage::AddUp | SortStage::Spread => &[
            SORT,
            SUM_BEFORE,
            include_str!("../../../shaders/sort_sums.wgsl"),
        ],
        SortStage::Move => &[
            SORT,
            SUM_BEFORE,
            SORT_TILE,
            include_str!("../../../shaders/sort_move.wgsl"),
        ],
    }
}

/// A fold, after the arithmetic.
pub(super) fn fold(kernel: FoldKernel) -> Vec<&'static str> {
    let mut parts = vec![FOLD, fold_sums(kernel)];
    parts.extend(fold_units(kernel));
    parts
}

fn fold_units(kernel: FoldKernel) -> Vec<&'static str> {
    let steps = match kernel.rows {
        true => include_str!("../../../shaders/fold_rows.wgsl"),
        false => include_str!("../../../shaders/fold_flat.wgsl"),
    };
    let digits = include_str!("../../../shaders/fold_digits.wgsl");
    match kernel.unit_bytes {
        16 => vec![steps, include_str!("../../../shaders/fold_words_x4.wgsl")],
        bytes => {
            let subword = include_str!("../../../shaders/fold_subwords.wgsl");
            let words = include_str!("../../../shaders/fold_words.wgsl");
            vec![steps, digits, if bytes < 4 { subword } else { words }]
        }
    }
}

fn fold_sums(kernel: FoldKernel) -> &'static str {
    match kernel.resumes() {
        true => include_str!("../../../shaders/fold_resume.wgsl"),
        false => include_str!("../../../shaders/fold_carry.wgsl"),
    }
}

/// The override constants of a fold.
pub(super) fn fold_constants(kernel: FoldKernel) -> Vec<(&'static str, f64)> {
    let unit = match kernel.unit_bytes {
        16 => None,
        bytes @ ..4 => Some(("UNIT_BYTES", bytes as f64)),
        bytes => Some(("UNIT_WORDS", (bytes / 4) as f64)),
    };
    let mut constants = vec![("ELEMENT", f64::from(kernel.element as u32))];
    constants.extend(unit);
    constants
}
