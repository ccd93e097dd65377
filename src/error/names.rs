//! What errors name: the operator, the part of a tensor, a bad index.

use std::fmt;

/// Gives an enumeration `ALL`, `name` and `Display`.
macro_rules! listed {
    ($type:ident, { $first:ident $first_name:literal, $($variant:ident $name:literal,)* }) => {
        impl $type {
            /// All variants, in the order of their declaration.
            pub const ALL: [$type; [$type::$first, $($type::$variant),*].len()] =
                [$type::$first, $($type::$variant),*];

            #[doc = concat!("The name: `", $first_name, "`", $(", `", $name, "`",)* ".")]
            pub const fn name(self) -> &'static str {
                match self {
                    $type::$first => $first_name,
                    $($type::$variant => $name,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(crate) use listed;

/// The operator without its attributes, as errors name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OpKind {
    /// [`Op::Gather`](crate::Op::Gather).
    Gather,
    /// [`Op::GatherNd`](crate::Op::GatherNd).
    GatherNd,
    /// [`Op::GatherElements`](crate::Op::GatherElements).
    GatherElements,
    /// The transpose of [`Op::Gather`](crate::Op::Gather).
    Scatter,
    /// The transpose of [`Op::GatherNd`](crate::Op::GatherNd).
    ScatterNd,
    /// The transpose of [`Op::GatherElements`](crate::Op::GatherElements).
    ScatterElements,
    /// A pooled lookup: [`Executor::embedding_bag`](crate::Executor::embedding_bag).
    EmbeddingBag,
}

listed!(OpKind, {
    Gather "gather",
    GatherNd "gather_nd",
    GatherElements "gather_elements",
    Scatter "scatter",
    ScatterNd "scatter_nd",
    ScatterElements "scatter_elements",
    EmbeddingBag "embedding_bag",
});

/// The part that a tensor plays in a gather.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// The tensor gathered from (ONNX: `data`, torch: `input`); of a scatter, the one scattered to.
    Params,
    /// The tensor of indices.
    Indices,
    /// The tensor written.
    Output,
    /// The codes of a quantized table, with what its format has among them.
    Codes,
    /// The scales of a quantized table.
    Scales,
    /// The zero points of a quantized table.
    ZeroPoints,
    /// The values that a scatter brings.
    Updates,
    /// Where the bags of a pooled lookup start.
    Offsets,
    /// The weights of a pooled lookup.
    Weights,
    /// A tensor that has no part yet: what it is used for is not known where it is made.
    Tensor,
}

listed!(Role, {
    Params "params",
    Indices "indices",
    Output "output",
    Codes "codes",
    Scales "scales",
    ZeroPoints "zero points",
    Updates "updates",
    Offsets "offsets",
    Weights "weights",
    Tensor "tensor",
});

/// An index that lies outside params, as reported under
/// [`OutOfBounds::Error`](crate::OutOfBounds::Error): the first bad one in row-major order of
/// indices, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadIndices {
    /// The operator that met it.
    pub op: OpKind,
    /// Coordinates of the bad value in the indices tensor.
    pub position: Vec<usize>,
    /// The index value as given.
    pub value: i128,
    /// The dimension of params that it was to select from.
    pub axis: usize,
    /// The extent of that dimension.
    pub extent: usize,
    /// Total number of bad indices; for `gather_nd`, of bad index tuples.
    pub count: u64,
}

impl fmt::Display for BadIndices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: indices", self.op)?;
        if !self.position.is_empty() {
            write!(f, "{:?}", self.position)?;
        }
        write!(
            f,
            " = {} is out of bounds for params axis {} of extent {}",
            self.value, self.axis, self.extent
        )?;
        if self.count > 1 {
            write!(f, " (the first of {} bad indices)", self.count)?;
        }
        Ok(())
    }
}
