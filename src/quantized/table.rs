//! A view of a quantized table on the host, and its decoding by the definitions of its format.

use crate::error::{Error, Result, Role};
use crate::quantized::block::BlockFormat;
use crate::quantized::format::{Format, ROW_TAIL_BYTES, scale_and_bias};
use crate::quantized::split::{Parts, SplitFormat};

/// A quantized table on the host: contiguous, row-major.
#[derive(Debug, Clone)]
pub struct QuantizedTable<'a> {
    format: Format,
    shape: Vec<usize>,
    elements: usize,
    codes: &'a [u8],
    scales: &'a [u8],
    zero_points: &'a [u8],
}

impl<'a> QuantizedTable<'a> {
    /// A table of `shape` (in elements, not in bytes). Formats that have no scales or no zero points of
    /// their own take empty slices. Scales are in this machine's byte order.
    ///
    /// # Errors
    ///
    /// [`Error::QuantizedLength`] names the slice whose length does not fit;
    /// [`Error::QuantizedScalar`], [`Error::PartialBlock`], [`Error::QuantizeAxis`],
    /// [`Error::BlockSize`], [`Error::ScalesOfCodes`], [`Error::ZeroPointsOfCodes`] and
    /// [`Error::SizeOverflow`] refuse a format and a shape that do not go together.
    pub fn new(
        format: Format,
        shape: &[usize],
        codes: &'a [u8],
        scales: &'a [u8],
        zero_points: &'a [u8],
    ) -> Result<Self> {
        let sizes = format.sizes(shape)?;
        for (role, got, expected) in [
            (Role::Codes, codes.len(), sizes.codes),
            (Role::Scales, scales.len(), sizes.scales),
            (Role::ZeroPoints, zero_points.len(), sizes.zero_points),
        ] {
            if got != expected {
                return Err(Error::QuantizedLength {
                    role,
                    format: format.to_string(),
                    shape: shape.to_vec(),
                    expected,
                    got,
                });
            }
        }
        Ok(QuantizedTable {
            format,
            shape: shape.to_vec(),
            elements: sizes.elements,
            codes,
            scales,
            zero_points,
        })
    }

    /// A table of GGUF blocks. `shape` counts elements; its last dim is whole blocks. `bytes` are the blocks in
    /// row-major order.
    ///
    /// # Errors
    ///
    /// [`Error::QuantizedLength`] for another number of bytes; [`Error::PartialBlock`],
    /// [`Error::QuantizedScalar`] and [`Error::SizeOverflow`] for a shape that the format cannot have.
    pub fn blocks(format: BlockFormat, shape: &[usize], bytes: &'a [u8]) -> Result<Self> {
        QuantizedTable::new(Format::Blocks(format), shape, bytes, &[], &[])
    }

    /// A table of FBGEMM's rows ([`Format::Rows`]). `shape` counts elements; each row of the last dim takes 8 bytes
    /// more, for its scale and bias.
    ///
    /// # Errors
    ///
    /// [`Error::QuantizedLength`] for another number of bytes; [`Error::QuantizedScalar`] and
    /// [`Error::SizeOverflow`] for a shape that the format cannot have.
    pub fn rows(shape: &[usize], bytes: &'a [u8]) -> Result<Self> {
        QuantizedTable::new(Format::Rows, shape, bytes, &[], &[])
    }

    /// The storage format.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The extent of each dim, in elements.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The codes, with the scales of formats that store them together.
    pub fn codes(&self) -> &'a [u8] {
        self.codes
    }

    /// The scales of a split format; empty for others.
    pub fn scales(&self) -> &'a [u8] {
        self.scales
    }

    /// The stored zero points of a split format; empty for others.
    pub fn zero_points(&self) -> &'a [u8] {
        self.zero_points
    }

    /// Bytes of the whole table.
    pub fn bytes(&self) -> usize {
        self.codes.len() + self.scales.len() + self.zero_points.len()
    }

    /// Decodes `output.len()` elements, from element `first` in row-major order on.
    ///
    /// # Errors
    ///
    /// [`Error::DecodeRange`] if the table has not as many elements.
    pub fn decode(&self, first: usize, output: &mut [f32]) -> Result<()> {
        let end = first.checked_add(output.len());
        if end.is_none_or(|end| end > self.elements) {
            return Err(Error::DecodeRange {
                first,
                count: output.len(),
                elements: self.elements,
            });
        }
        self.decode_within(first, output);
        Ok(())
    }

    /// [`QuantizedTable::decode`] of elements that the table has.
    pub(crate) fn decode_within(&self, first: usize, output: &mut [f32]) {
        match &self.format {
            Format::Blocks(format) => self.decode_blocks(*format, first, output),
            Format::Rows => self.decode_rows(first, output),
            Format::Split(format) if !output.is_empty() => {
                let axis = format.axis_in(&self.shape).unwrap_or_default();
                let parts = self.parts(format, axis);
                for (n, to) in output.iter_mut().enumerate() {
                    *to = format.element(&parts, first + n);
                }
            }
            Format::Split(_) => {}
        }
    }

    /// A range of scales in the layout of a device: the scales, padding to a multiple of four bytes, then the zero
    /// points, if any, a byte each.
    #[cfg(feature = "gpu")]
    pub(crate) fn device_scales(&self, scales: std::ops::Range<usize>) -> Vec<u8> {
        let Format::Split(format) = &self.format else {
            return Vec::new();
        };
        let width = format.scales.bytes();
        let mut bytes = self.scales[scales.start * width..scales.end * width].to_vec();
        if format.zero_points.are_stored() {
            let axis = format.axis_in(&self.shape).unwrap_or_default();
            let parts = self.parts(format, axis);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes.extend(scales.map(|at| format.zero_point(&parts, at) as u8));
        }
        bytes
    }

    fn decode_blocks(&self, format: BlockFormat, first: usize, output: &mut [f32]) {
        let (size, bytes) = (format.block_elements(), format.block_bytes());
        let decode = format.decoder();
        let block = |n: usize| &self.codes[n * bytes..][..bytes];
        let mut part = [0.0; 256];
        let (mut at, mut rest) = (first, output);
        while !rest.is_empty() {
            let skip = at % size;
            let count = (size - skip).min(rest.len());
            let (now, later) = rest.split_at_mut(count);
            if count == size {
                decode(block(at / size), now);
            } else {
                decode(block(at / size), &mut part[..size]);
                now.copy_from_slice(&part[skip..skip + count]);
            }
            (at, rest) = (at + count, later);
        }
    }

    fn decode_rows(&self, first: usize, output: &mut [f32]) {
        let row = self.shape[self.shape.len() - 1];
        let (mut at, mut rest) = (first, output);
        while !rest.is_empty() {
            let skip = at % row;
            let (now, later) = rest.split_at_mut((row - skip).min(rest.len()));
            let bytes = &self.codes[at / row * (row + ROW_TAIL_BYTES)..][..row + ROW_TAIL_BYTES];
            let (codes, tail) = bytes.split_at(row);
            let (scale, bias) = scale_and_bias(tail);
            for (to, &code) in now.iter_mut().zip(&codes[skip..]) {
                *to = f32::from(code) * scale + bias;
            }
            (at, rest) = (at + now.len(), later);
        }
    }

    fn parts(&self, format: &SplitFormat, axis: usize) -> Parts<'a> {
        let blocks = format.blocks(&self.shape, axis);
        let is_last = axis + 1 == self.shape.len();
        Parts {
            codes: self.codes,
            scales: self.scales,
            zero_points: self.zero_points,
            blocks,
            scales_row: match is_last {
                true => blocks.along,
                false => self.shape[self.shape.len() - 1],
            },
        }
    }
}
