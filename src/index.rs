//! Index types, and index values at full width.

use std::borrow::Cow;

use crate::element::{DType, Element};
use crate::names::named;

/// The index types as they lie in memory, on the host and on the device.
///
/// The narrower integer types are widened on the host ([`Index`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexType {
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 64 bits: two words on the device.
    I64,
    /// Unsigned, 64 bits: two words on the device.
    U64,
}

named!(IndexType, "index type", {
    I32 "i32",
    U32 "u32",
    I64 "i64",
    U64 "u64",
});

impl IndexType {
    /// Bytes of one index.
    pub const fn bytes(self) -> usize {
        match self {
            IndexType::I32 | IndexType::U32 => 4,
            IndexType::I64 | IndexType::U64 => 8,
        }
    }

    /// The type as one of elements.
    pub const fn dtype(self) -> DType {
        match self {
            IndexType::I32 => DType::I32,
            IndexType::U32 => DType::U32,
            IndexType::I64 => DType::I64,
            IndexType::U64 => DType::U64,
        }
    }

    /// The index type that elements of this type are.
    pub fn of(dtype: DType) -> Option<IndexType> {
        IndexType::ALL.into_iter().find(|ty| ty.dtype() == dtype)
    }

    /// Whether an index can be negative.
    pub const fn is_signed(self) -> bool {
        matches!(self, IndexType::I32 | IndexType::I64)
    }

    /// Whether an index of this type can have the value.
    #[cfg(feature = "gpu")]
    pub(crate) fn holds(self, value: i128) -> bool {
        match self {
            IndexType::I32 => i32::try_from(value).is_ok(),
            IndexType::U32 => u32::try_from(value).is_ok(),
            IndexType::I64 => i64::try_from(value).is_ok(),
            IndexType::U64 => u64::try_from(value).is_ok(),
        }
    }

    /// The value at position `at` of `bytes`, which hold indices in this machine's byte order.
    pub(crate) fn load(self, bytes: &[u8], at: usize) -> i128 {
        match self {
            IndexType::I32 => load::<i32>(bytes, at),
            IndexType::U32 => load::<u32>(bytes, at),
            IndexType::I64 => load::<i64>(bytes, at),
            IndexType::U64 => load::<u64>(bytes, at),
        }
    }
}

/// One index type as the executors read it.
pub(crate) trait Word: bytemuck::Pod + Into<i128> {}

impl Word for i32 {}
impl Word for u32 {}
impl Word for i64 {}
impl Word for u64 {}

/// The value at position `at` of `bytes` (of any alignment), widened without loss.
#[inline]
pub(crate) fn load<W: Word>(bytes: &[u8], at: usize) -> i128 {
    let start = at * size_of::<W>();
    bytemuck::pod_read_unaligned::<W>(&bytes[start..start + size_of::<W>()]).into()
}

/// The integer types that can index: `i8`, `i16`, `i32`, `i64` and their unsigned twins.
///
/// Values keep their full width; nothing is ever truncated.
pub trait Index: Element + sealed::Sealed {
    /// The type that reaches the executors: `Self`, or 32 bits wide if `Self` is narrower.
    type Wide: Index<Wide = Self::Wide>;

    /// How the indices reach the executors.
    const TYPE: IndexType;

    /// The indices as [`Self::TYPE`], widened if they are narrower.
    fn widened(values: &[Self]) -> Cow<'_, [u8]>;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! indices {
    ($($narrow:ty => $wide:ty, $variant:ident;)*) => {$(
        impl sealed::Sealed for $narrow {}
        impl Index for $narrow {
            type Wide = $wide;
            const TYPE: IndexType = IndexType::$variant;
            fn widened(values: &[Self]) -> Cow<'_, [u8]> {
                let wide: Vec<$wide> = values.iter().map(|&v| <$wide>::from(v)).collect();
                Cow::Owned(bytemuck::cast_slice(&wide).to_vec())
            }
        }
    )*};
    ($($as_is:ty, $variant:ident;)*) => {$(
        impl sealed::Sealed for $as_is {}
        impl Index for $as_is {
            type Wide = $as_is;
            const TYPE: IndexType = IndexType::$variant;
            fn widened(values: &[Self]) -> Cow<'_, [u8]> {
                Cow::Borrowed(bytemuck::cast_slice(values))
            }
        }
    )*};
}

indices! {
    i8 => i32, I32;
    i16 => i32, I32;
    u8 => u32, U32;
    u16 => u32, U32;
}

indices! {
    i32, I32;
    u32, U32;
    i64, I64;
    u64, U64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_sign_and_width() {
        let at = |t: IndexType, bytes: &[u8]| t.load(bytes, 0);
        assert_eq!(at(IndexType::I32, &(-1i32).to_ne_bytes()), -1);
        assert_eq!(at(IndexType::U32, &u32::MAX.to_ne_bytes()), 0xffff_ffff);
        assert_eq!(
            at(IndexType::I64, &i64::MIN.to_ne_bytes()),
            i128::from(i64::MIN)
        );
        assert_eq!(
            at(IndexType::U64, &u64::MAX.to_ne_bytes()),
            i128::from(u64::MAX)
        );
        assert_eq!(i8::widened(&[-1]).as_ref(), (-1i32).to_ne_bytes());
        assert_eq!(u16::widened(&[65535]).as_ref(), 65535u32.to_ne_bytes());
    }
}
