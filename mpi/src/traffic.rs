//! What an exchange moved, and how long its steps took.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// Messages from rank to rank, and their bytes. What MPI's own collectives send (a word in which the
/// ranks agree, a count for each pair) is not among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// How many messages.
    pub messages: u64,
    /// Bytes of row numbers, 8 each.
    pub id_bytes: u64,
    /// Bytes of rows.
    pub row_bytes: u64,
}

impl Messages {
    /// All bytes.
    pub fn bytes(&self) -> u64 {
        self.id_bytes + self.row_bytes
    }
}

impl Add for Messages {
    type Output = Messages;

    fn add(self, more: Messages) -> Messages {
        Messages {
            messages: self.messages + more.messages,
            id_bytes: self.id_bytes + more.id_bytes,
            row_bytes: self.row_bytes + more.row_bytes,
        }
    }
}

impl AddAssign for Messages {
    fn add_assign(&mut self, more: Messages) {
        *self = *self + more;
    }
}

/// Seconds in each step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// To resolve, sort and deduplicate the indices.
    pub plan: f64,
    /// In agreements and counts, which is mostly waiting for the slowest rank.
    pub agree: f64,
    /// To exchange row numbers.
    pub ids: f64,
    /// To gather the rows that others asked for.
    pub gather: f64,
    /// To exchange rows, with the gather of the rank's own rows meanwhile.
    pub rows: f64,
    /// To put the rows into the order of the indices.
    pub assemble: f64,
}

impl Seconds {
    /// All steps.
    pub fn total(&self) -> f64 {
        self.plan + self.agree + self.ids + self.gather + self.rows + self.assemble
    }
}

impl AddAssign for Seconds {
    fn add_assign(&mut self, more: Seconds) {
        self.plan += more.plan;
        self.agree += more.agree;
        self.ids += more.ids;
        self.gather += more.gather;
        self.rows += more.rows;
        self.assemble += more.assemble;
    }
}

/// What one rank did in a gather.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// Row numbers to the owners of rows, and rows to those who asked.
    pub sent: Messages,
    /// The other way.
    pub received: Messages,
    /// Indices that select a row.
    pub found: u64,
    /// Of those, how many got a row that another had asked for.
    pub duplicates: u64,
    /// Rounds of the exchange.
    pub rounds: u64,
    /// Time of each step.
    pub seconds: Seconds,
}

impl AddAssign for Traffic {
    fn add_assign(&mut self, more: Traffic) {
        self.sent += more.sent;
        self.received += more.received;
        self.found += more.found;
        self.duplicates += more.duplicates;
        self.rounds += more.rounds;
        self.seconds += more.seconds;
    }
}

/// The messages with which a rank asks another for so many rows (first), and gets them (second): with
/// `per_round` rows in a round, and at most `message_bytes` in a message.
pub fn messages_of(
    rows: u64,
    row_bytes: u64,
    per_round: u64,
    message_bytes: u64,
) -> (Messages, Messages) {
    let split = |bytes: u64| bytes.div_ceil(message_bytes.max(1));
    let (full, rest) = (rows / per_round.max(1), rows % per_round.max(1));
    let both = |bytes_each: u64| full * split(per_round * bytes_each) + split(rest * bytes_each);
    let asking = Messages {
        messages: both(8),
        id_bytes: rows * 8,
        row_bytes: 0,
    };
    let answering = Messages {
        messages: both(row_bytes),
        id_bytes: 0,
        row_bytes: rows * row_bytes,
    };
    (asking, answering)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_by_rounds_and_split() {
        // 7 rows of 10 bytes, 3 in a round, 16 bytes in a message: 24, 24 and 8 bytes of ids; 30, 30
        // and 10 bytes of rows.
        let (asking, answering) = messages_of(7, 10, 3, 16);
        assert_eq!((asking.messages, asking.bytes()), (2 + 2 + 1, 56));
        assert_eq!((answering.messages, answering.bytes()), (2 + 2 + 1, 70));
        let (asking, answering) = messages_of(0, 10, 3, 16);
        assert_eq!(asking + answering, Messages::default());
    }
}
