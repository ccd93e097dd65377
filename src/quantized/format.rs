//! All formats, and the size of a table in each.

use std::fmt;

use crate::error::{Error, Result, Role};
use crate::quantized::block::BlockFormat;
use crate::quantized::split::{CodeType, ScaleType, SplitFormat, ZeroPoints};
use crate::shape::{elements, resolve_axis};

/// Storage format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Blocks with their scales, as in GGUF files.
    Blocks(BlockFormat),
    /// FBGEMM's 8-bit rowwise tables: each row of the last dim is an unsigned byte per element, then a scale and
    /// a bias, both f32 and little-endian. An element is `code * scale + bias`.
    Rows,
    /// Codes, scales and zero points in separate tensors, as in ONNX.
    Split(SplitFormat),
}

/// Bytes of the scale and the bias at the end of a row.
pub(crate) const ROW_TAIL_BYTES: usize = 8;

/// The scale and the bias at the end of a row of bytes.
#[inline]
pub(crate) fn scale_and_bias(tail: &[u8]) -> (f32, f32) {
    let float = |bytes: &[u8]| f32::from_le_bytes(bytemuck::pod_read_unaligned(bytes));
    (float(&tail[..4]), float(&tail[4..8]))
}

/// Bytes of each tensor of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) elements: usize,
    pub(crate) codes: usize,
    pub(crate) scales: usize,
    pub(crate) zero_points: usize,
}

impl Format {
    /// Checks that a table can have this shape. Returns its size in bytes.
    pub(crate) fn sizes(&self, shape: &[usize]) -> Result<Sizes> {
        if shape.is_empty() {
            return Err(Error::QuantizedScalar {
                format: self.to_string(),
            });
        }
        // Positions are in elements of four bytes at most.
        let count = elements(Role::Codes, shape, 4)?;
        let alone = |codes| Sizes {
            elements: count,
            codes,
            scales: 0,
            zero_points: 0,
        };
        let row = shape[shape.len() - 1];
        match self {
            Format::Blocks(format) => {
                let block = format.block_elements();
                if !row.is_multiple_of(block) {
                    return Err(Error::PartialBlock {
                        format: format.name(),
                        shape: shape.to_vec(),
                        block,
                    });
                }
                Ok(alone(count / block * format.block_bytes()))
            }
            Format::Rows => {
                let rows = match row {
                    0 => elements(Role::Codes, &shape[..shape.len() - 1], ROW_TAIL_BYTES)?,
                    _ => count / row,
                };
                let codes = rows.checked_mul(row + ROW_TAIL_BYTES);
                let codes = codes.filter(|&bytes| isize::try_from(bytes).is_ok());
                codes.map(alone).ok_or_else(|| Error::SizeOverflow {
                    role: Role::Codes,
                    shape: shape.to_vec(),
                    element_bytes: 1,
                })
            }
            Format::Split(format) => format.sizes(shape, count),
        }
    }
}

impl SplitFormat {
    /// The shape of the scales of a table of this shape: one for each block. Stored zero points have the same
    /// shape.
    ///
    /// # Errors
    ///
    /// [`Error::QuantizeAxis`] and [`Error::BlockSize`].
    pub fn scales_shape(&self, shape: &[usize]) -> Result<Vec<usize>> {
        if self.block_size == 0 {
            return Err(Error::BlockSize);
        }
        let axis = self.axis_in(shape)?;
        let mut blocks = shape.to_vec();
        blocks[axis] = blocks[axis].div_ceil(self.block_size);
        Ok(blocks)
    }

    fn sizes(&self, shape: &[usize], count: usize) -> Result<Sizes> {
        self.check_types()?;
        let scales_shape = self.scales_shape(shape)?;
        let scales = elements(Role::Scales, &scales_shape, self.scales.bytes())?;
        let row = scales_shape[scales_shape.len() - 1];
        Ok(Sizes {
            elements: count,
            codes: self.codes.packed_bytes(count),
            scales: scales * self.scales.bytes(),
            zero_points: match self.zero_points {
                ZeroPoints::Zero | ZeroPoints::Middle => 0,
                ZeroPoints::Packed => self.codes.packed_bytes(scales),
                ZeroPoints::PackedRows if row == 0 => 0,
                ZeroPoints::PackedRows => scales / row * self.codes.packed_bytes(row),
            },
        })
    }

    /// The axis, from the front.
    pub(crate) fn axis_in(&self, shape: &[usize]) -> Result<usize> {
        resolve_axis(self.axis, shape.len()).ok_or(Error::QuantizeAxis {
            axis: self.axis,
            rank: shape.len(),
        })
    }

    fn check_types(&self) -> Result<()> {
        let is_float = self.codes == CodeType::E4M3;
        if is_float != (self.scales == ScaleType::E8M0) {
            return Err(Error::ScalesOfCodes {
                codes: self.codes.name(),
                scales: self.scales.name(),
            });
        }
        let allowed = match self.zero_points {
            ZeroPoints::Zero => true,
            ZeroPoints::Middle => !self.codes.is_signed(),
            ZeroPoints::Packed | ZeroPoints::PackedRows => !is_float,
        };
        allowed
            .then_some(())
            .ok_or_else(|| Error::ZeroPointsOfCodes {
                codes: self.codes.name(),
                zero_points: format!("{:?}", self.zero_points),
            })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Format::Blocks(format) => write!(f, "{format}"),
            Format::Rows => f.write_str("rows of u8 with scale and bias"),
            Format::Split(s) => write!(
                f,
                "{} in blocks of {} along axis {}, scales {}",
                s.codes, s.block_size, s.axis, s.scales
            ),
        }
    }
}
