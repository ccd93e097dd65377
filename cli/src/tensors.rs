//! Element types of files and of options, and the sizes of outputs.

use anyhow::{Result, bail, ensure};
use wgpu_gather::{DType, Error, Layout, Params, Role};
use wgpu_gather_files::{Problem, Stored, StoredTensor};

/// The element type of params: the file's, or for raw bytes the declared one.
pub fn element_type(stored: Stored, declared: Option<DType>) -> Result<DType> {
    match (stored, declared) {
        (Stored::Typed(dtype), None) => Ok(dtype),
        (Stored::Blocks(format), _) => Err(Problem::Quantized(format).into()),
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

/// The elements of a tensor beside params, which must have the type that those have (in these words); raw
/// bytes are taken for it.
pub(crate) fn elements_of_type<'a>(
    tensor: &'a StoredTensor,
    (has, dtype): (&str, DType),
) -> Result<Params<'a>> {
    match tensor.stored() {
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
    tensor.params().map_err(|error| error.into_problem().into())
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
