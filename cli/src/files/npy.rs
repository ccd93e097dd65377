//! NumPy's `.npy`: a magic number, a Python dict literal, and the elements.
//!
//! The dict is read here and not by `npyz`, which multiplies the dims of a shape unchecked.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use npyz::{Endianness, TypeChar, TypeStr, WriteOptions, WriterBuilder};
use py_literal::Value;
use wgpu_gather::{DType, Layout};

use super::{Array, Storage, Stored, mmap};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that NumPy itself reads without being told to.
const MAX_HEADER_BYTES: usize = 10_000;

/// The time to parse the literal doubles with each level of brackets, and triples with each of
/// braces. That of a plain array has two levels, that of one with nested structured elements five.
const MAX_NESTING: usize = 5;

/// The array in the file at `path`, mapped.
pub(super) fn read(path: &Path) -> Result<Array> {
    array(Storage::Mapped(mmap::map(path)?))
}

/// The array that `storage` holds from its first byte on. As in NumPy, more may follow it.
pub(super) fn array(storage: Storage) -> Result<Array> {
    let file: &[u8] = match &storage {
        Storage::Mapped(map) => map,
        Storage::Owned(bytes) => bytes,
    };
    let (literal, start) = literal(file)?;
    let (stored, layout) = interpret(literal)?;
    let needed = stored.data_bytes(layout.shape()).with_context(|| {
        format!(
            "shape {:?} of {stored} needs more bytes than can be addressed",
            layout.shape()
        )
    })?;
    let there = file.len() - start;
    ensure!(
        needed <= there,
        "truncated: shape {:?} of {stored} needs {needed} bytes of data, the file has {there}",
        layout.shape()
    );
    Ok(Array {
        storage,
        data: start..start + needed,
        stored,
        layout,
    })
}

/// The dict's text, and where the data starts.
fn literal(file: &[u8]) -> Result<(&str, usize)> {
    let Some(rest) = file.strip_prefix(MAGIC) else {
        bail!("not a .npy file: it does not start with \\x93NUMPY");
    };
    let truncated = || format!("truncated: {} bytes end within the .npy header", file.len());
    let (version, rest) = rest.split_at_checked(2).with_context(truncated)?;
    let length_bytes = match version {
        [1, 0] => 2,
        [2 | 3, 0] => 4,
        _ => bail!(
            "unknown .npy version {}.{} (allowed: 1.0, 2.0, 3.0)",
            version[0],
            version[1]
        ),
    };
    let (length, rest) = rest
        .split_at_checked(length_bytes)
        .with_context(truncated)?;
    let length = length.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
    ensure!(
        length <= MAX_HEADER_BYTES,
        "a .npy header of {length} bytes (allowed: at most {MAX_HEADER_BYTES})"
    );
    let text = rest.get(..length).with_context(truncated)?;
    let text = std::str::from_utf8(text).context("the .npy header is not text")?;
    Ok((text, MAGIC.len() + 2 + length_bytes + length))
}

/// Element type and layout from the dict.
fn interpret(literal: &str) -> Result<(Stored, Layout)> {
    let not_a_dict = "the .npy header is not a dict with descr, fortran_order and shape";
    // Without escapes, a string ends at the next quote of its kind.
    let one_dict = literal.matches('{').count() == 1 && !literal.contains('\\');
    let plain = one_dict && nesting(literal) <= MAX_NESTING;
    ensure!(plain, not_a_dict);
    let literal: Value = literal.trim_end().parse().ok().context(not_a_dict)?;
    let entry = |key: &str| {
        let entries = literal.as_dict()?;
        let found = entries
            .iter()
            .find(|(k, _)| k.as_string().is_some_and(|k| k == key));
        found.map(|(_, value)| value)
    };
    let descr = entry("descr").context(not_a_dict)?;
    let fortran_order = entry("fortran_order").and_then(Value::as_boolean);
    let fortran_order = fortran_order.context(not_a_dict)?;
    let shape = entry("shape")
        .and_then(Value::as_tuple)
        .context(not_a_dict)?;
    let dim = |value: &Value| usize::try_from(value.as_integer()?).ok();
    let shape: Option<Vec<usize>> = shape.iter().map(dim).collect();
    let shape = shape.context("the shape in the .npy header is not a tuple of sizes")?;
    let Value::String(type_str) = descr else {
        bail!("structured elements cannot be gathered; gather a field at a time");
    };
    Ok((stored(type_str)?, layout(&shape, fortran_order)?))
}

/// How deep brackets are nested outside of strings.
fn nesting(literal: &str) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    let mut quote = None;
    for c in literal.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The element type that NumPy calls `text`.
fn stored(text: &str) -> Result<Stored> {
    let unsupported = || {
        format!(
            "element type {text} cannot be gathered (allowed: {}, and raw bytes with --dtype)",
            DType::ALL.map(DType::name).join(", ")
        )
    };
    // npyz takes for granted that two bytes are two characters.
    ensure!(text.is_ascii(), unsupported());
    let type_str: TypeStr = text.parse().ok().with_context(unsupported)?;
    ensure!(
        type_str.endianness() != Endianness::Big || type_str.size_field() == 1,
        "big-endian elements ({text}) are not read; store them little-endian (in NumPy: \
         array.astype(array.dtype.newbyteorder(\"<\")))"
    );
    let dtype = match (type_str.type_char(), type_str.size_field()) {
        (TypeChar::Bool, 1) => DType::Bool,
        (TypeChar::Uint, 1) => DType::U8,
        (TypeChar::Uint, 2) => DType::U16,
        (TypeChar::Uint, 4) => DType::U32,
        (TypeChar::Uint, 8) => DType::U64,
        (TypeChar::Int, 1) => DType::I8,
        (TypeChar::Int, 2) => DType::I16,
        (TypeChar::Int, 4) => DType::I32,
        (TypeChar::Int, 8) => DType::I64,
        (TypeChar::Float, 2) => DType::F16,
        (TypeChar::Float, 4) => DType::F32,
        (TypeChar::Float, 8) => DType::F64,
        (TypeChar::Complex, 8) => DType::C64,
        (TypeChar::Complex, 16) => DType::C128,
        (TypeChar::RawData, 1..) => {
            let bytes = usize::try_from(type_str.size_field()).ok();
            return bytes.map(Stored::Raw).with_context(unsupported);
        }
        _ => bail!(unsupported()),
    };
    Ok(Stored::Typed(dtype))
}

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

/// Elements from the last dim to the first, or in Fortran's order from the first to the last.
fn layout(shape: &[usize], fortran_order: bool) -> Result<Layout> {
    if !fortran_order {
        return Ok(Layout::contiguous(shape));
    }
    let mut strides = Vec::with_capacity(shape.len());
    let mut next = 1isize;
    for &dim in shape {
        strides.push(next);
        next = next.saturating_mul(isize::try_from(dim).unwrap_or(isize::MAX));
    }
    Ok(Layout::strided(shape, &strides, 0)?)
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
