//! The output file, which rank 0 makes and all ranks write to.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use gather_mpi::{Error, agree, broadcast};
use mpi::traits::*;
use wgpu_gather::DType;
use wgpu_gather_cli::output::{Output, Writing};
use wgpu_gather_files::Source;

use crate::args::GatherArgs;

/// On rank 0, the file that is to be made.
pub(crate) fn output_of(world: &impl Communicator, args: &GatherArgs) -> Result<Option<Output>> {
    if world.rank() != 0 {
        return Ok(None);
    }
    let (params, indices) = (Source::parse(&args.params)?, Source::parse(&args.indices)?);
    let output = Output::new(&args.out, &[params.path(), indices.path()]);
    let output = output.with_context(|| format!("output {}", args.out.display()))?;
    Ok(Some(output))
}

/// The output while the ranks write it, under a temporary name.
pub(crate) struct OutFile<'o> {
    file: File,
    /// Where the elements begin.
    data: u64,
    /// On rank 0: what gives the file its name, and otherwise leaves nothing of it.
    writing: Option<Writing<'o>>,
}

impl<'o> OutFile<'o> {
    /// Makes the file, of `bytes` bytes of elements, and opens it on every rank.
    pub(crate) fn begin(
        world: &impl Communicator,
        output: Option<&'o Output>,
        dtype: DType,
        shape: &[usize],
        bytes: usize,
    ) -> Result<Self, Error> {
        let begun = match output {
            None => Ok(Begun::default()),
            Some(output) => Begun::new(output, dtype, shape, bytes),
        };
        let begun = agree(world, begun.map_err(|error| format!("{error:#}")))?;
        let path = begun.path.as_os_str().as_encoded_bytes().to_vec();
        let path = broadcast(world, 0, path);
        let data = broadcast(world, 0, vec![begun.data]);
        let opened = open(&path);
        let file = agree(world, opened)?;
        Ok(OutFile {
            file,
            data: data.first().copied().unwrap_or_default(),
            writing: begun.writing,
        })
    }

    /// Writes bytes of the output from `offset` on.
    #[cfg(unix)]
    pub(crate) fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, bytes, self.data + offset)
    }

    /// Writes bytes of the output from `offset` on.
    #[cfg(not(unix))]
    pub(crate) fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        use std::io::{Seek, SeekFrom, Write};
        self.file.seek(SeekFrom::Start(self.data + offset))?;
        self.file.write_all(bytes)
    }

    /// Gives the file its name, once every rank has written its part.
    pub(crate) fn finish(self, world: &impl Communicator) -> Result<(), Error> {
        // Not before all are through: closing reports what writing did not.
        agree(world, self.file.sync_data())?;
        let finished = self.writing.map_or(Ok(()), Writing::finish);
        agree(world, finished.map_err(|error| format!("{error:#}")))
    }
}

/// What rank 0 makes; nothing on the others.
#[derive(Default)]
struct Begun<'o> {
    writing: Option<Writing<'o>>,
    path: PathBuf,
    data: u64,
}

impl<'o> Begun<'o> {
    fn new(output: &'o Output, dtype: DType, shape: &[usize], bytes: usize) -> Result<Self> {
        let header = output.header(dtype, shape, bytes)?;
        let data = header.len() as u64;
        let size = data.saturating_add(bytes as u64);
        let named = || format!("output {}", output.path().display());
        let mut writing = output.begin(size).with_context(named)?;
        writing.write(&header).with_context(named)?;
        let path = writing.share(size).with_context(named)?;
        // Another rank may have another working directory.
        let path = path.canonicalize().with_context(named)?;
        Ok(Begun {
            writing: Some(writing),
            path,
            data,
        })
    }
}

/// Opens the file that rank 0 made.
fn open(path: &[u8]) -> Result<File, String> {
    let path = std::str::from_utf8(path).map_err(|error| format!("output: {error}"))?;
    let opened = OpenOptions::new().write(true).open(Path::new(path));
    opened.map_err(|error| format!("output {path}, which rank 0 made: {error}"))
}
