//! What a case does with the rows that its indices name.

use wgpu_gather::{Op, Reduce};

/// A verb of the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verb {
    /// Reads them.
    Gather,
    /// Combines updates with them, in a copy of params.
    Scatter(Reduce),
    /// Combines updates with them in place: each run goes on from what the last one left.
    ScatterInto(Reduce),
    /// Sums them: the last dim of indices is a bag.
    SumBags,
}

impl Verb {
    /// How updates are combined with what is there, in a scatter.
    pub(crate) fn reduce(self) -> Option<Reduce> {
        match self {
            Verb::Scatter(reduce) | Verb::ScatterInto(reduce) => Some(reduce),
            Verb::Gather | Verb::SumBags => None,
        }
    }

    /// Whether it computes with elements, which then have to be numbers.
    pub(crate) fn computes(self) -> bool {
        self != Verb::Gather
    }

    /// Its name, where `op` says which rows are meant.
    pub(crate) fn name(self, op: Op) -> String {
        match self {
            Verb::Gather => op.kind().to_string(),
            Verb::Scatter(_) => op.transposed_kind().to_string(),
            Verb::ScatterInto(_) => format!("{}_into", op.transposed_kind()),
            Verb::SumBags => "embedding_bag".to_owned(),
        }
    }
}
