//! The places in a shader that touch storage.

use std::fmt;

/// What an access does to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Read,
    Write,
    /// An atomic operation.
    Both,
}

/// A load, a store or an atomic operation in the text of a shader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// The binding of the buffer, in group 0.
    pub(crate) binding: u32,
    pub(crate) kind: Kind,
    /// Whether it is on an atomic type.
    pub(crate) is_atomic: bool,
    /// From index to index, in bytes.
    pub(crate) stride: u32,
    /// From the element with the index on, in bytes.
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
    /// The function that it is in.
    pub(crate) function: String,
    /// Its text.
    pub(crate) place: String,
}

impl Site {
    pub(crate) fn writes(&self) -> bool {
        self.kind != Kind::Read
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let does = match self.kind {
            Kind::Read => "reads",
            Kind::Write => "writes",
            Kind::Both => "changes",
        };
        write!(f, "{} {does} {}", self.function, self.place)
    }
}
