//! Waiting on this thread until a submission is done.

use std::time::{Duration, Instant};

/// How long wgpu waits at a time. On GL it holds the context meanwhile, and panics in another thread that has waited
/// 6 s for it (1 s on Windows). Whatever it is told, it gives up after 2^31 ns there.
const AT_A_TIME: Duration = Duration::from_millis(100);

/// Polls until `submitted` is done and its callbacks are called, however long it takes.
///
/// # Errors
///
/// wgpu's, if the wait failed.
pub(in crate::gpu) fn arrives(
    device: &wgpu::Device,
    submitted: &wgpu::SubmissionIndex,
) -> Result<(), wgpu::PollError> {
    until_done(AT_A_TIME, |timeout| {
        device.poll(wgpu::PollType::Wait {
            submission_index: Some(submitted.clone()),
            timeout: Some(timeout),
        })
    })
}

/// Calls `poll`, which is to wait for `at_a_time`, until its wait does not run out.
fn until_done(
    at_a_time: Duration,
    mut poll: impl FnMut(Duration) -> Result<wgpu::PollStatus, wgpu::PollError>,
) -> Result<(), wgpu::PollError> {
    loop {
        let began = Instant::now();
        match poll(at_a_time) {
            // On GL a wait that fails gives this error, too, but at once. Half the time allows for coarse clocks.
            Err(wgpu::PollError::Timeout) if began.elapsed() >= at_a_time / 2 => {}
            polled => return polled.map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use wgpu::{PollError, PollStatus};

    use super::*;

    #[test]
    fn a_wait_that_runs_out_goes_on() {
        let mut polls = 0;
        let done = until_done(Duration::from_millis(2), |timeout| {
            polls += 1;
            if polls == 4 {
                return Ok(PollStatus::WaitSucceeded);
            }
            sleep(timeout);
            Err(PollError::Timeout)
        });
        assert!(done.is_ok());
        assert_eq!(polls, 4);
    }

    #[test]
    fn a_wait_that_fails_at_once_is_over() {
        let mut polls = 0;
        let done = until_done(Duration::from_secs(3600), |_| {
            polls += 1;
            Err(PollError::Timeout)
        });
        assert!(matches!(done, Err(PollError::Timeout)));
        assert_eq!(polls, 1);
    }
}
