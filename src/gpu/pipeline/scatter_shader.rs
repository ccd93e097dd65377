//! Shader parts of the scatter kernels: keys, sort, fold. Used by `shader`.

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
        SortStage::AddUp => &[SORT, include_str!("../../../shaders/sort_sums.wgsl")],
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
    let mut parts = vec![FOLD, include_str!("../../../shaders/fold_carry.wgsl")];
    parts.extend(fold_units(kernel));
    if kernel.element.is_float() && !kernel.rows {
        parts.push(include_str!("../../../shaders/fold_runs.wgsl"));
    }
    parts
}

fn fold_units(kernel: FoldKernel) -> Vec<&'static str> {
    let steps = match kernel.rows {
        true => include_str!("../../../shaders/fold_rows.wgsl"),
        false => include_str!("../../../shaders/fold_flat.wgsl"),
    };
    let full = include_str!("../../../shaders/fold_lanes.wgsl");
    let digits = include_str!("../../../shaders/fold_digits.wgsl");
    let subword = include_str!("../../../shaders/fold_subwords.wgsl");
    let words = include_str!("../../../shaders/fold_words.wgsl");
    match kernel.unit_bytes {
        4 if kernel.fills_lanes() => vec![steps, ONE, full],
        8 if kernel.fills_lanes() => vec![steps, TWO, full],
        _ if kernel.fills_lanes() => vec![steps, FOUR, full],
        ..4 => vec![steps, digits, subword],
        _ => vec![steps, digits, words],
    }
}

/// Units of one, two and four words, and back.
const ONE: &str = "alias Unit = u32;
fn words_of(unit: Unit) -> vec4<u32> { return vec4(unit, 0u, 0u, 0u); }
fn unit_of(words: vec4<u32>) -> Unit { return words.x; }
";
const TWO: &str = "alias Unit = vec2<u32>;
fn words_of(unit: Unit) -> vec4<u32> { return vec4(unit, 0u, 0u); }
fn unit_of(words: vec4<u32>) -> Unit { return words.xy; }
";
const FOUR: &str = "alias Unit = vec4<u32>;
fn words_of(unit: Unit) -> vec4<u32> { return unit; }
fn unit_of(words: vec4<u32>) -> Unit { return words; }
";

/// The override constants of a fold.
pub(super) fn fold_constants(kernel: FoldKernel) -> Vec<(&'static str, f64)> {
    let unit = match kernel.unit_bytes {
        _ if kernel.fills_lanes() => None,
        bytes @ ..4 => Some(("UNIT_BYTES", bytes as f64)),
        bytes => Some(("UNIT_WORDS", (bytes / 4) as f64)),
    };
    let mut constants = vec![("ELEMENT", f64::from(kernel.element as u32))];
    constants.extend(unit);
    constants
}
