//! Hugging Face's `.safetensors`: the length of a JSON header, the header, and all tensors.
//!
//! Only the header is parsed; the tensors stay in the mapped file.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use wgpu_gather::{DType, Layout};

use super::source::no_such;
use super::{Array, Storage, Stored, mmap};

/// Bytes of the length before the header.
const LENGTH_BYTES: usize = 8;

/// The longest header that the `safetensors` crate reads.
const MAX_HEADER_BYTES: usize = 100_000_000;

/// The tensor `name` of the file at `path`, mapped.
pub(super) fn read(path: &Path, name: Option<&str>) -> Result<Array> {
    let map = mmap::map(path)?;
    let (metadata, start) = metadata(&map)?;
    let there = || metadata.offset_keys();
    let Some(name) = name else {
        return Err(anyhow!(no_such(None, "tensor", ".safetensors", &there())));
    };
    let info = metadata
        .info(name)
        .ok_or_else(|| anyhow!(no_such(Some(name), "tensor", ".safetensors", &there())))?;
    let dtype = dtype(info.dtype).with_context(|| format!("tensor {name}"))?;
    let (first, end) = info.data_offsets;
    Ok(Array {
        data: start + first..start + end,
        stored: Stored::Typed(dtype),
        layout: Layout::contiguous(&info.shape),
        storage: Storage::Mapped(map),
    })
}

/// The header, whose tensors lie within the file, and where their data starts.
fn metadata(file: &[u8]) -> Result<(Metadata, usize)> {
    let (length, rest) = file
        .split_first_chunk::<LENGTH_BYTES>()
        .with_context(|| format!("truncated: {} bytes, less than a header", file.len()))?;
    let length = u64::from_le_bytes(*length);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    ensure!(
        length <= MAX_HEADER_BYTES,
        "not a .safetensors file: its header would have {length} bytes (allowed: at most \
         {MAX_HEADER_BYTES})"
    );
    let header = rest.get(..length).with_context(|| {
        let there = rest.len();
        format!("truncated: the header has {length} bytes, the file has {there} of them")
    })?;
    let metadata: Metadata =
        serde_json::from_slice(header).context("not a .safetensors file: the header")?;
    let (needed, there) = (metadata.data_len(), rest.len() - length);
    ensure!(
        needed <= there,
        "truncated: the tensors need {needed} bytes, the file has {there}"
    );
    ensure!(
        needed == there,
        "damaged: {there} bytes follow the header, the tensors need {needed}"
    );
    Ok((metadata, LENGTH_BYTES + length))
}

/// The element type that the format calls `stored`.
fn dtype(stored: Dtype) -> Result<DType> {
    Ok(match stored {
        Dtype::BOOL => DType::Bool,
        Dtype::U8 => DType::U8,
        Dtype::I8 => DType::I8,
        Dtype::U16 => DType::U16,
        Dtype::I16 => DType::I16,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::U32 => DType::U32,
        Dtype::I32 => DType::I32,
        Dtype::F32 => DType::F32,
        Dtype::U64 => DType::U64,
        Dtype::I64 => DType::I64,
        Dtype::F64 => DType::F64,
        Dtype::C64 => DType::C64,
        other => bail!(
            "element type {other} cannot be gathered (allowed: BOOL, U8, I8, U16, I16, F16, BF16, \
             U32, I32, F32, U64, I64, F64, C64)"
        ),
    })
}

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
