//! Arrays of files as the tensors of a gather.

use std::borrow::Cow;

use anyhow::{Result, bail, ensure};
use wgpu_gather::{DType, Error, Index, IndexType, Indices, Layout, Params, Role};

use crate::files::{Array, Stored};

/// How many narrow indices are widened at a time.
const WIDENED: usize = 8192;

/// The element type of params: the file's, or for raw bytes the declared one.
pub fn element_type(stored: Stored, declared: Option<DType>) -> Result<DType> {
    match (stored, declared) {
        (Stored::Typed(dtype), None) => Ok(dtype),
        (Stored::Blocks(format), _) => {
            bail!("quantised elements ({format}) cannot be read here (allowed: plain ones)")
        }
        (Stored::Raw(width), Some(dtype)) if width == dtype.bytes() => Ok(dtype),
        (Stored::Typed(dtype), Some(declared)) => bail!(
            "--dtype {declared} is for raw bytes, but the file says that the elements are {dtype}"
        ),
        (Stored::Raw(width), Some(declared)) => bail!(
            "--dtype {declared} is for {}-byte elements, but the raw elements ({stored}) have \
             {width} bytes{}",
            declared.bytes(),
            of_width(width)
        ),
        (Stored::Raw(width), None) => bail!(
            "raw elements ({stored}) need --dtype to say what they are{}",
            of_width(width)
        ),
    }
}

/// The elements of an array beside params, which must have the type that those have (in these words); raw
/// bytes are taken for it.
pub(crate) fn elements_of_type<'a>(
    array: &'a Array,
    (has, dtype): (&str, DType),
) -> Result<Params<'a>> {
    match array.stored() {
        Stored::Raw(width) => ensure!(
            width == dtype.bytes(),
            "raw elements of {width} bytes, but {has} {dtype}, of {}; they must be equal",
            dtype.bytes()
        ),
        stored => {
            let got = element_type(stored, None)?;
            ensure!(
                got == dtype,
                "elements of type {got}, but {has} {dtype}; they must be equal"
            );
        }
    }
    let layout = array.layout().clone();
    Ok(Params::new(array.bytes(), dtype.bytes(), layout)?)
}

/// The element types of `width` bytes, for the end of a message.
fn of_width(width: usize) -> String {
    let fitting = DType::ALL.into_iter().filter(|d| d.bytes() == width);
    let names: Vec<&str> = fitting.map(DType::name).collect();
    match names.is_empty() {
        true => format!(" (no element type has {width} bytes)"),
        false => format!(" (allowed: {})", names.join(", ")),
    }
}

/// The array as indices, with the type that the file has.
pub fn as_indices(array: &Array) -> Result<(DType, Indices<'_>)> {
    let bytes = array.bytes();
    let as_is = |index_type: IndexType| (index_type, Cow::Borrowed(bytes));
    let (index_type, bytes) = match array.stored() {
        Stored::Typed(DType::I8) => widened::<i8>(bytes)?,
        Stored::Typed(DType::U8) => widened::<u8>(bytes)?,
        Stored::Typed(DType::I16) => widened::<i16>(bytes)?,
        Stored::Typed(DType::U16) => widened::<u16>(bytes)?,
        Stored::Typed(DType::I32) => as_is(IndexType::I32),
        Stored::Typed(DType::U32) => as_is(IndexType::U32),
        Stored::Typed(DType::I64) => as_is(IndexType::I64),
        Stored::Typed(DType::U64) => as_is(IndexType::U64),
        other => bail!(
            "elements of type {other} cannot index (allowed: i8, u8, i16, u16, i32, u32, i64, u64)"
        ),
    };
    let Stored::Typed(dtype) = array.stored() else {
        bail!("raw elements cannot index");
    };
    let indices = Indices::new(bytes, index_type, array.layout().clone())?;
    Ok((dtype, indices))
}

fn widened<I: Index + bytemuck::AnyBitPattern>(
    bytes: &[u8],
) -> Result<(IndexType, Cow<'static, [u8]>)> {
    let count = bytes.len() / size_of::<I>();
    let mut wide = reserved(Role::Indices, count.saturating_mul(I::TYPE.bytes()))?;
    for some in bytes.chunks(WIDENED * size_of::<I>()) {
        let values: Vec<I> = bytemuck::allocation::pod_collect_to_vec(some);
        wide.extend_from_slice(&I::widened(&values));
    }
    Ok((I::TYPE, Cow::Owned(wide)))
}

/// Room for so many bytes of a tensor.
pub fn reserved(role: Role, bytes: usize) -> Result<Vec<u8>, Error> {
    let mut room = Vec::new();
    room.try_reserve_exact(bytes)
        .map_err(|_| Error::HostOutOfMemory { role, bytes })?;
    Ok(room)
}

/// Bytes of the output; its dims fit the address space even where one of them is zero, as a file
/// header has them all.
pub fn output_bytes(shape: &[usize], dtype: DType) -> Result<usize> {
    let dims: Vec<usize> = shape.iter().map(|&dim| dim.max(1)).collect();
    let most = Layout::checked_elements(&dims).and_then(|n| n.checked_mul(dtype.bytes()));
    let fits = most.is_some_and(|bytes| isize::try_from(bytes).is_ok());
    let elements = Layout::checked_elements(shape).filter(|_| fits);
    let elements = elements.ok_or_else(|| Error::SizeOverflow {
        role: Role::Output,
        shape: shape.to_vec(),
        element_bytes: dtype.bytes(),
    })?;
    Ok(elements * dtype.bytes())
}
