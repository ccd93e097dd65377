//! What precedes the data of a GGUF file: a head, metadata, and where each tensor lies.
//!
//! Nothing that the file says is trusted: a length is compared with what is left of the file before
//! it is skipped, and no memory is set aside for a count.

use std::str;

use crate::format::FileFormat;
use crate::problem::Problem;

type Result<T> = std::result::Result<T, Problem>;

const MAGIC: &[u8; 4] = b"GGUF";
const VERSIONS: [u32; 2] = [2, 3];

/// ggml's `GGML_MAX_DIMS`.
const MAX_DIMS: u32 = 4;

/// The most tensors of a file, as each takes many times the bytes of its header in memory. The largest
/// published files have a few thousand.
const MAX_TENSORS: u64 = 1 << 16;

/// The longest name of a tensor. GGUF allows 64 bytes.
const MAX_NAME_BYTES: usize = 1024;

/// Arrays within arrays that are looked through. Published files have none.
const MAX_NESTING: u32 = 8;

/// Where the data of tensors starts, if the metadata does not say otherwise.
const DEFAULT_ALIGNMENT: u64 = 32;
const ALIGNMENT: &[u8] = b"general.alignment";

/// Bytes of a key that a message shows, at most.
const SHOWN_BYTES: usize = 64;

/// Numbers of the types of metadata.
const UINT32: u32 = 4;
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// The tensors of a file.
#[derive(Debug)]
pub(super) struct Header<'a> {
    pub(super) tensors: Vec<Info<'a>>,
    /// Where their data starts in the file.
    pub(super) start: u64,
    pub(super) alignment: u64,
}

/// What the file says of a tensor.
#[derive(Debug)]
pub(super) struct Info<'a> {
    pub(super) name: &'a str,
    /// The extents, the last dim of the tensor first.
    pub(super) dims: Vec<u64>,
    /// The number of its type.
    pub(super) kind: u32,
    /// From the start of the data on.
    pub(super) offset: u64,
}

impl<'a> Header<'a> {
    /// Reads all of the header of `file`.
    pub(super) fn read(file: &'a [u8]) -> Result<Self> {
        let mut rest = Rest { file, at: 0 };
        if !file.starts_with(MAGIC) {
            return Err(Problem::WrongFormat {
                format: FileFormat::Gguf,
                reason: "it does not start with GGUF".to_owned(),
            });
        }
        rest.skip(MAGIC.len() as u64)?;
        let version = rest.u32()?;
        if VERSIONS.contains(&version.swap_bytes()) {
            let version = version.swap_bytes();
            return Err(Problem::BigEndianFile { version });
        }
        if !VERSIONS.contains(&version) {
            let got = format!("unknown GGUF version {version}");
            return Err(Problem::not_allowed(got, "2, 3"));
        }
        let (tensors, entries) = (rest.u64()?, rest.u64()?);
        if tensors > MAX_TENSORS {
            return Err(Problem::not_allowed(
                format!("{tensors} tensors"),
                format!("at most {MAX_TENSORS}"),
            ));
        }
        let mut alignment = DEFAULT_ALIGNMENT;
        for n in 0..entries {
            let key = rest.string();
            let key = key.map_err(|problem| problem.within(format!("metadata {n}")))?;
            let named = |problem: Problem| problem.within(format!("metadata {}", shown(key)));
            let value = rest.value(key).map_err(named)?;
            alignment = value.unwrap_or(alignment);
        }
        if !alignment.is_power_of_two() {
            let got = format!("general.alignment is {alignment}");
            return Err(Problem::not_allowed(got, "powers of two"));
        }
        let mut infos = Vec::new();
        for n in 0..tensors {
            let name = rest.name();
            let name = name.map_err(|problem| problem.within(format!("tensor {n}")))?;
            let info = rest.info(name);
            infos.push(info.map_err(|problem| in_tensor(name, problem))?);
        }
        Ok(Header {
            tensors: infos,
            start: (rest.at as u64).next_multiple_of(alignment),
            alignment,
        })
    }
}

/// A problem of the tensor `name`.
pub(super) fn in_tensor(name: &str, problem: Problem) -> Problem {
    problem.within(format!("tensor {name}"))
}

/// A key of the metadata, which may be no text, and is cut where it is long.
fn shown(key: &[u8]) -> String {
    let start = &key[..key.len().min(SHOWN_BYTES)];
    start.escape_ascii().to_string()
}

/// What of the file has not been read.
struct Rest<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn skip(&mut self, bytes: u64) -> Result<&'a [u8]> {
        let rest = &self.file[self.at..];
        let skipped = usize::try_from(bytes).ok().and_then(|n| rest.get(..n));
        let skipped = skipped.ok_or_else(|| {
            let (at, there) = (self.at, rest.len());
            Problem::Truncated(format!(
                "{bytes} bytes are to follow byte {at} of the header, the file has {there} of them"
            ))
        })?;
        self.at += skipped.len();
        Ok(skipped)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.skip(N as u64)?;
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        Ok(array)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn string(&mut self) -> Result<&'a [u8]> {
        let length = self.u64()?;
        self.skip(length)
    }

    /// Skips the value of an entry, but for the alignment.
    fn value(&mut self, key: &[u8]) -> Result<Option<u64>> {
        let kind = self.u32()?;
        if key == ALIGNMENT {
            if kind != UINT32 {
                let got = format!("a value of type {kind}");
                return Err(Problem::not_allowed(got, format!("{UINT32}, UINT32")));
            }
            return Ok(Some(u64::from(self.u32()?)));
        }
        self.values(kind, 1, 0)?;
        Ok(None)
    }

    /// Skips `count` values of type `kind`, which lie in so many arrays.
    fn values(&mut self, kind: u32, count: u64, nesting: u32) -> Result<()> {
        let bytes = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            UINT32 | 5 | 6 => 4,
            10..=12 => 8,
            STRING => {
                for _ in 0..count {
                    self.string()?;
                }
                return Ok(());
            }
            ARRAY => {
                if nesting == MAX_NESTING {
                    let got = format!("arrays {} deep", nesting + 1);
                    return Err(Problem::not_allowed(got, format!("at most {MAX_NESTING}")));
                }
                for _ in 0..count {
                    let (kind, count) = (self.u32()?, self.u64()?);
                    self.values(kind, count, nesting + 1)?;
                }
                return Ok(());
            }
            other => {
                let got = format!("values of the unknown type {other}");
                return Err(Problem::not_allowed(got, "0 to 12"));
            }
        };
        // What has more bytes than can be counted has more than the file.
        self.skip(count.saturating_mul(bytes))?;
        Ok(())
    }

    /// The name of a tensor.
    fn name(&mut self) -> Result<&'a str> {
        let name = self.string()?;
        if name.len() > MAX_NAME_BYTES {
            let got = format!("a name of {} bytes", name.len());
            return Err(Problem::not_allowed(
                got,
                format!("at most {MAX_NAME_BYTES}"),
            ));
        }
        str::from_utf8(name).map_err(|_| Problem::not_allowed("its name is not text", "UTF-8"))
    }

    fn info(&mut self, name: &'a str) -> Result<Info<'a>> {
        let rank = self.u32()?;
        if rank > MAX_DIMS {
            let got = format!("{rank} dims");
            return Err(Problem::not_allowed(got, format!("at most {MAX_DIMS}")));
        }
        let dims: Result<Vec<u64>> = (0..rank).map(|_| self.u64()).collect();
        Ok(Info {
            name,
            dims: dims?,
            kind: self.u32()?,
            offset: self.u64()?,
        })
    }
}
