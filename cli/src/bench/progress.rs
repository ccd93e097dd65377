//! Where a run is, on stderr.

use std::cell::Cell;
use std::io::{IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};

use crate::bench::result::Place;

/// A bar on a terminal, else a line for each case.
pub(crate) struct Progress {
    total: usize,
    done: Cell<usize>,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Of `total` cases.
    pub(crate) fn new(total: usize) -> Self {
        let style = ProgressStyle::with_template("{wide_bar} {pos} of {len}: {msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let terminal = std::io::stderr().is_terminal();
        let bar = terminal.then(|| ProgressBar::new(total as u64).with_style(style));
        Progress {
            total,
            done: Cell::new(0),
            bar,
        }
    }

    /// Goes on to `case`.
    pub(crate) fn next(&self, case: &str, place: &Place) {
        let done = self.done.get();
        self.done.set(done + 1);
        let message = format!("{case} on {}", place.label());
        match &self.bar {
            Some(bar) => {
                bar.set_position(done as u64);
                bar.set_message(message);
            }
            // Where stderr is closed, nobody wants to know.
            None => {
                let _ = writeln!(
                    std::io::stderr(),
                    "bench: {} of {}: {message}",
                    done + 1,
                    self.total
                );
            }
        }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
