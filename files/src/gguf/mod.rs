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

use wgpu_gather::Layout;

use self::header::{Header, Info, in_tensor};
use self::types::Type;
use crate::info::{Placed, TensorInfo};
use crate::problem::Problem;

pub(crate) use self::types::stored;

/// The tensors of `file`, in the order of its header. Those of known types lie within the file.
pub(crate) fn place(file: &[u8]) -> Result<Vec<Placed>, Problem> {
    let header = Header::read(file)?;
    let tensors = header.tensors.iter().map(|info| {
        let placed = tensor(&header, info).map_err(|problem| in_tensor(info.name, problem))?;
        let (end, there) = (placed.data.end, file.len());
        if end > there {
            return Err(Problem::Truncated(format!(
                "tensor {} ends at byte {end}, the file has {there}",
                info.name
            )));
        }
        Ok(placed)
    });
    tensors.collect()
}

fn tensor(header: &Header<'_>, info: &Info<'_>) -> Result<Placed, Problem> {
    let shape = shape(info)?;
    let Some(kind) = types::of_id(info.kind) else {
        let number = info.kind.to_string();
        return Ok(Placed {
            layout: Layout::contiguous(&shape),
            info: TensorInfo::new(info.name, &number, None, shape),
            data: 0..0,
        });
    };
    let data = extent(header, info, kind, &shape)?;
    Ok(Placed {
        layout: Layout::contiguous(&shape),
        info: TensorInfo::new(info.name, kind.name, kind.stored, shape),
        data,
    })
}

/// The shape, the first dim first.
fn shape(info: &Info<'_>) -> Result<Vec<usize>, Problem> {
    let dim = |&dim: &u64| usize::try_from(dim).ok();
    let shape: Option<Vec<usize>> = info.dims.iter().rev().map(dim).collect();
    shape.ok_or_else(|| Problem::TooLarge {
        shape: info.dims.iter().rev().copied().collect(),
        elements: info.kind.to_string(),
    })
}

/// The bytes of a tensor in the file.
fn extent(
    header: &Header<'_>,
    info: &Info<'_>,
    kind: &Type,
    shape: &[usize],
) -> Result<Range<usize>, Problem> {
    let row = shape.last().copied().unwrap_or(1);
    if !row.is_multiple_of(kind.block) {
        return Err(Problem::not_allowed(
            format!("shape {shape:?} of {}", kind.name),
            format!("rows of whole blocks, of {} elements each", kind.block),
        ));
    }
    let (offset, alignment) = (info.offset, header.alignment);
    if !offset.is_multiple_of(alignment) {
        return Err(Problem::not_allowed(
            format!("its data starts at {offset}"),
            format!("multiples of the alignment, {alignment}"),
        ));
    }
    // Even where one of them is 0, the other dims can be addressed.
    let dims: Vec<usize> = shape.iter().map(|&dim| dim.max(1)).collect();
    let most = Layout::checked_elements(&dims).and_then(|n| n.checked_mul(kind.block_bytes));
    let elements = Layout::checked_elements(shape).filter(|_| most.is_some());
    let range = elements.and_then(|elements| {
        let start = usize::try_from(header.start.checked_add(offset)?).ok()?;
        match elements / kind.block * kind.block_bytes {
            // A file need not be padded for what has no bytes.
            0 => Some(0..0),
            bytes => Some(start..start.checked_add(bytes)?),
        }
    });
    range.ok_or_else(|| Problem::too_large(shape, kind.name))
}
