//! A tensor written to stdout.

use std::fmt;
use std::io::{BufWriter, ErrorKind, Stdout, Write};

use anyhow::Result;

/// Stdout as the destination of bytes.
pub(crate) struct ToStdout(BufWriter<Stdout>);

/// Who reads stdout has closed it, and so has read what it wanted. Not a failure.
#[derive(Debug)]
pub(crate) struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stdout was closed")
    }
}

impl std::error::Error for Closed {}

impl ToStdout {
    pub(crate) fn new() -> Self {
        let stdout = std::io::stdout();
        ToStdout(BufWriter::with_capacity(super::BUFFER_BYTES, stdout))
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        unless_closed(self.0.write_all(bytes))
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self) -> Result<()> {
        unless_closed(self.0.flush())
    }
}

fn unless_closed(written: std::io::Result<()>) -> Result<()> {
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Closed.into(),
        _ => error.into(),
    })
}
