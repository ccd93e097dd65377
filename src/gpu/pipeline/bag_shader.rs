//! Shader parts of the pooled-lookup kernels. Used by `shader`.

use crate::fold::FoldElement;

const BAG: &str = include_str!("../../../shaders/bag.wgsl");
const WORDS: &str = include_str!("../../../shaders/bag_words.wgsl");
const SUBWORD: &str = include_str!("../../../shaders/bag_subword.wgsl");
const MASKED_STORE: &str = include_str!("../../../shaders/masked_store.wgsl");
const UNALIGNED: &str = include_str!("../../../shaders/unaligned.wgsl");

/// Accesses as four words, and back, and how a fold is left: what depends on the width of a store.
const ONE: &str = "alias Out = Vector;
fn words_of(vector: Vector) -> vec4<u32> { return vec4(vector, 0u, 0u, 0u); }
fn vector_of(words: vec4<u32>) -> Vector { return words.x; }
";
const LEAVE_WORDS: &str = "fn leave(n: u32, fold: Fold) {
    let to = pooling.folds_at + 8u * n;
    output[to] = fold.lanes.x;
    output[to + 1u] = fold.lanes.y;
    output[to + 2u] = fold.lanes.z;
    output[to + 3u] = fold.lanes.w;
    output[to + 4u] = fold.count;
}
";
const TWO: &str = "alias Out = Vector;
fn words_of(vector: Vector) -> vec4<u32> { return vec4(vector, 0u, 0u); }
fn vector_of(words: vec4<u32>) -> Vector { return words.xy; }
fn leave(n: u32, fold: Fold) {
    let to = (pooling.folds_at >> 1u) + 4u * n;
    output[to] = fold.lanes.xy;
    output[to + 1u] = fold.lanes.zw;
    output[to + 2u] = vec2(fold.count, 0u);
}
";
const FOUR: &str = "alias Out = Vector;
fn words_of(vector: Vector) -> vec4<u32> { return vector; }
fn vector_of(words: vec4<u32>) -> Vector { return words; }
fn leave(n: u32, fold: Fold) {
    let to = (pooling.folds_at >> 2u) + 2u * n;
    output[to] = fold.lanes;
    output[to + 1u] = vec4(fold.count, 0u, 0u, 0u);
}
";

/// The parts of a kernel of such accesses.
pub(in crate::gpu) fn parts(access_bytes: usize) -> &'static [&'static str] {
    match access_bytes {
        1 | 2 => &[MASKED_STORE, UNALIGNED, LEAVE_WORDS, BAG, SUBWORD],
        4 => &[ONE, LEAVE_WORDS, BAG, WORDS],
        8 => &[TWO, BAG, WORDS],
        _ => &[FOUR, BAG, WORDS],
    }
}

/// Its override constants.
pub(in crate::gpu) fn constants(
    element: FoldElement,
    access_bytes: usize,
) -> Vec<(&'static str, f64)> {
    let mut constants = vec![("ELEMENT", f64::from(element as u32))];
    if access_bytes < 4 {
        constants.push(("ACCESS_BYTES", access_bytes as f64));
    }
    constants
}
