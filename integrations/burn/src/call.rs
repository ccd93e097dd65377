//! One gather as it is handed to burn: checked against shapes and types, before burn queues it.

use burn::tensor::DType;
#[cfg(feature = "fusion")]
use burn::tensor::Shape;
use wgpu_gather::{IndexType, Layout, Op, Plan, Role, Rules};

use crate::error::{Error, Result};
use crate::gathers::Gathers;

/// What burn keeps with a gather that it has queued. Nothing in it refers to a tensor.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) gathers: Gathers,
    pub(crate) op: Op,
    pub(crate) rules: Rules,
    pub(crate) index_type: IndexType,
    #[cfg(feature = "autodiff")]
    pub(crate) params_shape: Vec<usize>,
    pub(crate) output_shape: Vec<usize>,
}

/// Shape and element type of a tensor that burn may not have made yet.
pub(crate) struct Described {
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: DType,
}

impl Call {
    /// Checks all that can be checked without strides, which are known only once a tensor is made.
    pub(crate) fn new(
        gathers: &Gathers,
        op: Op,
        rules: &Rules,
        params: &Described,
        indices: &Described,
    ) -> Result<Call> {
        let element_bytes = element_bytes(op, params.dtype)?;
        let index_type = index_type(op, indices.dtype)?;
        let [p, i] = [params, indices].map(|tensor| Layout::contiguous(&tensor.shape));
        let plan = Plan::new(op, rules, element_bytes, &p, index_type, &i)?;
        Ok(Call {
            gathers: gathers.clone(),
            op,
            rules: rules.clone(),
            index_type,
            #[cfg(feature = "autodiff")]
            params_shape: params.shape.clone(),
            output_shape: plan.output_shape().to_vec(),
        })
    }

    /// The output's shape, as burn has it.
    #[cfg(feature = "fusion")]
    pub(crate) fn output(&self) -> Shape {
        Shape::from(self.output_shape.clone())
    }

    /// The params' shape, which is that of their gradient.
    #[cfg(all(feature = "fusion", feature = "autodiff"))]
    pub(crate) fn params(&self) -> Shape {
        Shape::from(self.params_shape.clone())
    }
}

/// Bytes of an element. Quantised tensors have none: several values share a word.
fn element_bytes(op: Op, dtype: DType) -> Result<usize> {
    match dtype {
        DType::QFloat(_) => Err(Error::ElementType {
            op: op.kind(),
            role: Role::Params,
            got: dtype,
            allowed: "one that is not quantised",
        }),
        _ => Ok(dtype.size()),
    }
}

fn index_type(op: Op, dtype: DType) -> Result<IndexType> {
    match dtype {
        DType::I32 => Ok(IndexType::I32),
        DType::U32 => Ok(IndexType::U32),
        DType::I64 => Ok(IndexType::I64),
        DType::U64 => Ok(IndexType::U64),
        _ => Err(Error::ElementType {
            op: op.kind(),
            role: Role::Indices,
            got: dtype,
            allowed: "I32, U32, I64 or U64",
        }),
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::DType;
    use burn::tensor::quantization::QuantScheme;
    use wgpu_gather::{IndexType, Op};

    use super::{element_bytes, index_type};

    #[test]
    fn types_that_are_not_gathered_are_named() {
        let quantised = DType::QFloat(QuantScheme::default());
        let error = element_bytes(Op::gather(0), quantised)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("gather: params has elements of type QFloat"),
            "{error}"
        );
        assert!(
            error.ends_with("but needs one that is not quantised"),
            "{error}"
        );

        assert_eq!(index_type(Op::gather_nd(), DType::U64), Ok(IndexType::U64));
        assert_eq!(
            index_type(Op::gather_nd(), DType::I16)
                .unwrap_err()
                .to_string(),
            "gather_nd: indices has elements of type I16, but needs I32, U32, I64 or U64"
        );
    }
}
