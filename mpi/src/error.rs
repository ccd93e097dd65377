//! What goes wrong on a rank, as every rank returns it.

use wgpu_gather::BadIndices;

/// The failure of one rank, which all ranks return.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rank could not do its part.
    #[error("rank {rank}: {message}")]
    Rank {
        /// The rank: the first that failed.
        rank: usize,
        /// What it said.
        message: String,
    },

    /// An index is out of bounds and the rules ask for an error.
    #[error("rank {rank}: {bad}")]
    BadIndices {
        /// The first rank that has one.
        rank: usize,
        /// Its first bad index, at a position in the indices of that rank; the count is over all ranks.
        bad: BadIndices,
    },
}
