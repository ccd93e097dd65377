//! NumPy's `.npz`: a zip archive of `.npy` members, stored or deflated.
//!
//! Members are read into memory whole, as their checksums are verified.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::io::{Cursor, Read};
use std::sync::Arc;

use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

use crate::format::FileFormat;
use crate::info::{Placed, TensorInfo};
use crate::npy;
use crate::problem::Problem;
use crate::storage::{Storage, reserved};

/// How many bytes deflate makes of one, at most: what an archive announces is not allocated unseen.
const MAX_RATIO: u64 = 1032;

/// How the names of members end: the array `t` is the member `t.npy`.
const ENDING: &str = ".npy";

/// The directory of an archive.
pub(crate) struct Archive {
    zip: ZipArchive<Cursor<Storage>>,
    file_bytes: u64,
}

impl Archive {
    pub(crate) fn open(file: Storage) -> Result<Self, Problem> {
        let file_bytes = file.as_ref().len() as u64;
        let zip = ZipArchive::new(Cursor::new(file)).map_err(not_read)?;
        Ok(Archive { zip, file_bytes })
    }

    /// The arrays of the archive; a member whose name is no text is none that could be asked for.
    pub(crate) fn names(&self) -> Vec<String> {
        let members = self.zip.file_names().filter_map(Result::ok);
        let array = |member: Cow<'_, str>| member.strip_suffix(ENDING).map(str::to_owned);
        members.filter_map(array).collect()
    }

    /// What the header of the array `name` says.
    pub(crate) fn info(&self, name: &str) -> Result<TensorInfo, Problem> {
        let mut zip = self.zip.clone();
        let mut start = Vec::new();
        self.member(&mut zip, name)?
            .take(npy::HEADER_BYTES)
            .read_to_end(&mut start)
            .map_err(damaged)?;
        let info = npy::info(&start)?;
        Ok(info.named(name))
    }

    /// The array `name`, decompressed into memory.
    pub(crate) fn read(&self, name: &str) -> Result<(Storage, Placed), Problem> {
        let mut zip = self.zip.clone();
        let mut member = self.member(&mut zip, name)?;
        let announced = member.size();
        if announced > self.file_bytes.saturating_mul(MAX_RATIO) {
            return Err(Problem::Damaged(format!(
                "the archive announces {announced} bytes, more than its {} bytes hold",
                self.file_bytes
            )));
        }
        let bytes = read_exactly(&mut member, announced)?;
        let mut placed = npy::place(&bytes)?;
        placed.info = placed.info.named(name);
        Ok((Storage::Owned(Arc::new(bytes)), placed))
    }

    fn member<'z>(
        &self,
        zip: &'z mut ZipArchive<Cursor<Storage>>,
        name: &str,
    ) -> Result<ZipFile<'z, Cursor<Storage>>, Problem> {
        match zip.by_name(&format!("{name}{ENDING}")) {
            Ok(member) => Ok(member),
            Err(ZipError::FileNotFound) => Err(Problem::NoSuchTensor {
                format: FileFormat::Npz,
                wanted: name.to_owned(),
                there: self.names(),
            }),
            Err(error) => Err(not_read(error)),
        }
    }
}

/// All of `member`, whose checksum is verified when its end is reached.
fn read_exactly(member: &mut impl Read, announced: u64) -> Result<Vec<u8>, Problem> {
    let mut bytes = reserved(announced)?;
    // One byte more than announced, so that the end is seen.
    let read = member
        .take(announced.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(damaged)?;
    let there = match (read as u64).cmp(&announced) {
        Ordering::Equal => return Ok(bytes),
        Ordering::Less => format!("{read}"),
        Ordering::Greater => format!("more than {announced}"),
    };
    Err(Problem::Damaged(format!(
        "the archive announces {announced} bytes, and there are {there}"
    )))
}

/// An archive, or a member of one, that is not as NumPy writes it.
fn not_read(error: ZipError) -> Problem {
    match error {
        ZipError::Io(error) => error.into(),
        error => Problem::WrongFormat {
            format: FileFormat::Npz,
            reason: error.to_string(),
        },
    }
}

fn damaged(error: std::io::Error) -> Problem {
    Problem::Damaged(error.to_string())
}
