//! Ctrl-C and requests to terminate: the process leaves at once, and nothing unfinished behind.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};

/// The file that is being written under a temporary name, if there is one.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// The file to be removed if the process is interrupted. While this is held, nobody interrupts it:
/// a file is made and named here, or renamed and forgotten here, in one step.
pub fn unfinished() -> MutexGuard<'static, Option<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has interrupts remove the unfinished file and end the process, with status 130 for Ctrl-C and
/// 143 for a request to terminate.
#[cfg(unix)]
pub fn watch() -> Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};

    let signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]);
    let mut signals = signals.context("cannot wait for signals")?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _held = remove_unfinished();
            // Not through the exit handlers of drivers whose threads still run.
            signal_hook::low_level::exit(128 + signal);
        }
    });
    Ok(())
}

/// Has Ctrl-C remove the unfinished file and end the process with status 130.
#[cfg(not(unix))]
pub fn watch() -> Result<()> {
    let leave = || {
        let _held = remove_unfinished();
        std::process::exit(130);
    };
    ctrlc::set_handler(leave).context("cannot wait for Ctrl-C")
}

/// Removes the unfinished file, and has nobody make or finish one as long as the guard lives.
fn remove_unfinished() -> MutexGuard<'static, Option<PathBuf>> {
    let unfinished = unfinished();
    if let Some(path) = &*unfinished {
        // Nobody is left to be told.
        let _ = std::fs::remove_file(path);
    }
    unfinished
}
