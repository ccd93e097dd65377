//! A quantized table in the device's memory: codes, and scales with zero points behind them.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::context::Context;
use crate::gpu::tensor::storage::Storage;
use crate::plan::{BindingLimits, bind};
use crate::quantized::{Format, TableLayout, Window};

/// A quantized table on the device. Cloning it copies nothing.
///
/// Made by [`Engine::upload`](crate::gpu::Engine::upload), or around buffers of the
/// caller. It may exceed a binding and a buffer of the device.
#[derive(Debug, Clone)]
pub struct DeviceQuantizedTable {
    pub(in crate::gpu) layout: Arc<TableLayout>,
    codes: Storage,
    scales: Scales,
}

/// The buffers of scales: each has so many, but the last, and their zero points behind them.
#[derive(Debug, Clone)]
struct Scales {
    chunks: Arc<[Storage]>,
    /// Scales of a buffer; not 0.
    each: usize,
}

/// The least bytes of a buffer of codes: a block of any format.
const LEAST_BYTES: usize = 256;

impl DeviceQuantizedTable {
    /// A table in buffers of the caller, which have the usage `STORAGE`: `codes` as a
    /// [`QuantizedTable`](crate::quantized::QuantizedTable) has them; `scales` the scales, and if there
    /// are zero points, these from the next multiple of four bytes on, each in a byte.
    ///
    /// # Errors
    ///
    /// What [`QuantizedTable::new`](crate::quantized::QuantizedTable::new) reports of a format and a
    /// shape; [`Error::QuantizedLength`] if a slice ends before its data, [`Error::MissingUsage`], and
    /// [`Error::Misaligned`] if codes do not start at an even byte (those of FBGEMM's rows may), or
    /// scales at a multiple of four.
    pub fn wrap(
        format: Format,
        shape: &[usize],
        codes: wgpu::BufferSlice<'_>,
        scales: Option<wgpu::BufferSlice<'_>>,
    ) -> Result<Self> {
        let layout = TableLayout::new(format, shape)?;
        let alignment = match &layout.format {
            Format::Rows => 1,
            Format::Blocks(_) | Format::Split(_) => 2,
        };
        let sizes = &layout.sizes;
        check_slice(&layout, Role::Codes, codes, alignment, sizes.codes)?;
        let needed = layout.device_scales_bytes(layout.scales_count());
        let chunks: Vec<Storage> = match scales {
            Some(slice) => {
                check_slice(&layout, Role::Scales, slice, 4, needed)?;
                vec![Storage::wrapped(slice.buffer(), slice.offset())]
            }
            None if needed > 0 => return Err(length(&layout, Role::Scales, needed, 0)),
            None => Vec::new(),
        };
        Ok(DeviceQuantizedTable {
            codes: Storage::wrapped(codes.buffer(), codes.offset()),
            scales: Scales {
                chunks: chunks.into(),
                each: layout.scales_count().max(1),
            },
            layout: Arc::new(layout),
        })
    }

    /// Memory for a table, and which scales each of its buffers is to have.
    pub(in crate::gpu) fn allocate(
        context: &Context,
        layout: TableLayout,
    ) -> Result<(Self, Vec<Range<usize>>)> {
        let bytes = layout.sizes.codes.max(LEAST_BYTES) as u64;
        let codes = context.allocate("codes", bytes, &[layout.unit_bytes()])?;
        let count = layout.scales_count();
        let limit = context
            .binding_limits
            .params_bytes
            .min(context.limits.max_buffer_size & !255);
        let each = match layout.split() {
            Some(split) => ((limit as usize / (split.scales.bytes() + 1)) & !3).max(4),
            None => 1,
        };
        let ranges: Vec<_> = (0..count)
            .step_by(each)
            .map(|at| at..count.min(at + each))
            .collect();
        let chunk = |range: &Range<usize>| {
            let bytes = layout.device_scales_bytes(range.len());
            context.allocate("scales", bytes as u64, &[])
        };
        let chunks = ranges.iter().map(chunk).collect::<Result<Vec<_>>>()?;
        let table = DeviceQuantizedTable {
            layout: Arc::new(layout),
            codes,
            scales: Scales {
                chunks: chunks.into(),
                each,
            },
        };
        Ok((table, ranges))
    }

    /// How it is stored.
    pub fn format(&self) -> &Format {
        &self.layout.format
    }

    /// The extent of each dim, in elements.
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    pub(in crate::gpu) fn layout(&self) -> &Arc<TableLayout> {
        &self.layout
    }

    pub(in crate::gpu) fn codes(&self) -> &Storage {
        &self.codes
    }

    pub(in crate::gpu) fn scales(&self) -> &[Storage] {
        &self.scales.chunks
    }

    /// The windows of the table, in order; one without elements, if it has none.
    pub(in crate::gpu) fn windows<'a>(
        &'a self,
        context: &'a Context,
        op: OpKind,
    ) -> Result<Vec<BoundWindow<'a>>> {
        let mut windows = Vec::new();
        let mut at = 0;
        while at < self.layout.sizes.elements {
            let bound = self.window(&context.binding_limits, at);
            let bound = bound.ok_or(Error::TensorTooLarge {
                op,
                role: Role::Codes,
                bytes: self.layout.unit_bytes() as u64,
                limit: context.binding_limits.params_bytes,
            })?;
            at = bound.window.elements.end;
            windows.push(bound);
        }
        if windows.is_empty() {
            windows.push(BoundWindow::empty(context));
        }
        Ok(windows)
    }

    /// The window from element `at` on.
    fn window(&self, limits: &BindingLimits, at: usize) -> Option<BoundWindow<'_>> {
        let placement = self.codes.placement();
        let first = self.layout.byte_of(at) as i64;
        let part = placement.parts.iter().find(|p| first < p.end())?;
        let place = part.offset + (first - part.origin) as u64;
        // A binding starts at a multiple of the alignment, and is whole words.
        let room = limits.params_bytes - place % limits.alignment;
        let codes_end = part.end().min(first + (room & !3) as i64);
        let chunk = self.layout.scale_of(at) / self.scales.each;
        let scales_end = (chunk + 1).saturating_mul(self.scales.each);
        let window = self.layout.window(at, codes_end as usize, scales_end)?;
        let range = window.codes.start as i64..window.codes.end as i64;
        let codes = bind(&placement.parts, range, limits.params_bytes, limits)?;
        let codes_offset = first - codes.origin;
        let scales = match self.scales.chunks.get(chunk) {
            None => None,
            Some(storage) => {
                let each = self.scales.each;
                let of_chunk = chunk * each..self.layout.scales_count().min((chunk + 1) * each);
                Some(ScalesPlace::new(
                    storage,
                    &self.layout,
                    of_chunk,
                    window.scales.start,
                    limits,
                )?)
            }
        };
        Some(BoundWindow {
            codes: placement.binding(&codes),
            codes_offset: codes_offset as u32,
            last_word: ((codes_offset as usize + window.codes.len() - 1) / 4) as u32,
            scales,
            window,
        })
    }
}

/// A window with what a dispatch binds for it.
pub(in crate::gpu) struct BoundWindow<'a> {
    pub(in crate::gpu) window: Window,
    pub(in crate::gpu) codes: wgpu::BindingResource<'a>,
    /// From the start of that binding to the codes of the window, in bytes.
    pub(in crate::gpu) codes_offset: u32,
    pub(in crate::gpu) last_word: u32,
    pub(in crate::gpu) scales: Option<ScalesPlace<'a>>,
}

impl<'a> BoundWindow<'a> {
    /// That of a table without elements, from which nothing is read.
    fn empty(context: &'a Context) -> Self {
        BoundWindow {
            window: Window::empty(),
            codes: context.nothing.as_entire_binding(),
            codes_offset: 0,
            last_word: 0,
            scales: None,
        }
    }
}

/// Where the scales and the zero points of a window lie.
pub(in crate::gpu) struct ScalesPlace<'a> {
    pub(in crate::gpu) binding: wgpu::BindingResource<'a>,
    /// From the start of the binding, in bytes.
    pub(in crate::gpu) scales_offset: u32,
    pub(in crate::gpu) zeros_offset: u32,
}

impl<'a> ScalesPlace<'a> {
    /// Binds all of a buffer that has the scales `of_chunk`, for a window whose first scale is `first`.
    pub(in crate::gpu) fn new(
        storage: &'a Storage,
        layout: &TableLayout,
        of_chunk: Range<usize>,
        first: usize,
        limits: &BindingLimits,
    ) -> Option<Self> {
        let split = layout.split()?;
        let placement = storage.placement();
        let bytes = layout.device_scales_bytes(of_chunk.len()) as i64;
        let segment = bind(&placement.parts, 0..bytes, limits.params_bytes, limits)?;
        let before = (0 - segment.origin) as usize;
        let skipped = first - of_chunk.start;
        let zeros = (of_chunk.len() * split.scales.bytes()).next_multiple_of(4);
        Some(ScalesPlace {
            binding: placement.binding(&segment),
            scales_offset: (before + skipped * split.scales.bytes()) as u32,
            zeros_offset: (before + zeros + skipped) as u32,
        })
    }
}

fn check_slice(
    layout: &TableLayout,
    role: Role,
    slice: wgpu::BufferSlice<'_>,
    alignment: usize,
    needed: usize,
) -> Result<()> {
    if !slice.buffer().usage().contains(wgpu::BufferUsages::STORAGE) {
        return Err(Error::MissingUsage {
            op: None,
            role,
            usage: "STORAGE",
        });
    }
    let offset = slice.offset();
    if !offset.is_multiple_of(alignment as u64) {
        return Err(Error::Misaligned {
            op: None,
            role,
            offset,
            alignment,
        });
    }
    // Shaders see whole words: the last one must lie in the buffer.
    let end = (offset + needed as u64).next_multiple_of(4);
    if needed as u64 > slice.size() || (end > slice.buffer().size() && needed > 0) {
        let got = slice.size().min(slice.buffer().size() / 4 * 4 - offset);
        return Err(length(layout, role, needed, got as usize));
    }
    Ok(())
}

fn length(layout: &TableLayout, role: Role, expected: usize, got: usize) -> Error {
    Error::QuantizedLength {
        role,
        format: layout.format.to_string(),
        shape: layout.shape.clone(),
        expected,
        got,
    }
}
