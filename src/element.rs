//! Element types. A gather moves bits and computes nothing, so an element is a width; its type
//! matters only to the caller who reads the result.

use std::any::{Any, TypeId};
use std::fmt;

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};

use crate::error::{Error, Result, Role};
use crate::names::named;

/// Plain old data that can be gathered: the number types, `bool`, and any `#[repr(C)]` struct of
/// them without padding (derive [`bytemuck::Pod`]).
///
/// Implemented for every type that meets the bounds; there is nothing to implement by hand.
pub trait Element:
    NoUninit + Zeroable + CheckedBitPattern<Bits: NoUninit + Send + Sync> + Send + Sync + 'static
{
}

impl<T> Element for T where
    T: NoUninit
        + Zeroable
        + CheckedBitPattern<Bits: NoUninit + Send + Sync>
        + Send
        + Sync
        + 'static
{
}

/// Reads bit patterns as elements: without a copy where every pattern is valid (`T` is its own
/// `Bits`), else (`bool`) checked one by one.
pub(crate) fn elements_from_bits<T: Element>(role: Role, mut bits: Vec<T::Bits>) -> Result<Vec<T>> {
    if let Some(elements) = (&mut bits as &mut dyn Any).downcast_mut::<Vec<T>>() {
        return Ok(std::mem::take(elements));
    }
    bytemuck::checked::try_cast_slice::<T::Bits, T>(&bits)
        .map(<[T]>::to_vec)
        .map_err(|_| Error::InvalidBits { role })
}

macro_rules! dtypes {
    ($($variant:ident $name:literal $bytes:literal $missing:expr, $doc:literal;)*) => {
        /// The element types that files and frameworks name.
        ///
        /// The library gathers any [`Element`]; a `DType` is for callers that learn the type of
        /// a tensor at run time.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum DType {
            $(#[doc = $doc] $variant,)*
        }

        impl DType {
            /// Bytes of one element.
            pub const fn bytes(self) -> usize {
                match self { $(DType::$variant => $bytes,)* }
            }

            /// The bits that `jax.numpy.take` gives for an index out of bounds.
            pub(crate) fn missing(self) -> Vec<u8> {
                match self { $(DType::$variant => bytemuck::bytes_of(&$missing).to_vec(),)* }
            }
        }

        named!(DType, "element type", { $($variant $name,)* });
    };
}

dtypes! {
    Bool "bool" 1 1u8, "Truth values, one byte each, 0 or 1.";
    U8 "u8" 1 u8::MAX, "Unsigned 8-bit integers.";
    I8 "i8" 1 i8::MIN, "Signed 8-bit integers.";
    U16 "u16" 2 u16::MAX, "Unsigned 16-bit integers.";
    I16 "i16" 2 i16::MIN, "Signed 16-bit integers.";
    F16 "f16" 2 0x7e00u16, "IEEE half precision.";
    BF16 "bf16" 2 0x7fc0u16, "The upper half of an f32.";
    U32 "u32" 4 u32::MAX, "Unsigned 32-bit integers.";
    I32 "i32" 4 i32::MIN, "Signed 32-bit integers.";
    F32 "f32" 4 f32::NAN, "IEEE single precision.";
    U64 "u64" 8 u64::MAX, "Unsigned 64-bit integers.";
    I64 "i64" 8 i64::MIN, "Signed 64-bit integers.";
    F64 "f64" 8 f64::NAN, "IEEE double precision.";
    C64 "c64" 8 [f32::NAN, 0.0], "Complex numbers of two f32.";
    C128 "c128" 16 [f64::NAN, 0.0], "Complex numbers of two f64.";
}

/// An element type that has a [`DType`].
///
/// For code that is generic over the types that files and frameworks name. Gathering needs no more
/// than [`Element`].
///
/// ```
/// use wgpu_gather::{HasDType, Rules};
///
/// /// The rules under which `jax.numpy.take` reads a bad index of this type.
/// fn rules<T: HasDType>() -> Rules {
///     Rules::jax_fill(T::DTYPE)
/// }
/// assert_eq!(rules::<f32>(), Rules::jax_fill("f32".parse().unwrap()));
/// ```
pub trait HasDType: Element {
    /// The type's name among those of files and frameworks.
    const DTYPE: DType;
}

macro_rules! has_dtype {
    ($($(#[$attribute:meta])* $type:ty: $variant:ident,)*) => {
        $($(#[$attribute])*
        impl HasDType for $type {
            const DTYPE: DType = DType::$variant;
        })*

        /// The name of a type, if it has one.
        fn dtype_of<T: 'static>() -> Option<DType> {
            $($(#[$attribute])*
            if TypeId::of::<T>() == TypeId::of::<$type>() {
                return Some(DType::$variant);
            })*
            None
        }

        #[cfg(test)]
        const WIDTHS: &[(DType, usize)] = &[
            $($(#[$attribute])* (<$type>::DTYPE, size_of::<$type>()),)*
        ];
    };
}

has_dtype! {
    bool: Bool,
    u8: U8,
    i8: I8,
    u16: U16,
    i16: I16,
    #[cfg(feature = "half")]
    half::f16: F16,
    #[cfg(feature = "half")]
    half::bf16: BF16,
    u32: U32,
    i32: I32,
    f32: F32,
    u64: U64,
    i64: I64,
    f64: F64,
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f32>: C64,
    #[cfg(feature = "num-complex")]
    num_complex::Complex<f64>: C128,
}

/// The type of a tensor's elements, as far as it is known at run time: how wide they are, and their
/// [`DType`], if they have one. Gathers need the width only; arithmetic and indices need the type.
///
/// ```
/// use wgpu_gather::{DType, ElementType};
///
/// assert_eq!(ElementType::of::<f32>(), ElementType::from(DType::F32));
/// // 12 bytes that have no name: they can be gathered, not added up
/// let colour = ElementType::of::<[f32; 3]>();
/// assert_eq!((colour.bytes(), colour.dtype()), (12, None));
/// assert_eq!(colour, ElementType::from(12));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementType {
    bytes: usize,
    dtype: Option<DType>,
}

impl ElementType {
    /// The type of elements that are known at compile time.
    pub fn of<T: Element>() -> Self {
        ElementType {
            bytes: size_of::<T>(),
            dtype: dtype_of::<T>(),
        }
    }

    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// The type's name, if it has one.
    pub const fn dtype(self) -> Option<DType> {
        self.dtype
    }
}

impl From<DType> for ElementType {
    fn from(dtype: DType) -> Self {
        ElementType {
            bytes: dtype.bytes(),
            dtype: Some(dtype),
        }
    }
}

/// Elements of so many bytes, of which nothing else is known.
impl From<usize> for ElementType {
    fn from(bytes: usize) -> Self {
        ElementType { bytes, dtype: None }
    }
}

/// The type's name, or the width of an element.
impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            Some(dtype) => f.pad(dtype.name()),
            None => write!(f, "{} bytes", self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_as_wide_as_its_dtype() {
        for &(dtype, bytes) in WIDTHS {
            assert_eq!(dtype.bytes(), bytes, "{dtype}");
        }
        if cfg!(all(feature = "half", feature = "num-complex")) {
            let dtypes: Vec<_> = WIDTHS.iter().map(|&(dtype, _)| dtype).collect();
            assert_eq!(dtypes, DType::ALL);
        }
    }

    #[test]
    fn bools_are_checked_and_numbers_are_not_copied() {
        let role = Role::Output;
        assert_eq!(
            elements_from_bits(role, vec![0u8, 1]),
            Ok(vec![false, true])
        );
        let bad = elements_from_bits::<bool>(role, vec![0u8, 2]);
        assert_eq!(bad, Err(Error::InvalidBits { role }));
        let bits = vec![7u32; 3];
        let at = bits.as_ptr();
        let same: Vec<u32> = elements_from_bits(role, bits).unwrap();
        assert_eq!(same.as_ptr(), at);
    }
}
