//! What each dispatch of a call takes.

use anyhow::Result;

use crate::bench::device::Device;
use crate::bench::result::Dispatches;
use crate::bench::tensors::Tensors;

/// How often a call is timed.
const CALLS: usize = 31;

/// Calls before each that is timed, in the same pass: what they leave in the caches is what repeated calls find.
const BEFORE: usize = 2;

/// The dispatches of a call, by pipelines in their order. None, if the device cannot tell or there is but one.
pub(crate) fn of(device: &Device, tensors: &Tensors<'_>) -> Result<Option<Vec<Dispatches>>> {
    let mut found: Vec<(Dispatches, Vec<f64>)> = Vec::new();
    for call in 0..CALLS {
        let stamped = device.stamped(|pass, stamp| {
            (0..BEFORE).try_for_each(|_| tensors.encode_each(pass, |_, _| {}))?;
            tensors.encode_each(pass, stamp)
        })?;
        let Some(stamped) = stamped.filter(|stamped| stamped.len() > 1) else {
            return Ok(None);
        };
        for (pipeline, seconds) in stamped {
            let at = found
                .iter()
                .position(|(known, _)| known.pipeline == pipeline);
            let at = at.unwrap_or_else(|| {
                let (count, ms) = (0, 0.0);
                found.push((
                    Dispatches {
                        pipeline,
                        count,
                        ms,
                    },
                    vec![0.0; CALLS],
                ));
                found.len() - 1
            });
            let (known, times) = &mut found[at];
            known.count += usize::from(call == 0);
            times[call] += seconds;
        }
    }
    let median = |(mut known, mut times): (Dispatches, Vec<f64>)| {
        times.sort_by(f64::total_cmp);
        known.ms = times[CALLS / 2] * 1e3;
        known
    };
    Ok(Some(found.into_iter().map(median).collect()))
}
