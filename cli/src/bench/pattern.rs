//! Where a benchmark's indices point: what they are as a pattern of access.

use clap::ValueEnum;

/// The values of `--pattern`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Pattern {
    /// Uniformly random, with repetitions
    Random,
    /// Random, from the first to the last
    Sorted,
    /// In random order, none twice as long as there are others
    Permutation,
    /// Always the same one
    Same,
    /// Random among the 1,024 nearest, which move from the first to the last
    Window,
    /// Random, one for each row of indices, as after expand (PyTorch) or broadcast_to
    Expanded,
    /// Small ones often: Zipf's law with exponent 1.05
    Zipf,
}

impl Pattern {
    /// As `--pattern` takes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Pattern::Random => "random",
            Pattern::Sorted => "sorted",
            Pattern::Permutation => "permutation",
            Pattern::Same => "same",
            Pattern::Window => "window",
            Pattern::Expanded => "expanded",
            Pattern::Zipf => "zipf",
        }
    }
}
