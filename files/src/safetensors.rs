//! Hugging Face's `.safetensors`: the length of a JSON header, the header, and all tensors.
//!
//! Only the header is parsed; the tensors stay in the mapped file.

use safetensors::tensor::Metadata;
use wgpu_gather::Layout;

use crate::format::FileFormat;
use crate::info::{Placed, TensorInfo};
use crate::names;
use crate::problem::Problem;
use crate::stored::Stored;

/// Bytes of the length before the header.
const LENGTH_BYTES: usize = 8;

/// The longest header that the `safetensors` crate reads.
const MAX_HEADER_BYTES: usize = 100_000_000;

/// The tensors of `file`, in the order of their data.
pub(crate) fn place(file: &[u8]) -> Result<Vec<Placed>, Problem> {
    let (metadata, start) = metadata(file)?;
    let names = metadata.offset_keys();
    let tensors = names.iter().filter_map(|name| {
        let tensor = metadata.info(name)?;
        let type_name = tensor.dtype.to_string();
        let stored = stored(&type_name).ok();
        let (first, end) = tensor.data_offsets;
        Some(Placed {
            info: TensorInfo::new(name, &type_name, stored, tensor.shape.clone()),
            layout: Layout::contiguous(&tensor.shape),
            data: start + first..start + end,
        })
    });
    Ok(tensors.collect())
}

/// The header, whose tensors lie within the file, and where their data starts.
fn metadata(file: &[u8]) -> Result<(Metadata, usize), Problem> {
    let not_one = |reason| Problem::WrongFormat {
        format: FileFormat::Safetensors,
        reason,
    };
    let (length, rest) = file
        .split_first_chunk::<LENGTH_BYTES>()
        .ok_or_else(|| Problem::Truncated(format!("{} bytes, less than a header", file.len())))?;
    let length = u64::from_le_bytes(*length);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if length > MAX_HEADER_BYTES {
        return Err(not_one(format!(
            "its header would have {length} bytes (allowed: at most {MAX_HEADER_BYTES})"
        )));
    }
    let header = rest.get(..length).ok_or_else(|| {
        let there = rest.len();
        Problem::Truncated(format!(
            "the header has {length} bytes, the file has {there} of them"
        ))
    })?;
    let metadata: Metadata =
        serde_json::from_slice(header).map_err(|error| not_one(format!("the header: {error}")))?;
    let (needed, there) = (metadata.data_len(), rest.len() - length);
    if needed > there {
        return Err(Problem::Truncated(format!(
            "the tensors need {needed} bytes, the file has {there}"
        )));
    }
    if needed < there {
        return Err(Problem::Damaged(format!(
            "{there} bytes follow the header, the tensors need {needed}"
        )));
    }
    Ok((metadata, LENGTH_BYTES + length))
}

/// The element type that the format calls `type_name`.
pub(crate) fn stored(type_name: &str) -> Result<Stored, Problem> {
    let mut types = names::of_safetensors();
    match types.find(|(name, _)| name == type_name) {
        Some((_, dtype)) => Ok(Stored::Typed(dtype)),
        None => Err(Problem::ElementType {
            got: type_name.to_owned(),
            allowed: names::of_safetensors()
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}
