//! In which order a benchmark looks things up.

use clap::ValueEnum;

/// The values of `--order`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Order {
    /// Uniformly random, with repetitions
    Random,
    /// Random, from the first to the last
    Sorted,
    /// Small ones often: Zipf's law with exponent 1.05
    Zipf,
    /// Always the same one
    Same,
}

impl Order {
    /// As `--order` takes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Order::Random => "random",
            Order::Sorted => "sorted",
            Order::Zipf => "zipf",
            Order::Same => "same",
        }
    }
}
