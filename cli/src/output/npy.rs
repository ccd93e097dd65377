//! Headers of `.npy` files.

use anyhow::{Context, Result};
use npyz::{TypeStr, WriteOptions, WriterBuilder};
use wgpu_gather::DType;
use wgpu_gather_files::npy_name;

/// Everything that precedes the data of a file.
pub(crate) fn header(dtype: DType, shape: &[usize]) -> Result<Vec<u8>> {
    let name = npy_name(dtype).with_context(|| format!(".npy has no element type {dtype}"))?;
    let type_str: TypeStr = name.parse()?;
    let dims: Vec<u64> = shape.iter().map(|&dim| dim as u64).collect();
    let options = WriteOptions::new_header_only()
        .dtype(npyz::DType::new_scalar(type_str))
        .shape(&dims)
        .writer(Vec::new());
    Ok(options.write_header_only()?)
}
