//! llama.cpp's `.gguf`: a header with metadata, then the data of all tensors, aligned.
//!
//! Only the header is looked through; the tensors stay in the mapped file. The header is read here
//! and not by a crate: those there are copy all metadata, which holds whole vocabularies, set memory
//! aside as the file announces it, or know the types of old versions only.

mod header;
#[cfg(test)]
mod tests;
mod types;

use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use wgpu_gather::Layout;

use self::header::{Header, Info};
use self::types::Type;
use super::source::no_such;
use super::{Array, Storage, Stored, mmap};

/// The tensor `name` of the file at `path`, mapped.
pub(super) fn read(path: &Path, name: Option<&str>) -> Result<Array> {
    let map = mmap::map(path)?;
    let (data, stored, layout) = find(&map, name)?;
    Ok(Array {
        data,
        stored,
        layout,
        storage: Storage::Mapped(map),
    })
}

/// Where the tensor `name` lies in `file`, and what it is.
fn find(file: &[u8], name: Option<&str>) -> Result<(Range<usize>, Stored, Layout)> {
    let header = Header::read(file)?;
    check_extents(&header, file.len())?;
    let no_such = || {
        let there: Vec<String> = header.tensors.iter().map(|t| t.name.to_owned()).collect();
        anyhow!(no_such(name, "tensor", ".gguf", &there))
    };
    let mut called = header.tensors.iter().filter(|t| name == Some(t.name));
    let info = called.next().ok_or_else(no_such)?;
    let tensor = || format!("tensor {}", info.name);
    ensure!(
        called.next().is_none(),
        "damaged: several tensors are named \"{}\"",
        info.name
    );
    let kind = kind(info).with_context(tensor)?;
    let stored = stored(kind).with_context(tensor)?;
    let data = extent(&header, info, kind).with_context(tensor)?;
    Ok((data, stored, Layout::contiguous(&shape(info)?)))
}

/// Looks whether all tensors lie within a file of so many bytes, as far as their types are known.
fn check_extents(header: &Header<'_>, file_bytes: usize) -> Result<()> {
    for info in &header.tensors {
        let Some(kind) = types::of_id(info.kind) else {
            continue;
        };
        let tensor = || format!("tensor {}", info.name);
        let data = extent(header, info, kind).with_context(tensor)?;
        ensure!(
            data.end <= file_bytes,
            "truncated: tensor {} ends at byte {}, the file has {file_bytes}",
            info.name,
            data.end
        );
    }
    Ok(())
}

fn kind(info: &Info<'_>) -> Result<&'static Type> {
    types::of_id(info.kind).with_context(|| {
        format!(
            "element type {} is unknown (allowed: {})",
            info.kind,
            types::names()
        )
    })
}

/// What a tensor of this type is gathered as.
fn stored(kind: &Type) -> Result<Stored> {
    kind.stored.with_context(|| {
        format!(
            "element type {} cannot be gathered (allowed: {})",
            kind.name,
            types::names()
        )
    })
}

/// The shape, the first dim first.
fn shape(info: &Info<'_>) -> Result<Vec<usize>> {
    let dim = |&dim: &u64| usize::try_from(dim).ok();
    let shape: Option<Vec<usize>> = info.dims.iter().rev().map(dim).collect();
    shape.with_context(|| format!("dims {:?} cannot be addressed", info.dims))
}

/// The bytes of a tensor in the file.
fn extent(header: &Header<'_>, info: &Info<'_>, kind: &Type) -> Result<Range<usize>> {
    let shape = shape(info)?;
    let row = shape.last().copied().unwrap_or(1);
    ensure!(
        row.is_multiple_of(kind.block),
        "shape {shape:?}: a row is no whole number of {} blocks, of {} elements each",
        kind.name,
        kind.block
    );
    let (offset, alignment) = (info.offset, header.alignment);
    ensure!(
        offset.is_multiple_of(alignment),
        "its data starts at {offset} (allowed: multiples of the alignment, {alignment})"
    );
    // Even where one of them is 0, the other dims can be addressed.
    let dims: Vec<usize> = shape.iter().map(|&dim| dim.max(1)).collect();
    let most = Layout::checked_elements(&dims).and_then(|n| n.checked_mul(kind.block_bytes));
    let elements = Layout::checked_elements(&shape).filter(|_| most.is_some());
    let range = elements.and_then(|elements| {
        let start = usize::try_from(header.start.checked_add(offset)?).ok()?;
        match elements / kind.block * kind.block_bytes {
            // A file need not be padded for what has no bytes.
            0 => Some(0..0),
            bytes => Some(start..start.checked_add(bytes)?),
        }
    });
    range.with_context(|| {
        format!(
            "shape {shape:?} of {}, from byte {offset} of the data on, is more than can be addressed",
            kind.name
        )
    })
}
