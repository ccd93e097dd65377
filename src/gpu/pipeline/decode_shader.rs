//! Shader parts of the kernels that decode quantized tables. Used by `shader`.

use crate::plan::DecodeKind;
use crate::quantized::{BlockFormat, Decoder};

const HALVES: &str = include_str!("../../../shaders/halves.wgsl");
const MASKED_STORE: &str = include_str!("../../../shaders/masked_store.wgsl");
const TABLE: &str = include_str!("../../../shaders/decode/table.wgsl");
const FLOATS: &str = include_str!("../../../shaders/decode/floats.wgsl");
const SCALES_K: &str = include_str!("../../../shaders/decode/scales_k.wgsl");
const NIBBLES: &str = include_str!("../../../shaders/decode/nibbles.wgsl");
const PAIRS: &str = include_str!("../../../shaders/decode/pairs.wgsl");
const BLOCKS: &str = include_str!("../../../shaders/decode/blocks.wgsl");

/// Shader parts of a decode kernel: the window of the table, the format, and the loop over rows.
pub(super) fn parts(decoder: Decoder, kind: DecodeKind) -> Vec<&'static str> {
    let mut parts = vec![TABLE, HALVES, FLOATS];
    parts.extend(decoder_parts(decoder));
    match kind {
        DecodeKind::Rows => {
            parts.push(include_str!("../../../shaders/decode/rows.wgsl"));
        }
        DecodeKind::Elements => {
            parts.extend([
                MASKED_STORE,
                include_str!("../../../shaders/decode/elements.wgsl"),
            ]);
        }
    }
    parts
}

/// The texts that load and decode two fours of a format.
fn decoder_parts(decoder: Decoder) -> &'static [&'static str] {
    use BlockFormat::*;
    match decoder {
        Decoder::Blocks(Q4_0) => &[NIBBLES, include_str!("../../../shaders/decode/q4_0.wgsl")],
        Decoder::Blocks(Q4_1) => &[include_str!("../../../shaders/decode/q4_1.wgsl")],
        Decoder::Blocks(Q5_0) => &[include_str!("../../../shaders/decode/q5_0.wgsl")],
        Decoder::Blocks(Q5_1) => &[include_str!("../../../shaders/decode/q5_1.wgsl")],
        Decoder::Blocks(Q8_0) => &[include_str!("../../../shaders/decode/q8_0.wgsl")],
        Decoder::Blocks(Q2K) => &[include_str!("../../../shaders/decode/q2_k.wgsl")],
        Decoder::Blocks(Q3K) => &[include_str!("../../../shaders/decode/q3_k.wgsl")],
        Decoder::Blocks(Q4K) => &[SCALES_K, include_str!("../../../shaders/decode/q4_k.wgsl")],
        Decoder::Blocks(Q5K) => &[SCALES_K, include_str!("../../../shaders/decode/q5_k.wgsl")],
        Decoder::Blocks(Q6K) => &[include_str!("../../../shaders/decode/q6_k.wgsl")],
        Decoder::Blocks(Iq4Nl) => &[NIBBLES, include_str!("../../../shaders/decode/iq4_nl.wgsl")],
        Decoder::Blocks(Mxfp4) => &[include_str!("../../../shaders/decode/mxfp4.wgsl")],
        Decoder::Blocks(F16) => &[PAIRS, include_str!("../../../shaders/decode/f16.wgsl")],
        Decoder::Blocks(BF16) => &[PAIRS, include_str!("../../../shaders/decode/bf16.wgsl")],
        Decoder::Rows => &[include_str!("../../../shaders/decode/row_scales.wgsl")],
        Decoder::Integers => &[
            BLOCKS,
            include_str!("../../../shaders/decode/integers.wgsl"),
        ],
        Decoder::E4M3 => &[BLOCKS, include_str!("../../../shaders/decode/e4m3.wgsl")],
    }
}
