//! Gathers from quantized tables from host to host: upload, dispatch, download; or window by window, where
//! the tensors exceed the memory that a call may take.
//!
//! Called by `Executor`.

use crate::error::{Error, Result, Role};
use crate::gpu::engine::Engine;
use crate::gpu::engine::execute::reached_bytes;
use crate::gpu::engine::stream::{from_the_start, line, segment_of};
use crate::gpu::placed::Placed;
use crate::gpu::quantized::{BoundWindow, DecodeRecorder, ScalesPlace};
use crate::gpu::status::{Counting, Status};
use crate::gpu::storage::Storage;
use crate::gpu::wait::PollMode;
use crate::gpu::writer::{Chunks, Whole, Writer};
use crate::memory::zeroed_bits;
use crate::plan::{BindingLimits, HostCall, Parts, Pass, bind, check_passes, passes};
use crate::quantized::{PlannedQuantized, QuantizedTable, TableLayout, Window};

/// Buffers that parts of the tensors go through.
struct Buffers {
    codes: Storage,
    scales: Storage,
    indices: Storage,
    output: Storage,
}

/// The most bytes of each part of a table at a time.
#[derive(Clone, Copy)]
struct Room {
    codes: usize,
    scales: usize,
}

impl Engine {
    /// Executes a call, writing the output's bytes, row-major.
    pub(crate) async fn execute_quantized(
        &self,
        planned: &PlannedQuantized<'_>,
        output: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        let plan = &planned.plan;
        if output.len() != plan.output_bytes() {
            return Err(Error::OutputLength {
                op: plan.op(),
                expected: plan.output_bytes(),
                got: output.len(),
            });
        }
        self.execute_decoding(planned, &mut Whole(output), poll_mode)
            .await
    }

    /// Executes a call, calling `chunk` with at most `most_bytes` (which is not 0) of the output at a
    /// time, in order.
    pub(crate) async fn execute_quantized_chunks<E: From<Error>>(
        &self,
        planned: &PlannedQuantized<'_>,
        most_bytes: usize,
        chunk: impl FnMut(&[u8]) -> Result<(), E>,
        poll_mode: PollMode,
    ) -> Result<(), E> {
        let len = most_bytes.min(planned.plan.output_bytes());
        let buffer = zeroed_bits::<u8>(Role::Output, len)?;
        let output = &mut Chunks { buffer, chunk };
        self.execute_decoding(planned, output, poll_mode).await
    }

    async fn execute_decoding<S: Writer>(
        &self,
        planned: &PlannedQuantized<'_>,
        writer: &mut S,
        poll_mode: PollMode,
    ) -> Result<(), S::Error> {
        let plan = &planned.plan;
        if plan.is_empty() {
            return Ok(());
        }
        let bytes = planned.call.table.bytes() as u64;
        match plan.host_call_from(bytes, self.max_memory()) {
            HostCall::Whole => self.decode_whole(planned, writer, poll_mode).await,
            HostCall::Streamed {
                params_bytes,
                indices_bytes,
                output_bytes,
            } => {
                let device = &self.context().binding_limits;
                let codes = device.params_bytes.min(params_bytes / 4 * 3) & !15;
                let scales = device.params_bytes.min(params_bytes / 4) & !15;
                let room = Room {
                    codes: codes as usize,
                    scales: scales as usize,
                };
                let limits = BindingLimits {
                    indices_bytes: device.indices_bytes.min(indices_bytes) & !15,
                    pass_bytes: device.output_bytes.min(output_bytes) & !15,
                    segments: 1,
                    alignment: 16,
                    ..*device
                };
                self.decode_streamed(planned, writer, (room, &limits), poll_mode)
                    .await
            }
            HostCall::Collected => Err(S::Error::from(Error::GpuOutOfMemory {
                what: format!("more than {} bytes of tensors", self.max_memory()),
            })),
        }
    }

    async fn decode_whole<S: Writer>(
        &self,
        PlannedQuantized { call, plan }: &PlannedQuantized<'_>,
        writer: &mut S,
        poll_mode: PollMode,
    ) -> Result<(), S::Error> {
        let context = self.context();
        let table = self.upload_quantized_driven(call.table, poll_mode).await?;
        let index_bytes = plan.index_type().bytes();
        let (first, bytes) =
            reached_bytes(call.indices.bytes(), call.indices.layout(), index_bytes);
        let unit = index_bytes * plan.geometry().coordinates.len();
        let indices = context.allocate("indices", bytes.len() as u64, &[unit])?;
        context
            .write(&indices, bytes, poll_mode, &mut |_, _| ())
            .await?;
        let (output, flag) = context.allocate_output(plan)?;
        let counting = Counting::of_call(context, plan)?;
        let recorder =
            DecodeRecorder::kept(self.decoders(), context, plan.clone(), &table, call.to)?;
        let placed = Placed {
            params: table.codes().placement(),
            indices: indices.placement().with_origin(-(first as i64)),
            output: output.placement(),
            status: counting.as_ref().map(|counting| &counting.status),
            flag,
            count: None,
        };
        context.submit(|recording| {
            let dispatches = recorder.dispatches(context, &table, &placed)?;
            recording.call(context, dispatches, counting.as_ref());
            Ok(())
        })?;
        if let Some(counting) = &counting {
            counting.status.read_once(poll_mode).await?;
        }
        let all = 0..plan.output_bytes();
        writer.take(context, placed.output, all, poll_mode).await
    }

    /// Each box of the output is made window by window, and then downloaded.
    async fn decode_streamed<S: Writer>(
        &self,
        PlannedQuantized { call, plan }: &PlannedQuantized<'_>,
        writer: &mut S,
        (room, limits): (Room, &BindingLimits),
        poll_mode: PollMode,
    ) -> Result<(), S::Error> {
        let context = self.context();
        let layout = TableLayout::new(*call.table.format(), call.table.shape())?;
        let windows = windows(&layout, room).ok_or_else(|| Error::GpuOutOfMemory {
            what: format!("a window of {} bytes of codes", room.codes),
        })?;
        let recorder = DecodeRecorder::new(context, plan.clone(), layout.into(), call.to)?;
        let width = plan.index_type().bytes();
        let (first, bytes) = reached_bytes(call.indices.bytes(), call.indices.layout(), width);
        let parts = Parts {
            params: &[],
            indices: &[line(first, bytes.len())],
            output: &[line(0, plan.output_bytes())],
        };
        let buffers = Buffers {
            codes: context.allocate("codes", room.codes.max(256) as u64, &[])?,
            scales: context.allocate("scales", room.scales as u64, &[])?,
            indices: context.allocate("indices", limits.indices_bytes, &[])?,
            output: context.allocate("output", limits.pass_bytes + 32, &[])?,
        };
        if plan.counts_bad_indices() {
            let checks = check_passes(plan, parts.indices, limits)?;
            let status = Status::new(context, plan)?;
            status.clear()?;
            status.note_recording(); // the passes together look at each index once
            for mut pass in checks {
                let bytes = segment_of(bytes, first, &pass.indices);
                context
                    .write(&buffers.indices, bytes, poll_mode, &mut |_, _| ())
                    .await?;
                from_the_start(&mut pass.indices);
                context.submit(|recording| {
                    let placed = buffers.placed(Some(&status));
                    let dispatches = recorder.count(context, &placed, &status, &pass)?;
                    recording.dispatch(dispatches);
                    Ok(())
                })?;
            }
            status.read_once(poll_mode).await?;
        }
        for mut pass in passes(plan, parts, limits)? {
            if let Some(segment) = &pass.indices {
                let bytes = segment_of(bytes, first, segment);
                context
                    .write(&buffers.indices, bytes, poll_mode, &mut |_, _| ())
                    .await?;
            }
            pass.indices.iter_mut().for_each(from_the_start);
            from_the_start(&mut pass.output);
            for (n, window) in windows.iter().enumerate() {
                self.decode_window(
                    &recorder,
                    &buffers,
                    (call.table, window),
                    (&pass, n == 0),
                    poll_mode,
                )
                .await?;
            }
            let width = plan.element_bytes();
            let bytes = pass.elements.start * width..pass.elements.end * width;
            let made = buffers.output.placement();
            let made = made.with_origin(pass.output_offset as i64);
            writer.take(context, made, bytes, poll_mode).await?;
        }
        Ok(())
    }

    /// Uploads a window, and makes what a box takes from it.
    async fn decode_window(
        &self,
        recorder: &DecodeRecorder,
        buffers: &Buffers,
        (table, window): (&QuantizedTable<'_>, &Window),
        (pass, fills): (&Pass, bool),
        poll_mode: PollMode,
    ) -> Result<()> {
        let (context, silent) = (self.context(), &mut |_, _| ());
        let codes = &table.codes()[window.codes.clone()];
        context
            .write(&buffers.codes, codes, poll_mode, silent)
            .await?;
        let scales = table.device_scales(window.scales.clone());
        context
            .write(&buffers.scales, &scales, poll_mode, silent)
            .await?;
        let layout = recorder.table();
        let of_buffer = window.scales.clone();
        let limits = &context.binding_limits;
        let place = ScalesPlace::new(
            &buffers.scales,
            layout,
            of_buffer,
            window.scales.start,
            limits,
        );
        let placement = buffers.codes.placement();
        let range = 0..codes.len().max(16) as i64;
        let segment = bind(&placement.parts, range, limits.params_bytes, limits);
        let segment = segment.ok_or_else(|| Error::GpuOutOfMemory {
            what: format!("a window of {} bytes of codes", codes.len()),
        })?;
        let bound = BoundWindow {
            codes: placement.binding(&segment),
            codes_offset: 0,
            last_word: (window.codes.len().max(1) - 1) as u32 / 4,
            scales: place.filter(|_| !scales.is_empty()),
            window: window.clone(),
        };
        context.submit(|recording| {
            let placed = buffers.placed(None);
            let dispatch = recorder.decode(context, &placed, pass, &bound, fills)?;
            recording.dispatch(vec![dispatch]);
            Ok(())
        })
    }
}

impl Buffers {
    fn placed<'a>(&'a self, status: Option<&'a Status>) -> Placed<'a> {
        Placed {
            params: self.codes.placement(),
            indices: self.indices.placement(),
            output: self.output.placement(),
            status,
            flag: false,
            count: None,
        }
    }
}

/// The windows of a table in so much room; `None`, if the smallest takes more.
fn windows(layout: &TableLayout, room: Room) -> Option<Vec<Window>> {
    let each = layout.split().map_or(1, |split| split.scales.bytes() + 1);
    let scales = (room.scales / each).saturating_sub(4);
    let (mut windows, mut at) = (Vec::new(), 0);
    while at < layout.sizes.elements {
        let (codes_end, scales_end) = (
            layout.byte_of(at) + room.codes,
            layout.scale_of(at) + scales,
        );
        let window = layout.window(at, codes_end, scales_end)?;
        at = window.elements.end;
        windows.push(window);
    }
    if windows.is_empty() {
        windows.push(Window::empty());
    }
    Some(windows)
}
