//! A device that can take the time, and its buffers.

use std::ops::Range;

use anyhow::{Context, Result, bail};
use wgpu_gather::gpu::Engine;
use wgpu_gather::{Error, wgpu};

use crate::bench::timing::Time;

/// Bytes that are uploaded at once. What runs out of memory while it is staged loses the device.
const UPLOAD: usize = 64 << 20;

/// A device of our own, with timestamps where the adapter has them.
pub(crate) struct Device {
    pub(crate) engine: Engine,
    clock: Option<Clock>,
}

/// Two timestamps, and where they are read.
struct Clock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Seconds of one tick.
    tick: f64,
}

/// What a submission took, in seconds.
pub(crate) struct Took {
    /// By the device's own clock.
    pub(crate) device: Option<f64>,
    /// From submission to the end.
    pub(crate) wall: f64,
}

impl Took {
    /// The time of one of `repeats` calls, which took `encode` seconds to record.
    pub(crate) fn of_one(&self, repeats: usize, encode: f64) -> Time {
        let one = |seconds: f64| seconds / repeats as f64;
        Time {
            seconds: one(self.device.unwrap_or(self.wall)),
            wall: one(self.wall),
            encode: one(encode),
        }
    }
}

const BOTH: Range<u32> = 0..2;
const STAMPS: u64 = 16;

impl Device {
    /// A device of `adapter`.
    pub(crate) fn open(adapter: &wgpu::Adapter) -> Result<Self> {
        let timestamps =
            wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        let has_clock = adapter.features().contains(timestamps);
        let inside = adapter.features() & wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("wgpu-gather bench"),
            required_features: match has_clock {
                true => timestamps | inside,
                false => wgpu::Features::empty(),
            },
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let info = adapter.get_info();
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .with_context(|| format!("no device of {} ({})", info.name, info.backend))?;
        let engine = Engine::new(device, queue).wait()?;
        // One error, instead of one for each case.
        engine.probe().wait()?;
        let mut opened = Device {
            engine,
            clock: None,
        };
        if has_clock {
            opened.clock = Some(opened.new_clock()?);
        }
        Ok(opened)
    }

    fn new_clock(&self) -> Result<Clock> {
        let queries = self.queries(BOTH.end)?;
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        Ok(Clock {
            queries,
            resolved: self.buffer("timestamps", STAMPS, usage)?,
            tick: f64::from(self.engine.queue().get_timestamp_period()) * 1e-9,
        })
    }

    fn queries(&self, count: u32) -> Result<wgpu::QuerySet> {
        let device = self.engine.device();
        self.guarded("a query set", || {
            device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("bench"),
                ty: wgpu::QueryType::Timestamp,
                count,
            })
        })
    }

    /// `timestamps` or `wall`.
    pub(crate) fn clock(&self) -> &'static str {
        match self.clock {
            Some(_) => "timestamps",
            None => "wall",
        }
    }

    /// Runs `work`; what wgpu has to complain about is an error, not the end of the process.
    pub(crate) fn guarded<T>(&self, what: &'static str, work: impl FnOnce() -> T) -> Result<T> {
        let device = self.engine.device();
        let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = work();
        let validation = validation.pop();
        let internal = internal.pop();
        let memory = memory.pop();
        if pollster::block_on(memory).is_some() {
            let what = what.to_owned();
            bail!(Error::GpuOutOfMemory { what });
        }
        let complaint = [pollster::block_on(internal), pollster::block_on(validation)];
        if let Some(error) = complaint.into_iter().flatten().next() {
            let words: Vec<String> = error
                .to_string()
                .split_whitespace()
                .map(str::to_owned)
                .collect();
            let reason = words.join(" ");
            bail!(Error::Gpu { what, reason });
        }
        Ok(value)
    }

    /// A buffer of `bytes` bytes, rounded up to whole words.
    pub(crate) fn buffer(
        &self,
        what: &'static str,
        bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer> {
        let size = bytes.max(4).next_multiple_of(4);
        if size > self.most_bytes() {
            let what = format!("{what} of {bytes} bytes, more than a buffer of this device holds");
            bail!(Error::GpuOutOfMemory { what });
        }
        self.guarded(what, || {
            self.engine.device().create_buffer(&wgpu::BufferDescriptor {
                label: Some(what),
                size,
                usage,
                mapped_at_creation: false,
            })
        })
    }

    /// The most bytes of one buffer, in whole words.
    pub(crate) fn most_bytes(&self) -> u64 {
        self.engine.device().limits().max_buffer_size & !3
    }

    /// Writes `bytes` to the start of `buffer`.
    pub(crate) fn upload(&self, buffer: &wgpu::Buffer, bytes: &[u8]) -> Result<()> {
        for (n, chunk) in bytes.chunks(UPLOAD).enumerate() {
            let offset = (n * UPLOAD) as u64;
            self.guarded("an upload", || {
                let queue = self.engine.queue();
                if chunk.len().is_multiple_of(4) {
                    queue.write_buffer(buffer, offset, chunk);
                } else {
                    let mut words = chunk.to_vec();
                    words.resize(chunk.len().next_multiple_of(4), 0);
                    queue.write_buffer(buffer, offset, &words);
                }
            })?;
            self.submit(self.encoder()?)?;
        }
        Ok(())
    }

    pub(crate) fn encoder(&self) -> Result<wgpu::CommandEncoder> {
        let device = self.engine.device();
        self.guarded("an encoder", || {
            device.create_command_encoder(&Default::default())
        })
    }

    /// Submits and waits.
    pub(crate) fn submit(&self, encoder: wgpu::CommandEncoder) -> Result<()> {
        let submission = self.guarded("a submission", || {
            self.engine.queue().submit([encoder.finish()])
        })?;
        let until = wgpu::PollType::Wait {
            submission_index: Some(submission),
            timeout: None,
        };
        match self.engine.device().poll(until) {
            Ok(_) => Ok(()),
            Err(error) => bail!(Error::DeviceLost {
                reason: error.to_string()
            }),
        }
    }

    /// Records, submits and waits for `work`, and takes its time.
    pub(crate) fn timed(
        &self,
        work: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<()>,
    ) -> Result<Took> {
        let mut encoder = self.encoder()?;
        if let Some(clock) = &self.clock {
            encoder.write_timestamp(&clock.queries, 0);
        }
        work(&mut encoder)?;
        if let Some(clock) = &self.clock {
            encoder.write_timestamp(&clock.queries, 1);
            encoder.resolve_query_set(&clock.queries, BOTH, &clock.resolved, 0);
        }
        let started = std::time::Instant::now();
        self.submit(encoder)?;
        let wall = started.elapsed().as_secs_f64();
        let device = match &self.clock {
            Some(clock) => self.between(clock, wall)?,
            None => None,
        };
        Ok(Took { device, wall })
    }

    /// Records `work` into a pass, submits and waits. Before each dispatch, `work` calls what it is given, with the
    /// pipeline's name. Returns these names and the seconds that each dispatch took, with the timestamp after it;
    /// none, if the device has no timestamps within a pass, or its clock cannot be right.
    pub(crate) fn stamped(
        &self,
        work: impl FnOnce(
            &mut wgpu::ComputePass<'_>,
            &mut dyn FnMut(&mut wgpu::ComputePass<'_>, String),
        ) -> Result<()>,
    ) -> Result<Option<Vec<(String, f64)>>> {
        let features = self.engine.device().features();
        let inside = features.contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);
        let Some(clock) = self.clock.as_ref().filter(|_| inside) else {
            return Ok(None);
        };
        let most = wgpu::QUERY_SET_MAX_QUERIES;
        let queries = self.queries(most)?;
        let mut names = Vec::new();
        let mut encoder = self.encoder()?;
        let mut pass = encoder.begin_compute_pass(&Default::default());
        work(&mut pass, &mut |pass, name| {
            if (names.len() as u32) < most - 1 {
                pass.write_timestamp(&queries, names.len() as u32);
                names.push(name);
            }
        })?;
        let stamps = names.len() as u32 + 1;
        pass.write_timestamp(&queries, stamps - 1);
        drop(pass);
        let bytes = u64::from(stamps) * STAMPS / 2;
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let resolved = self.buffer("timestamps", bytes, usage)?;
        encoder.resolve_query_set(&queries, 0..stamps, &resolved, 0);
        self.submit(encoder)?;
        let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(&self.download(&resolved, 0..bytes)?);
        let each = stamps
            .windows(2)
            .map(|pair| elapsed(pair[0], pair[1], clock.tick));
        let each: Option<Vec<f64>> = each.collect();
        Ok(each.map(|each| names.into_iter().zip(each).collect()))
    }

    /// Seconds between the two timestamps of work that took `wall` seconds with all around it.
    fn between(&self, clock: &Clock, wall: f64) -> Result<Option<f64>> {
        let bytes = self.download(&clock.resolved, 0..STAMPS)?;
        let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes);
        Ok(elapsed(stamps[0], stamps[1], clock.tick).filter(|&seconds| seconds <= wall))
    }

    /// Bytes of `buffer`; the range is made of whole words.
    pub(crate) fn download(&self, buffer: &wgpu::Buffer, range: Range<u64>) -> Result<Vec<u8>> {
        let size = range.end - range.start;
        let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ;
        let staging = self.buffer("a download", size, usage)?;
        let mut encoder = self.encoder()?;
        encoder.copy_buffer_to_buffer(buffer, range.start, &staging, 0, size);
        let (sender, receiver) = std::sync::mpsc::channel();
        // The receiver waits below; it is gone only if submitting failed.
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., move |mapped| {
            let _ = sender.send(mapped);
        });
        self.submit(encoder)?;
        receiver.recv()?.context("the download was not mapped")?;
        let view = staging.get_mapped_range(..)?;
        Ok(view.to_vec())
    }
}

/// Seconds between two timestamps; none from a clock that stands still or runs back.
fn elapsed(from: u64, to: u64, tick: f64) -> Option<f64> {
    let seconds = to.checked_sub(from)? as f64 * tick;
    (seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_cannot_be_right_is_not_read() {
        assert_eq!(elapsed(100, 300, 0.5), Some(100.0));
        for (from, to, tick) in [(300, 100, 0.5), (7, 7, 0.5), (1, 9, 0.0), (1, 9, f64::NAN)] {
            assert_eq!(elapsed(from, to, tick), None, "{from} {to} {tick}");
        }
    }
}
