//! Headers of `.safetensors` files with one tensor.

use anyhow::{Result, bail};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use wgpu_gather::DType;

/// The data begins at a multiple of so many bytes, as many as the length before the header has.
const LENGTH_BYTES: usize = 8;

/// How the format calls `dtype`.
fn stored(dtype: DType) -> Result<Dtype> {
    Ok(match dtype {
        DType::Bool => Dtype::BOOL,
        DType::U8 => Dtype::U8,
        DType::I8 => Dtype::I8,
        DType::U16 => Dtype::U16,
        DType::I16 => Dtype::I16,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::U32 => Dtype::U32,
        DType::I32 => Dtype::I32,
        DType::F32 => Dtype::F32,
        DType::U64 => Dtype::U64,
        DType::I64 => Dtype::I64,
        DType::F64 => Dtype::F64,
        DType::C64 => Dtype::C64,
        other => bail!(".safetensors has no element type {other}; write a .npy file"),
    })
}

/// Everything that precedes the data of a file with one tensor.
pub(super) fn header(name: &str, dtype: DType, shape: &[usize], bytes: usize) -> Result<Vec<u8>> {
    let info = TensorInfo {
        dtype: stored(dtype)?,
        shape: shape.to_vec(),
        data_offsets: (0, bytes),
    };
    let metadata = Metadata::new(None, vec![(name.to_owned(), info)])?;
    let mut json = serde_json::to_vec(&metadata)?;
    json.resize(json.len().next_multiple_of(LENGTH_BYTES), b' ');
    let length = json.len() as u64;
    Ok([length.to_le_bytes().to_vec(), json].concat())
}
