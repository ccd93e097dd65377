//! What calls take on the host: tables and values of a type that is known at compile time, at run time, or
//! decoded from a quantized table; and indices. The traits are sealed; `operand` has what calls make of them.

use crate::element::{Element, ElementType, HasDType, elements_from_bits};
use crate::error::{Result, Role};
use crate::index::Index;
use crate::operand::{AnyTable, AnyTensor, Indices, Params};
use crate::quantized::{Decoded, DecodedAs, Float, QuantizedTable};
use crate::tensor::{Tensor, TensorView};

/// What a gather or a pooled lookup reads on the host: a [`Tensor`] or [`TensorView`], [`Params`] of a type
/// that is known at run time, a [`QuantizedTable`] to be decoded
/// ([`QuantizedTable::to`], [`QuantizedTable::to_type`]), or either as [`AnyTable`].
pub trait Table: sealed::AsTable {
    /// The tensor that a call makes: [`Tensor`], or [`AnyTensor`] where the type is known at run time.
    type Output: sealed::Made<Self::Element> + 'static;
    /// What the caller's memory for an output is made of: the type of the elements, or bytes.
    type Element: Element;
}

/// A table whose elements are numbers, or at least have a type: what a scatter writes over and what it
/// writes, weights of bags.
pub trait Values: Table + sealed::AsValues {}

/// Integers that select: a [`Tensor`] or [`TensorView`] of any [`Index`] type, or [`Indices`].
pub trait IndexTensor: sealed::AsIndices {}

pub(crate) mod sealed {
    use super::{AnyTable, Element, ElementType, Indices, Params, Result};

    pub trait AsTable {
        fn operand(&self) -> Result<AnyTable<'_>>;
    }

    pub trait AsValues {
        fn values(&self) -> Result<Params<'_>>;
    }

    pub trait AsIndices {
        fn indices(&self) -> Result<Indices<'_>>;
    }

    /// A tensor made of the bits of its elements.
    pub trait Made<E: Element>: Sized + Send {
        fn made(shape: &[usize], element: ElementType, bits: Vec<E::Bits>) -> Result<Self>;
    }
}

impl<T: Element> sealed::Made<T> for Tensor<T> {
    fn made(shape: &[usize], _: ElementType, bits: Vec<T::Bits>) -> Result<Self> {
        Tensor::new(shape, elements_from_bits(Role::Output, bits)?)
    }
}

impl sealed::Made<u8> for AnyTensor {
    fn made(shape: &[usize], element: ElementType, bits: Vec<u8>) -> Result<Self> {
        AnyTensor::new(shape, element, bits)
    }
}

macro_rules! typed {
    ($($tensor:ty, $this:ident => $view:expr;)*) => {$(
        impl<T: Element> sealed::AsTable for $tensor {
            fn operand(&self) -> Result<AnyTable<'_>> {
                let $this = self;
                Params::try_from($view).map(AnyTable::Plain)
            }
        }

        impl<T: Element> Table for $tensor {
            type Output = Tensor<T>;
            type Element = T;
        }

        impl<T: HasDType> sealed::AsValues for $tensor {
            fn values(&self) -> Result<Params<'_>> {
                let $this = self;
                Params::try_from($view)
            }
        }

        impl<T: HasDType> Values for $tensor {}

        impl<T: Index> sealed::AsIndices for $tensor {
            fn indices(&self) -> Result<Indices<'_>> {
                let $this = self;
                Indices::try_from($view)
            }
        }

        impl<T: Index> IndexTensor for $tensor {}
    )*};
}

typed! {
    Tensor<T>, tensor => &tensor.view();
    TensorView<'_, T>, view => view;
}

macro_rules! untyped {
    ($($tensor:ty, $view:expr;)*) => {$(
        impl sealed::AsTable for $tensor {
            fn operand(&self) -> Result<AnyTable<'_>> {
                Ok(AnyTable::Plain($view(self)))
            }
        }

        impl Table for $tensor {
            type Output = AnyTensor;
            type Element = u8;
        }

        impl sealed::AsValues for $tensor {
            fn values(&self) -> Result<Params<'_>> {
                Ok($view(self))
            }
        }

        impl Values for $tensor {}
    )*};
}

untyped! {
    Params<'_>, Params::clone;
    AnyTensor, AnyTensor::view;
}

impl<F: Float> sealed::AsTable for Decoded<'_, QuantizedTable<'_>, F> {
    fn operand(&self) -> Result<AnyTable<'_>> {
        Ok(AnyTable::Quantized(self.table(), F::TYPE))
    }
}

impl<F: Float> Table for Decoded<'_, QuantizedTable<'_>, F> {
    type Output = Tensor<F>;
    type Element = F;
}

impl sealed::AsTable for DecodedAs<'_, QuantizedTable<'_>> {
    fn operand(&self) -> Result<AnyTable<'_>> {
        Ok(AnyTable::Quantized(self.table(), self.to()))
    }
}

impl Table for DecodedAs<'_, QuantizedTable<'_>> {
    type Output = AnyTensor;
    type Element = u8;
}

impl sealed::AsIndices for Indices<'_> {
    fn indices(&self) -> Result<Indices<'_>> {
        Ok(self.borrowed())
    }
}

impl IndexTensor for Indices<'_> {}

impl sealed::AsTable for AnyTable<'_> {
    fn operand(&self) -> Result<AnyTable<'_>> {
        Ok(match self {
            AnyTable::Plain(params) => AnyTable::Plain(params.clone()),
            AnyTable::Quantized(table, to) => AnyTable::Quantized(table, *to),
        })
    }
}

impl Table for AnyTable<'_> {
    type Output = AnyTensor;
    type Element = u8;
}
