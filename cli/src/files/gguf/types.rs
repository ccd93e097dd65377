//! The element types of GGUF, as ggml numbers them.

use wgpu_gather::DType;

/// A type of elements: `block_bytes` for each `block` elements of a row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Type {
    /// Its name in ggml.
    pub(super) name: &'static str,
    /// Consecutive elements of the last dim that are stored together.
    pub(super) block: usize,
    /// Bytes of a block.
    pub(super) block_bytes: usize,
    /// Our element type, for those that are not quantised.
    pub(super) plain: Option<DType>,
    id: u32,
}

/// The type with the number `id`.
pub(super) fn of_id(id: u32) -> Option<&'static Type> {
    TYPES.iter().find(|t| t.id == id)
}

/// The names of all types for which `wanted` holds.
pub(super) fn names(wanted: impl Fn(&Type) -> bool) -> String {
    let names = TYPES.iter().filter(|t| wanted(t)).map(|t| t.name);
    names.collect::<Vec<_>>().join(", ")
}

const fn plain(id: u32, name: &'static str, dtype: DType) -> Type {
    Type {
        name,
        block: 1,
        block_bytes: dtype.bytes(),
        plain: Some(dtype),
        id,
    }
}

const fn blocks(id: u32, name: &'static str, block: usize, block_bytes: usize) -> Type {
    Type {
        name,
        block,
        block_bytes,
        plain: None,
        id,
    }
}

/// What was given up (4, 5, 31 to 33 and 36 to 38) is left out.
const TYPES: &[Type] = &[
    plain(0, "F32", DType::F32),
    plain(1, "F16", DType::F16),
    blocks(2, "Q4_0", 32, 18),
    blocks(3, "Q4_1", 32, 20),
    blocks(6, "Q5_0", 32, 22),
    blocks(7, "Q5_1", 32, 24),
    blocks(8, "Q8_0", 32, 34),
    blocks(9, "Q8_1", 32, 36),
    blocks(10, "Q2_K", 256, 84),
    blocks(11, "Q3_K", 256, 110),
    blocks(12, "Q4_K", 256, 144),
    blocks(13, "Q5_K", 256, 176),
    blocks(14, "Q6_K", 256, 210),
    blocks(15, "Q8_K", 256, 292),
    blocks(16, "IQ2_XXS", 256, 66),
    blocks(17, "IQ2_XS", 256, 74),
    blocks(18, "IQ3_XXS", 256, 98),
    blocks(19, "IQ1_S", 256, 50),
    blocks(20, "IQ4_NL", 32, 18),
    blocks(21, "IQ3_S", 256, 110),
    blocks(22, "IQ2_S", 256, 82),
    blocks(23, "IQ4_XS", 256, 136),
    plain(24, "I8", DType::I8),
    plain(25, "I16", DType::I16),
    plain(26, "I32", DType::I32),
    plain(27, "I64", DType::I64),
    plain(28, "F64", DType::F64),
    blocks(29, "IQ1_M", 256, 56),
    plain(30, "BF16", DType::BF16),
    blocks(34, "TQ1_0", 256, 54),
    blocks(35, "TQ2_0", 256, 66),
    blocks(39, "MXFP4", 32, 17),
    blocks(40, "NVFP4", 64, 36),
    blocks(41, "Q1_0", 128, 18),
];
