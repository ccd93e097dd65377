//! What may be chosen about the exchange.

/// How rows are exchanged. All ranks must choose the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether a row that several indices of a rank select travels once (by default), or once for each.
    pub dedupe: bool,
    /// The most bytes of rows that a rank sends, and receives, in one round; but at least one row to and
    /// from each rank. By default 256 MiB.
    pub round_bytes: usize,
    /// The most bytes of one message: longer ones are split. By default 1 GiB; MPI counts no further
    /// than 2^31 - 1.
    pub message_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            dedupe: true,
            round_bytes: 256 << 20,
            message_bytes: 1 << 30,
        }
    }
}

impl Options {
    /// The most bytes of a message that MPI counts.
    pub const MAX_MESSAGE_BYTES: usize = i32::MAX as usize;

    /// What is wrong with them, if anything is.
    pub(crate) fn check(&self) -> Result<(), String> {
        let most = Options::MAX_MESSAGE_BYTES;
        match (self.round_bytes, self.message_bytes) {
            (0, _) => Err("round_bytes is 0 (allowed: 1 or more)".to_owned()),
            (_, message_bytes) if !(1..=most).contains(&message_bytes) => Err(format!(
                "message_bytes is {message_bytes} (allowed: 1 to {most})"
            )),
            _ => Ok(()),
        }
    }

    /// How many rows a rank asks another for in one round.
    pub fn rows_per_round(&self, row_bytes: usize, ranks: usize) -> usize {
        let pair_bytes = self.round_bytes / ranks.max(1);
        (pair_bytes / row_bytes.max(1)).max(1)
    }
}
