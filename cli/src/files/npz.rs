//! NumPy's `.npz`: a zip archive of `.npy` members, stored or deflated.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use npyz::npz::{array_name_from_file_name, file_name_from_array_name};
use zip::ZipArchive;
use zip::result::ZipError;

use super::source::no_such;
use super::{Array, Storage, npy};

/// How many bytes deflate makes of one, at most: what an archive announces is not allocated unseen.
const MAX_RATIO: u64 = 1032;

/// The array `name` of the archive at `path`, decompressed into memory.
pub(super) fn read(path: &Path, name: Option<&str>) -> Result<Array> {
    let metadata = fs::metadata(path)?;
    ensure!(metadata.is_file(), "not a regular file");
    let file_bytes = metadata.len();
    let file = BufReader::new(File::open(path)?);
    let mut archive = ZipArchive::new(file).map_err(not_an_archive)?;
    let Some(name) = name else {
        return Err(anyhow!(no_such(None, "array", ".npz", &names(&archive))));
    };
    let complaint = no_such(Some(name), "array", ".npz", &names(&archive));
    let mut member = match archive.by_name(&file_name_from_array_name(name)) {
        Err(ZipError::FileNotFound) => return Err(anyhow!(complaint)),
        member => member.with_context(|| format!("array {name}"))?,
    };
    let announced = member.size();
    ensure!(
        announced <= file_bytes.saturating_mul(MAX_RATIO),
        "array {name}: damaged: the archive announces {announced} bytes, more than its {file_bytes} bytes hold"
    );
    let bytes = read_exactly(&mut member, announced).with_context(|| format!("array {name}"))?;
    npy::array(Storage::Owned(bytes)).with_context(|| format!("array {name}"))
}

/// The arrays of the archive; a member whose name is no text is none that could be asked for.
fn names(archive: &ZipArchive<BufReader<File>>) -> Vec<String> {
    let members = archive.file_names().filter_map(Result::ok);
    let array = |member: Cow<'_, str>| array_name_from_file_name(&member).map(str::to_owned);
    members.filter_map(array).collect()
}

fn not_an_archive(error: ZipError) -> anyhow::Error {
    match error {
        ZipError::Io(error) => error.into(),
        error => anyhow!("not a .npz file: {error}"),
    }
}

/// All of `member`, whose checksum is verified when its end is reached.
fn read_exactly(member: &mut impl Read, announced: u64) -> Result<Vec<u8>> {
    let no_memory = || format!("no memory for its {announced} bytes");
    let mut bytes = Vec::new();
    let len = usize::try_from(announced).with_context(no_memory)?;
    bytes.try_reserve_exact(len).with_context(no_memory)?;
    // One byte more than announced, so that the end is seen.
    let read = member
        .take(announced.saturating_add(1))
        .read_to_end(&mut bytes);
    let read = read.context("damaged")?;
    ensure!(
        read == len,
        "damaged: the archive announces {announced} bytes, and there are {}{read}",
        if read > len { "more than " } else { "" }
    );
    Ok(bytes)
}
