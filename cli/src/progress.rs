//! How far a gather is: a bar on a terminal, a line now and then elsewhere, or nothing.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::text;

/// Between two lines, and before the first: short runs have none.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Tells on stderr how much is done.
pub(crate) enum Progress {
    /// Nothing is told.
    Silent,
    /// A bar that is redrawn.
    Bar(ProgressBar),
    /// Lines.
    Lines(Instant, Lines),
}

impl Progress {
    /// Of `total` bytes to be written.
    pub(crate) fn new(total: u64, quiet: bool) -> Self {
        if quiet {
            Progress::Silent
        } else if std::io::stderr().is_terminal() {
            Progress::Bar(bar(total))
        } else {
            Progress::Lines(Instant::now(), Lines::new(total))
        }
    }

    /// So many more bytes are written.
    pub(crate) fn add(&mut self, bytes: u64) {
        match self {
            Progress::Silent => {}
            Progress::Bar(bar) => bar.inc(bytes),
            Progress::Lines(start, lines) => {
                if let Some(line) = lines.add(bytes, start.elapsed()) {
                    // Where stderr is closed, there is nobody to tell.
                    let _ = writeln!(std::io::stderr(), "{line}");
                }
            }
        }
    }
}

/// The bar goes, whether all is done or not.
impl Drop for Progress {
    fn drop(&mut self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{wide_bar} {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left",
    );
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    bar.with_style(style)
}

/// What to say, and when.
pub(crate) struct Lines {
    done: u64,
    total: u64,
    next: Duration,
}

impl Lines {
    fn new(total: u64) -> Self {
        Lines {
            done: 0,
            total,
            next: BETWEEN_LINES,
        }
    }

    /// The line that is due once `bytes` more bytes are written, `elapsed` after the start.
    fn add(&mut self, bytes: u64, elapsed: Duration) -> Option<String> {
        self.done += bytes;
        if elapsed < self.next || self.done >= self.total {
            return None;
        }
        self.next = elapsed + BETWEEN_LINES;
        let rate = self.done as f64 / elapsed.as_secs_f64();
        let left = (self.total - self.done) as f64 / rate;
        Some(format!(
            "{} of {}, {}/s, {left:.0} s left",
            text::bytes(self.done),
            text::bytes(self.total),
            text::bytes(rate as u64)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_every_five_seconds_and_none_at_the_end() {
        let seconds = Duration::from_secs;
        let mut lines = Lines::new(100 << 20);
        assert_eq!(lines.add(1 << 20, seconds(4)), None);
        let line = lines.add(9 << 20, seconds(5)).unwrap();
        assert_eq!(line, "10 MiB of 100 MiB, 2 MiB/s, 45 s left");
        assert_eq!(lines.add(10 << 20, seconds(9)), None);
        let line = lines.add(20 << 20, seconds(20)).unwrap();
        assert_eq!(line, "40 MiB of 100 MiB, 2 MiB/s, 30 s left");
        assert_eq!(lines.add(1, seconds(24)), None);
        assert_eq!(lines.add(60 << 20, seconds(30)), None);
    }
}
