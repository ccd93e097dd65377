//! What gathers have to report after their call has returned: bad indices, and errors of the device.
//!
//! `launch` adds to it, `Gathers::check` reads it. It may be used from several threads at once.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use wgpu_gather::gpu::{AnyDeviceTensor, Engine};

use crate::error::{Error, Result};

/// The most gathers whose bad indices are counted and not read: each keeps its output's buffer and a
/// few bytes on the device. One more, and the oldest is read, which waits for the device.
const MOST: usize = 1024;

/// Reports, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<VecDeque<Report>>);

#[derive(Debug)]
enum Report {
    /// A gather whose rules ask for an error: its status is on the device.
    Pending(AnyDeviceTensor),
    Failed(Error),
}

impl Reports {
    /// Keeps an error until it is asked for.
    pub(crate) fn fail(&self, error: Error) {
        self.lock().push_back(Report::Failed(error));
    }

    /// Keeps the output of a gather under the error rule until its status is read.
    pub(crate) fn expect(&self, engine: &Engine, output: AnyDeviceTensor) {
        let mut reports = self.lock();
        reports.push_back(Report::Pending(output));
        let pending = |report: &Report| matches!(report, Report::Pending(_));
        if reports.iter().filter(|report| pending(report)).count() <= MOST {
            return;
        }
        let oldest = reports.iter().position(pending);
        let Some(Report::Pending(output)) = oldest.and_then(|at| reports.remove(at)) else {
            return;
        };
        if let Err(error) = read(engine, &output) {
            reports.push_front(Report::Failed(error));
        }
    }

    /// The first report, if there is a bad one. What was read is forgotten.
    pub(crate) fn first(&self, engine: &Engine) -> Result<()> {
        loop {
            let report = self.lock().pop_front();
            match report {
                None => return Ok(()),
                Some(Report::Failed(error)) => return Err(error),
                Some(Report::Pending(output)) => read(engine, &output)?,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Report>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bad indices as the error that the rules ask for. Waits for the device.
fn read(engine: &Engine, output: &AnyDeviceTensor) -> Result<()> {
    match engine.check(output).wait()? {
        None => Ok(()),
        Some(bad) => Err(wgpu_gather::Error::IndexOutOfBounds(Box::new(bad)).into()),
    }
}
