//! Headers of `.npy` files.

use anyhow::{Context, Result};
use wgpu_gather::DType;
use wgpu_gather_files::npy_name;

/// What precedes the dict of version 1.0, and the length of the dict.
const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

/// NumPy aligns the data to as many bytes, so that it can be mapped.
const ALIGNMENT: usize = 64;

/// Everything that precedes the data of a file, with the bytes that NumPy writes.
pub(crate) fn header(dtype: DType, shape: &[usize]) -> Result<Vec<u8>> {
    let name = npy_name(dtype).with_context(|| format!(".npy has no element type {dtype}"))?;
    let dims: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let dims = dims.join(", ");
    let dict = format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({dims}{comma}), }}");
    let start = MAGIC.len() + size_of::<u16>();
    let length = (start + dict.len() + 1).next_multiple_of(ALIGNMENT) - start;
    let too_long = || format!(".npy has no room for a shape of {} dims", shape.len());
    let length_bytes = u16::try_from(length).with_context(too_long)?.to_le_bytes();
    let line = format!("{dict:<width$}\n", width = length - 1);
    Ok([MAGIC, &length_bytes, line.as_bytes()].concat())
}
