//! What is called at every level: the verbs, the kinds of tables, and the shapes that all calls share.

use wgpu_gather::{Op, Rules};

pub(super) const ROWS: usize = 6;
pub(super) const WIDTH: usize = 32;
pub(super) const SHAPE: &[usize] = &[ROWS, WIDTH];
pub(super) const OP: Op = Op::gather(0);
pub(super) const RULES: &Rules = &Rules::TORCH;
pub(super) const OFFSETS: &[usize] = &[0, 2];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Gather,
    Scatter,
    Gradient,
    Bag,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Typed,
    AtRunTime,
    Quantized,
}

/// The rows of the table: their names, and what is called.
pub(super) const TABLE: [(&str, Verb, Kind); 12] = [
    ("`gather`", Verb::Gather, Kind::Typed),
    ("`gather`, type at run time", Verb::Gather, Kind::AtRunTime),
    ("`gather`, quantized", Verb::Gather, Kind::Quantized),
    ("`scatter`", Verb::Scatter, Kind::Typed),
    (
        "`scatter`, type at run time",
        Verb::Scatter,
        Kind::AtRunTime,
    ),
    ("`scatter`, quantized", Verb::Scatter, Kind::Quantized),
    ("`gather_gradient`", Verb::Gradient, Kind::Typed),
    (
        "`gather_gradient`, type at run time",
        Verb::Gradient,
        Kind::AtRunTime,
    ),
    (
        "`gather_gradient`, quantized",
        Verb::Gradient,
        Kind::Quantized,
    ),
    ("`embedding_bag`", Verb::Bag, Kind::Typed),
    (
        "`embedding_bag`, type at run time",
        Verb::Bag,
        Kind::AtRunTime,
    ),
    ("`embedding_bag`, quantized", Verb::Bag, Kind::Quantized),
];
