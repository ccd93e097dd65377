//! Element types of burn: their widths, and what the library calls them.

use burn::tensor::DType as BurnDType;
use wgpu_gather::{DType, IndexType, OpKind, Role};

use crate::error::{Error, Result};

/// Shape and element type of a tensor that burn may not have made yet.
pub(crate) struct Described {
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: BurnDType,
}

/// Bytes of an element. Quantized tensors have none: several values share a word.
pub(crate) fn element_bytes(op: OpKind, dtype: BurnDType) -> Result<usize> {
    match dtype {
        BurnDType::QFloat(_) => Err(Error::ElementType {
            op,
            role: Role::Params,
            got: dtype,
            allowed: "one that is not quantized",
        }),
        _ => Ok(dtype.size()),
    }
}

pub(crate) fn index_type(op: OpKind, dtype: BurnDType) -> Result<IndexType> {
    match dtype {
        BurnDType::I32 => Ok(IndexType::I32),
        BurnDType::U32 => Ok(IndexType::U32),
        BurnDType::I64 => Ok(IndexType::I64),
        BurnDType::U64 => Ok(IndexType::U64),
        _ => Err(Error::ElementType {
            op,
            role: Role::Indices,
            got: dtype,
            allowed: "I32, U32, I64 or U64",
        }),
    }
}

/// The type of elements that a device computes with.
pub(crate) fn number(op: OpKind, role: Role, dtype: BurnDType) -> Result<DType> {
    match dtype {
        BurnDType::F32 => Ok(DType::F32),
        BurnDType::F16 => Ok(DType::F16),
        BurnDType::BF16 => Ok(DType::BF16),
        BurnDType::I64 => Ok(DType::I64),
        BurnDType::I32 => Ok(DType::I32),
        BurnDType::I16 => Ok(DType::I16),
        BurnDType::I8 => Ok(DType::I8),
        BurnDType::U64 => Ok(DType::U64),
        BurnDType::U32 => Ok(DType::U32),
        BurnDType::U16 => Ok(DType::U16),
        BurnDType::U8 => Ok(DType::U8),
        BurnDType::F64 | BurnDType::Flex32 | BurnDType::Bool(_) | BurnDType::QFloat(_) => {
            Err(Error::ElementType {
                op,
                role,
                got: dtype,
                allowed: "F32, F16, BF16 or an integer type",
            })
        }
    }
}

/// A type of that width, for elements that are only moved.
pub(crate) fn bits(op: OpKind, dtype: BurnDType) -> Result<DType> {
    Ok(match element_bytes(op, dtype)? {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    })
}

#[cfg(test)]
mod tests {
    use burn::tensor::DType as BurnDType;
    use burn::tensor::quantization::QuantScheme;
    use wgpu_gather::{DType, IndexType, OpKind, Role};

    use super::{bits, element_bytes, index_type, number};

    #[test]
    fn types_that_are_not_gathered_are_named() {
        let quantized = BurnDType::QFloat(QuantScheme::default());
        let error = element_bytes(OpKind::Gather, quantized)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("gather: params has elements of type QFloat"),
            "{error}"
        );
        assert!(
            error.ends_with("but needs one that is not quantized"),
            "{error}"
        );

        assert_eq!(
            index_type(OpKind::GatherNd, BurnDType::U64),
            Ok(IndexType::U64)
        );
        assert_eq!(
            index_type(OpKind::GatherNd, BurnDType::I16)
                .unwrap_err()
                .to_string(),
            "gather_nd: indices has elements of type I16, but needs I32, U32, I64 or U64"
        );
    }

    #[test]
    fn a_double_is_moved_but_not_added() {
        assert_eq!(bits(OpKind::Scatter, BurnDType::F64), Ok(DType::U64));
        assert_eq!(
            number(OpKind::Scatter, Role::Params, BurnDType::F64)
                .unwrap_err()
                .to_string(),
            "scatter: params has elements of type F64, but needs F32, F16, BF16 or an integer type"
        );
    }
}
