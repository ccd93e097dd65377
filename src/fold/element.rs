//! What devices fold.

use crate::element::DType;
use crate::error::{Error, OpKind, Result};
use crate::fold::Reduce;

/// What the values of a fold are to the shaders: the numbers are those in `shaders/arithmetic.wgsl`. Signs
/// only matter to an order, which is given them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FoldElement {
    F32 = 0,
    F16 = 1,
    BF16 = 2,
    I8 = 3,
    I16 = 4,
    I32 = 5,
    I64 = 6,
}

impl FoldElement {
    #[cfg(feature = "gpu")]
    pub(crate) const ALL: [FoldElement; 7] = [
        FoldElement::F32,
        FoldElement::F16,
        FoldElement::BF16,
        FoldElement::I8,
        FoldElement::I16,
        FoldElement::I32,
        FoldElement::I64,
    ];

    /// What elements of the type are.
    ///
    /// # Errors
    ///
    /// [`Error::CpuOnly`] for a type whose arithmetic the shaders do not have, with those that they have
    /// and what `else_allowed` adds.
    pub(crate) fn of(op: OpKind, dtype: DType, else_allowed: &[&'static str]) -> Result<Self> {
        FoldElement::find(dtype).ok_or_else(|| {
            let types = DType::ALL.into_iter();
            let folded = types.filter(|&dtype| FoldElement::find(dtype).is_some());
            let names = folded.map(DType::name);
            Error::CpuOnly {
                op,
                dtype: dtype.name(),
                allowed: names.chain(else_allowed.iter().copied()).collect(),
            }
        })
    }

    fn find(dtype: DType) -> Option<Self> {
        match dtype {
            DType::F32 => Some(FoldElement::F32),
            DType::F16 => Some(FoldElement::F16),
            DType::BF16 => Some(FoldElement::BF16),
            DType::U8 | DType::I8 => Some(FoldElement::I8),
            DType::U16 | DType::I16 => Some(FoldElement::I16),
            DType::U32 | DType::I32 => Some(FoldElement::I32),
            DType::U64 | DType::I64 => Some(FoldElement::I64),
            _ => None,
        }
    }

    /// The bit of a lane that says that an integer is negative; in the high lane, for 64 bits. None has it
    /// where there is no sign.
    pub(crate) fn sign_bit(dtype: DType) -> u32 {
        match dtype {
            DType::I8 => 1 << 7,
            DType::I16 => 1 << 15,
            DType::I32 | DType::I64 => 1 << 31,
            _ => 0,
        }
    }

    /// Whether it is a float.
    #[cfg(feature = "gpu")]
    pub(crate) fn is_float(self) -> bool {
        matches!(
            self,
            FoldElement::F32 | FoldElement::F16 | FoldElement::BF16
        )
    }

    /// Whether any order of the values gives the same bits.
    pub(crate) fn takes_any_order(self, reduce: Reduce) -> bool {
        match self {
            FoldElement::F32 | FoldElement::F16 | FoldElement::BF16 => {
                matches!(reduce, Reduce::Min | Reduce::Max)
            }
            FoldElement::I8 | FoldElement::I16 | FoldElement::I32 | FoldElement::I64 => {
                reduce != Reduce::None
            }
        }
    }

    /// Bytes of an element.
    pub(crate) fn bytes(self) -> usize {
        match self {
            FoldElement::I8 => 1,
            FoldElement::F16 | FoldElement::BF16 | FoldElement::I16 => 2,
            FoldElement::F32 | FoldElement::I32 => 4,
            FoldElement::I64 => 8,
        }
    }

    /// For lists of pipelines.
    #[cfg(feature = "gpu")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            FoldElement::F32 => "f32",
            FoldElement::F16 => "f16",
            FoldElement::BF16 => "bf16",
            FoldElement::I8 => "i8",
            FoldElement::I16 => "i16",
            FoldElement::I32 => "i32",
            FoldElement::I64 => "i64",
        }
    }
}
