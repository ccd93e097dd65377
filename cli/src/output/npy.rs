//! Headers of `.npy` files.

use anyhow::{Result, bail};
use npyz::{TypeStr, WriteOptions, WriterBuilder};
use wgpu_gather::DType;

/// How NumPy calls elements of `dtype`; bf16, which it does not know, is raw bytes.
fn type_str(dtype: DType) -> Result<&'static str> {
    Ok(match dtype {
        DType::Bool => "|b1",
        DType::U8 => "|u1",
        DType::I8 => "|i1",
        DType::U16 => "<u2",
        DType::I16 => "<i2",
        DType::F16 => "<f2",
        DType::BF16 => "<V2",
        DType::U32 => "<u4",
        DType::I32 => "<i4",
        DType::F32 => "<f4",
        DType::U64 => "<u8",
        DType::I64 => "<i8",
        DType::F64 => "<f8",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
        other => bail!(".npy has no element type {other}"),
    })
}

/// Everything that precedes the data of a file.
pub(super) fn header(dtype: DType, shape: &[usize]) -> Result<Vec<u8>> {
    let type_str: TypeStr = type_str(dtype)?.parse()?;
    let dims: Vec<u64> = shape.iter().map(|&dim| dim as u64).collect();
    let options = WriteOptions::new_header_only()
        .dtype(npyz::DType::new_scalar(type_str))
        .shape(&dims)
        .writer(Vec::new());
    Ok(options.write_header_only()?)
}
