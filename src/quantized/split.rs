//! Formats whose codes, scales and zero points are tensors of their own, as in ONNX.

use crate::halves::{bf16_to_f32, f16_to_f32};
use crate::names::named;
use crate::quantized::float::e4m3_scaled;
use crate::shape::Layout;

/// The type of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CodeType {
    /// Unsigned, 2 bits.
    U2,
    /// Unsigned, 4 bits.
    U4,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 2 bits.
    I2,
    /// Signed, 4 bits.
    I4,
    /// Signed, 8 bits.
    I8,
    /// Floats of 8 bits: OCP FP8 with 4 bits of exponent, without infinities.
    E4M3,
}

named!(CodeType, "code type", {
    U2 "u2",
    U4 "u4",
    U8 "u8",
    I2 "i2",
    I4 "i4",
    I8 "i8",
    E4M3 "e4m3",
});

impl CodeType {
    /// Bits of a code.
    pub const fn bits(self) -> usize {
        match self {
            CodeType::U2 | CodeType::I2 => 2,
            CodeType::U4 | CodeType::I4 => 4,
            CodeType::U8 | CodeType::I8 | CodeType::E4M3 => 8,
        }
    }

    /// Codes are signed.
    pub const fn is_signed(self) -> bool {
        !matches!(self, CodeType::U2 | CodeType::U4 | CodeType::U8)
    }

    /// Bytes of `count` packed codes.
    pub(crate) const fn packed_bytes(self, count: usize) -> usize {
        count.div_ceil(8 / self.bits())
    }

    /// The integer at position `at` of packed codes, the low bits of a byte first.
    pub(super) fn integer(self, codes: &[u8], at: usize) -> i32 {
        let bits = self.bits();
        let per_byte = 8 / bits;
        let shifted = codes[at / per_byte] >> (at % per_byte * bits);
        match self.is_signed() {
            // Sign-extend: shift the code's sign bit to that of the byte, and back.
            true => i32::from((shifted << (8 - bits)) as i8 >> (8 - bits)),
            false => i32::from(shifted) & ((1 << bits) - 1),
        }
    }
}

/// The type of a scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ScaleType {
    /// IEEE single precision.
    F32,
    /// IEEE half precision.
    F16,
    /// The upper half of an f32.
    BF16,
    /// A power of two: the exponent of an f32; 255 is NaN. The only scale type of [`CodeType::E4M3`].
    E8M0,
}

named!(ScaleType, "scale type", {
    F32 "f32",
    F16 "f16",
    BF16 "bf16",
    E8M0 "e8m0",
});

impl ScaleType {
    /// Bytes of a scale.
    pub const fn bytes(self) -> usize {
        match self {
            ScaleType::F32 => 4,
            ScaleType::F16 | ScaleType::BF16 => 2,
            ScaleType::E8M0 => 1,
        }
    }
}

/// Zero points, subtracted from codes before they are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ZeroPoints {
    /// No zero point; nothing is subtracted: ONNX's `INT4` and `UINT4` without zero points.
    Zero,
    /// The middle of the range of unsigned codes, `2^(bits - 1)`: ONNX's `UINT8` data without zero points.
    Middle,
    /// A zero point for each scale, of the type of the codes, packed one after the other: ONNX's `INT4`
    /// and `UINT4`.
    Packed,
    /// The same, but each row of the last dim starts at a byte: ONNX's `UINT8` data.
    PackedRows,
}

impl ZeroPoints {
    /// The table stores a zero point for each scale.
    #[cfg(feature = "gpu")]
    pub(crate) const fn are_stored(self) -> bool {
        matches!(self, ZeroPoints::Packed | ZeroPoints::PackedRows)
    }
}

/// A format whose codes, scales and zero points are tensors of their own: an element is
/// `(code - zero point) * scale`.
///
/// The elements of a block share a scale: `block_size` neighbours along `axis`, of which the last block
/// may be short. The shape of the scales is that of the table with the dim of the axis divided by the
/// block size, rounded up.
///
/// Codes are packed in row-major order, the low bits of a byte first. (So are rows of ONNX's `UINT8` data
/// of 2 and 4 bits: its last dim is a whole number of bytes.)
///
/// ```
/// use wgpu_gather::quantized::*;
///
/// // As com.microsoft.GatherBlockQuantized has 4 bits in UINT8 data, with f32 scales.
/// let format = SplitFormat {
///     codes: CodeType::U4,
///     scales: ScaleType::F32,
///     zero_points: ZeroPoints::Middle,
///     block_size: 16,
///     axis: -1,
/// };
/// let codes = [0x9f; 16]; // 15, 9, 15, 9, …
/// let scales: Vec<u8> = [0.5f32, 2.0].iter().flat_map(|s| s.to_ne_bytes()).collect();
/// let table = QuantizedTable::new(Format::Split(format), &[1, 32], &codes, &scales, &[])?;
/// let mut decoded = [0.0; 32];
/// table.decode(0, &mut decoded)?;
/// assert_eq!((decoded[0], decoded[1], decoded[16]), (3.5, 0.5, 14.0));
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SplitFormat {
    /// The type of a code.
    pub codes: CodeType,
    /// The type of a scale.
    pub scales: ScaleType,
    /// The zero points.
    pub zero_points: ZeroPoints,
    /// Elements of a block; any number but 0.
    pub block_size: usize,
    /// The dim that blocks run along; negative: from the end.
    pub axis: isize,
}

impl SplitFormat {
    /// The layout of blocks in a table of this shape.
    pub(super) fn blocks(&self, shape: &[usize], axis: usize) -> Blocks {
        let extent = shape[axis];
        Blocks {
            extent,
            // The product may overflow if another dim is 0.
            inner: Layout::checked_elements(&shape[axis + 1..]).unwrap_or(0),
            size: self.block_size,
            along: extent.div_ceil(self.block_size),
        }
    }

    /// The element with this code, scale and zero point.
    pub(super) fn element(&self, parts: &Parts<'_>, at: usize) -> f32 {
        let scale = parts.blocks.of(at);
        if self.codes == CodeType::E4M3 {
            return e4m3_scaled(parts.codes[at], parts.scales[scale]);
        }
        let code = self.codes.integer(parts.codes, at);
        (code - self.zero_point(parts, scale)) as f32 * self.scale(parts.scales, scale)
    }

    /// The zero point of block `block`.
    pub(super) fn zero_point(&self, parts: &Parts<'_>, block: usize) -> i32 {
        match self.zero_points {
            ZeroPoints::Zero => 0,
            ZeroPoints::Middle => 1 << (self.codes.bits() - 1),
            ZeroPoints::Packed => self.codes.integer(parts.zero_points, block),
            ZeroPoints::PackedRows => {
                let (row, column) = (block / parts.scales_row, block % parts.scales_row);
                let row_bytes = self.codes.packed_bytes(parts.scales_row);
                let row = &parts.zero_points[row * row_bytes..];
                self.codes.integer(row, column)
            }
        }
    }

    fn scale(&self, scales: &[u8], at: usize) -> f32 {
        let short = || u16::from_ne_bytes([scales[2 * at], scales[2 * at + 1]]);
        match self.scales {
            ScaleType::F32 => bytemuck::pod_read_unaligned(&scales[4 * at..4 * at + 4]),
            ScaleType::F16 => f16_to_f32(short()),
            ScaleType::BF16 => bf16_to_f32(short()),
            ScaleType::E8M0 => e4m3_scaled(0x38, scales[at]), // times 1
        }
    }
}

/// Layout of blocks in a table, in row-major order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// Elements of the axis.
    pub(crate) extent: usize,
    /// Elements per step of the axis: the product of the dims after it.
    pub(crate) inner: usize,
    /// Elements of a block.
    pub(crate) size: usize,
    /// Blocks along the axis.
    pub(crate) along: usize,
}

impl Blocks {
    /// The block of element `at`, which is the position of its scale.
    pub(crate) fn of(&self, at: usize) -> usize {
        let (line, column) = (at / self.inner, at % self.inner);
        let (outer, along) = (line / self.extent, line % self.extent);
        (outer * self.along + along / self.size) * self.inner + column
    }
}

/// The bytes of a table, and their layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) codes: &'a [u8],
    pub(super) scales: &'a [u8],
    pub(super) zero_points: &'a [u8],
    pub(super) blocks: Blocks,
    /// The last dim of the scales.
    pub(super) scales_row: usize,
}
