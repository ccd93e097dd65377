//! NumPy's `.npy`: a magic number, a Python dict literal, and the elements.

use std::io::Read;

use wgpu_gather::{DType, Layout};

use crate::format::FileFormat;
use crate::info::{Placed, TensorInfo};
use crate::literal::{self, Kind, Literal};
use crate::names;
use crate::problem::Problem;
use crate::stored::Stored;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that NumPy itself reads without being told to.
const MAX_HEADER_BYTES: usize = 10_000;

/// Everything that precedes the data, at most.
pub(crate) const HEADER_BYTES: u64 = (MAGIC.len() + 2 + 4 + MAX_HEADER_BYTES) as u64;

/// Levels of brackets in the dict, at most. A plain array has one, one with nested structured elements four.
const MAX_NESTING: usize = 4;

/// What a header says, and where the data starts.
struct Header {
    info: TensorInfo,
    layout: Layout,
    start: usize,
}

/// The array that `file` holds from its first byte on. As in NumPy, more may follow it.
pub(crate) fn place(file: &[u8]) -> Result<Placed, Problem> {
    let Header {
        info,
        layout,
        start,
    } = header(file)?;
    let data_bytes = match info.stored() {
        Some(stored) => data_bytes(stored, info.shape(), file.len() - start)?,
        // The size of what cannot be gathered is not known.
        None => 0,
    };
    Ok(Placed {
        info,
        layout,
        data: start..start + data_bytes,
    })
}

/// The bytes of the array that `stream` begins with, its header included. What follows it is left
/// alone, and no more is taken than there is: a header may announce anything.
pub(crate) fn read(stream: impl Read) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let mut stream = stream.take(HEADER_BYTES);
    stream.read_to_end(&mut bytes)?;
    let Header { info, start, .. } = header(&bytes)?;
    if let Some(stored) = info.stored() {
        let data_bytes = stored.data_bytes(info.shape());
        let data_bytes =
            data_bytes.ok_or_else(|| Problem::too_large(info.shape(), &stored.to_string()))?;
        let all = start.saturating_add(data_bytes);
        stream.set_limit(all.saturating_sub(bytes.len()) as u64);
        stream.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Bytes of the elements, if there are as many.
fn data_bytes(stored: Stored, shape: &[usize], there: usize) -> Result<usize, Problem> {
    let needed = stored.data_bytes(shape);
    let needed = needed.ok_or_else(|| Problem::too_large(shape, &stored.to_string()))?;
    if needed > there {
        return Err(Problem::Truncated(format!(
            "shape {shape:?} of {stored} needs {needed} bytes of data, the file has {there}"
        )));
    }
    Ok(needed)
}

/// What the header says of the array that begins with `bytes`, of which as many as
/// [`HEADER_BYTES`] are enough.
pub(crate) fn info(bytes: &[u8]) -> Result<TensorInfo, Problem> {
    Ok(header(bytes)?.info)
}

fn header(file: &[u8]) -> Result<Header, Problem> {
    let (literal, start) = literal(file)?;
    let (info, layout) = interpret(literal)?;
    Ok(Header {
        info,
        layout,
        start,
    })
}

/// The dict's text, and where the data starts.
fn literal(file: &[u8]) -> Result<(&str, usize), Problem> {
    let Some(rest) = file.strip_prefix(MAGIC) else {
        return Err(Problem::WrongFormat {
            format: FileFormat::Npy,
            reason: "it does not start with \\x93NUMPY".to_owned(),
        });
    };
    let truncated = || {
        let there = file.len();
        Problem::Truncated(format!("{there} bytes end within the .npy header"))
    };
    let (version, rest) = rest.split_at_checked(2).ok_or_else(truncated)?;
    let length_bytes = match version {
        [1, 0] => 2,
        [2 | 3, 0] => 4,
        _ => {
            let got = format!("unknown .npy version {}.{}", version[0], version[1]);
            return Err(Problem::not_allowed(got, "1.0, 2.0, 3.0"));
        }
    };
    let (length, rest) = rest.split_at_checked(length_bytes).ok_or_else(truncated)?;
    let length = length.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
    if length > MAX_HEADER_BYTES {
        return Err(Problem::not_allowed(
            format!("a .npy header of {length} bytes"),
            format!("at most {MAX_HEADER_BYTES}"),
        ));
    }
    let text = rest.get(..length).ok_or_else(truncated)?;
    let text = std::str::from_utf8(text).map_err(Problem::HeaderNotText)?;
    Ok((text, MAGIC.len() + 2 + length_bytes + length))
}

/// Element type and layout from the dict.
fn interpret(literal: &str) -> Result<(TensorInfo, Layout), Problem> {
    let not_a_dict = || Problem::HeaderNotADict;
    let entries = literal::dict(literal, MAX_NESTING).ok_or_else(not_a_dict)?;
    let entry = |key: &str| {
        let found = entries.iter().find(|(k, _)| *k == key);
        found.map(|(_, value)| value).ok_or_else(not_a_dict)
    };
    let descr = entry("descr")?;
    let Kind::Bool(fortran_order) = entry("fortran_order")?.kind else {
        return Err(not_a_dict());
    };
    let Kind::Tuple(dims) = &entry("shape")?.kind else {
        return Err(not_a_dict());
    };
    let dim = |dim: &Literal<'_>| match dim.kind {
        Kind::Number(size) => size,
        _ => None,
    };
    let shape: Option<Vec<usize>> = dims.iter().map(dim).collect();
    let shape = shape.ok_or(Problem::HeaderShape)?;
    let type_name = match descr.kind {
        Kind::String(name) => name,
        _ => descr.text,
    };
    let layout = layout(&shape, fortran_order)?;
    let info = TensorInfo::new("", type_name, stored(type_name).ok(), shape);
    Ok((info, layout))
}

/// The element type that NumPy calls `type_name`.
pub(crate) fn stored(type_name: &str) -> Result<Stored, Problem> {
    // The fields of structured elements are in a list, subarrays in a tuple.
    if type_name.starts_with(['[', '(']) {
        return Err(Problem::Structured);
    }
    let unsupported = || Problem::ElementType {
        got: type_name.to_owned(),
        allowed: format!(
            "{}, and raw bytes such as V2",
            DType::ALL.map(DType::name).join(", ")
        ),
    };
    let (order, name) = type_name.split_at_checked(1).ok_or_else(unsupported)?;
    let (kind, size) = name.split_at_checked(1).ok_or_else(unsupported)?;
    let is_number = size.bytes().all(|b| b.is_ascii_digit());
    let size: usize = match size.parse() {
        Ok(size) if is_number => size,
        _ => return Err(unsupported()),
    };
    let stored = match kind {
        "V" if size > 0 => Stored::Raw(size),
        _ => Stored::Typed(names::of_npy(&format!("{kind}{size}")).ok_or_else(unsupported)?),
    };
    // The order of a single byte, and of raw bytes, may be left open.
    match order {
        "<" => Ok(stored),
        "|" if size == 1 || kind == "V" => Ok(stored),
        ">" if size == 1 => Ok(stored),
        ">" => Err(Problem::BigEndianElements(type_name.to_owned())),
        _ => Err(unsupported()),
    }
}

/// Elements from the last dim to the first, or in Fortran's order from the first to the last.
fn layout(shape: &[usize], fortran_order: bool) -> Result<Layout, Problem> {
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
