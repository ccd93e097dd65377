//! Headers of `.safetensors` files with one tensor.

use anyhow::{Context, Result};
use safetensors::tensor::{Metadata, TensorInfo};
use wgpu_gather::DType;
use wgpu_gather_files::safetensors_name;

/// The data begins at a multiple of so many bytes, as many as the length before the header has.
const LENGTH_BYTES: usize = 8;

/// Everything that precedes the data of a file with one tensor.
pub(super) fn header(name: &str, dtype: DType, shape: &[usize], bytes: usize) -> Result<Vec<u8>> {
    let stored = safetensors_name(dtype)
        .with_context(|| format!(".safetensors has no element type {dtype}; write a .npy file"))?;
    let info = TensorInfo {
        dtype: stored,
        shape: shape.to_vec(),
        data_offsets: (0, bytes),
    };
    let metadata = Metadata::new(None, vec![(name.to_owned(), info)])?;
    let mut json = serde_json::to_vec(&metadata)?;
    json.resize(json.len().next_multiple_of(LENGTH_BYTES), b' ');
    let length = json.len() as u64;
    Ok([length.to_le_bytes().to_vec(), json].concat())
}
