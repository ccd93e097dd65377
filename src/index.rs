//! Index types, and index values at full width.

use std::borrow::Cow;

use crate::element::{DType, Element};
use crate::names::named;

/// One index type as the executors read it.
pub(crate) trait Word: bytemuck::Pod + Into<i128> {
    /// Its bits: the unsigned integer that is as wide.
    type Bits: Bits;
}

/// The bits of an index.
pub(crate) trait Bits: bytemuck::Pod + Ord + Into<u64> + TryFrom<u64> {}

impl<T: bytemuck::Pod + Ord + Into<u64> + TryFrom<u64>> Bits for T {}

/// The index types, the integers that are of them as they are, and the macro that goes from one to the other;
/// `$d` is the dollar sign in it.
macro_rules! index_types {
    ($d:tt, $($(#[$doc:meta])* $variant:ident $name:literal $integer:ty, $bits:ty;)*) => {
        /// The index types as they lie in memory, on the host and on the device.
        ///
        /// The narrower integer types are widened on the host ([`Index`]).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum IndexType {
            $($(#[$doc])* $variant,)*
        }

        named!(IndexType, "index type", { $($variant $name,)* });

        impl IndexType {
            /// Bytes of one index.
            pub const fn bytes(self) -> usize {
                match self { $(IndexType::$variant => size_of::<$integer>(),)* }
            }

            /// The type as one of elements.
            pub const fn dtype(self) -> DType {
                match self { $(IndexType::$variant => DType::$variant,)* }
            }

            /// True for signed types.
            pub const fn is_signed(self) -> bool {
                match self { $(IndexType::$variant => <$integer>::MIN != 0,)* }
            }

            /// Whether an index of this type can have the value.
            #[cfg(any(feature = "gpu", test))]
            pub(crate) fn holds(self, value: i128) -> bool {
                match self { $(IndexType::$variant => <$integer>::try_from(value).is_ok(),)* }
            }

            /// The value at position `at` of `bytes`, which hold indices in this machine's byte order.
            pub(crate) fn load(self, bytes: &[u8], at: usize) -> i128 {
                match self { $(IndexType::$variant => load::<$integer>(bytes, at),)* }
            }

            /// The values that `bytes` hold in this machine's byte order; a part of one at the end is left
            /// out.
            ///
            /// ```
            /// use wgpu_gather::IndexType;
            ///
            /// let bytes = (-7i64).to_ne_bytes();
            /// assert_eq!(IndexType::I64.values(&bytes).collect::<Vec<_>>(), [-7]);
            /// ```
            pub fn values(self, bytes: &[u8]) -> impl ExactSizeIterator<Item = i128> + '_ {
                bytes.chunks_exact(self.bytes()).map(move |index| self.load(index, 0))
            }

            /// Appends an index to `bytes`, in this machine's byte order. A value that the type does not
            /// hold is cut to its low bits, as `as` does.
            ///
            /// ```
            /// use wgpu_gather::IndexType;
            ///
            /// let mut bytes = Vec::new();
            /// IndexType::U32.encode(-1, &mut bytes);
            /// assert_eq!(bytes, u32::MAX.to_ne_bytes());
            /// ```
            pub fn encode(self, value: i128, bytes: &mut Vec<u8>) {
                match self {
                    $(IndexType::$variant => bytes.extend((value as $integer).to_ne_bytes()),)*
                }
            }
        }

        /// Evaluates an expression for the Rust type of an [`IndexType`]: `with_index_type!(value, I => expression)`
        /// with `I` as a name for that type.
        ///
        /// ```
        /// use wgpu_gather::{IndexType, with_index_type};
        ///
        /// fn widest(index_type: IndexType) -> u64 {
        ///     with_index_type!(index_type, I => I::MAX as u64)
        /// }
        /// assert_eq!(widest(IndexType::I64), i64::MAX as u64);
        /// ```
        #[macro_export]
        macro_rules! with_index_type {
            ($d index_type:expr, $d I:ident => $d work:expr) => {
                match $d index_type {
                    $($crate::IndexType::$variant => {
                        type $d I = $integer;
                        $d work
                    })*
                }
            };
        }
        pub(crate) use with_index_type;

        $(
            impl Word for $integer {
                type Bits = $bits;
            }
            impl sealed::Sealed for $integer {}
            impl Index for $integer {
                type Wide = $integer;
                const TYPE: IndexType = IndexType::$variant;
                fn widened(values: &[Self]) -> Cow<'_, [u8]> {
                    Cow::Borrowed(bytemuck::cast_slice(values))
                }
            }
        )*
    };
}

index_types! {
    $,
    /// Signed, 32 bits.
    I32 "i32" i32, u32;
    /// Unsigned, 32 bits.
    U32 "u32" u32, u32;
    /// Signed, 64 bits: two words on the device.
    I64 "i64" i64, u64;
    /// Unsigned, 64 bits: two words on the device.
    U64 "u64" u64, u64;
}

impl IndexType {
    /// The index type that elements of this type are.
    pub fn of(dtype: DType) -> Option<IndexType> {
        IndexType::ALL.into_iter().find(|ty| ty.dtype() == dtype)
    }
}

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

/// Integers that are widened to those of an index type.
macro_rules! narrow_indices {
    ($($narrow:ty => $wide:ty,)*) => {$(
        impl sealed::Sealed for $narrow {}
        impl Index for $narrow {
            type Wide = $wide;
            const TYPE: IndexType = <$wide>::TYPE;
            fn widened(values: &[Self]) -> Cow<'_, [u8]> {
                let wide: Vec<$wide> = values.iter().map(|&v| <$wide>::from(v)).collect();
                Cow::Owned(bytemuck::cast_slice(&wide).to_vec())
            }
        }
    )*};
}

narrow_indices! {
    i8 => i32,
    i16 => i32,
    u8 => u32,
    u16 => u32,
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
