//! What a command has to say, and whether all went well.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};

/// The text for stdout, notes and what could not be done for stderr, and the verdict.
pub(crate) struct Answer {
    text: String,
    notes: String,
    errors: Vec<anyhow::Error>,
    good: bool,
}

impl Answer {
    /// `text` (lines with their ends), of a command that found nothing wrong.
    pub(crate) fn good(text: String) -> Self {
        Answer::checked(text, true)
    }

    /// `text` of a check that failed unless `good`.
    pub(crate) fn checked(text: String, good: bool) -> Self {
        Answer {
            text,
            notes: String::new(),
            errors: Vec::new(),
            good,
        }
    }

    /// The same, with a text for stderr besides.
    pub(crate) fn noting(self, notes: String) -> Self {
        Answer { notes, ..self }
    }

    /// The same with its text on stderr, as stdout has the result itself.
    pub(crate) fn on_stderr(self) -> Self {
        Answer {
            text: String::new(),
            notes: self.text,
            ..self
        }
    }

    /// The same, where `errors` kept a part of the work from being done; not good if there are any.
    pub(crate) fn despite(self, errors: Vec<anyhow::Error>) -> Self {
        Answer {
            good: self.good && errors.is_empty(),
            errors,
            ..self
        }
    }

    /// What could not be done.
    pub(crate) fn errors(&self) -> &[anyhow::Error] {
        &self.errors
    }

    /// `value` as one JSON object on lines of its own.
    pub(crate) fn json(value: &serde_json::Value, good: bool) -> Self {
        Answer::checked(format!("{value:#}\n"), good)
    }

    /// Writes the text to stdout, then the notes to stderr. A reader that has closed the pipe has read what
    /// it wanted.
    pub(crate) fn print(&self) -> Result<()> {
        let written = self.print_text();
        // Where stderr is closed, there is nobody to tell.
        let _ = std::io::stderr().write_all(self.notes.as_bytes());
        written
    }

    fn print_text(&self) -> Result<()> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout
            .write_all(self.text.as_bytes())
            .and_then(|()| stdout.flush());
        match written {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written.context("cannot write to stdout"),
        }
    }

    /// 0 if all went well, else 1.
    pub(crate) fn status(&self) -> ExitCode {
        if self.good {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
