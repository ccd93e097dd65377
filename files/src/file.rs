//! An open file and its tensors.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::format::FileFormat;
use crate::info::{Placed, TensorInfo};
use crate::npz::Archive;
use crate::problem::Problem;
use crate::storage::{Storage, is_pipe};
use crate::stored::Stored;
use crate::tensor::StoredTensor;
use crate::{gguf, npy, safetensors};

/// An open file, mapped, whose header has been read and checked.
///
/// ```
/// use wgpu_gather::{Executor, Op, Rules, Tensor};
/// use wgpu_gather_files::TensorFile;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.safetensors");
/// # let header = r#"{"words":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]}}"#;
/// # let length = (header.len() as u64).to_le_bytes();
/// # let data = [0.5f32, 1.5, 2.5, 3.5, 4.5, 5.5].map(f32::to_le_bytes).concat();
/// # std::fs::write(&path, [&length[..], header.as_bytes(), &data].concat())?;
/// let file = TensorFile::open(&path)?;
/// for tensor in file.tensors()? {
///     println!("{} {} {:?}", tensor.name(), tensor.type_name(), tensor.shape());
/// }
///
/// let words = file.tensor("words")?;
/// let (params, ids) = (words.params()?, Tensor::new(&[2], vec![2i64, 0])?);
/// let rows = Executor::Cpu.gather(Op::gather(0), &Rules::ONNX, &params, &ids).wait()?;
/// let rows = Tensor::<f32>::try_from(rows)?;
/// assert_eq!(rows.data(), [4.5, 5.5, 0.5, 1.5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TensorFile {
    path: Arc<Path>,
    format: FileFormat,
    contents: Contents,
}

enum Contents {
    /// All tensors lie in the file as they are.
    Plain(Storage, Vec<Placed>),
    /// Each tensor is a member, which may be compressed.
    Archive(Archive),
}

impl TensorFile {
    /// Opens the file at `path`, whose ending tells its format. A pipe is taken for a `.npy` file, unless it
    /// has another ending, and read into memory.
    ///
    /// # Errors
    ///
    /// [`Problem::UnknownEnding`], those of the system, and whatever can be wrong with the header.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        match format_of(path) {
            Some(format) => TensorFile::open_as(path, format),
            None => Err(Error::new(path, "", Problem::UnknownEnding)),
        }
    }

    /// Opens the file at `path`, of any ending, as one of this format.
    ///
    /// # Errors
    ///
    /// Those of the system, and of a header that is damaged or of another format.
    pub fn open_as(path: impl AsRef<Path>, format: FileFormat) -> Result<Self> {
        let path = path.as_ref();
        let contents = Contents::read(path, format);
        Ok(TensorFile {
            contents: contents.map_err(|problem| Error::new(path, "", problem))?,
            path: path.into(),
            format,
        })
    }

    /// Reads a `.npy` file from a stream, such as stdin, into memory. Nothing behind it is read. Errors
    /// call it `path`.
    ///
    /// ```
    /// use wgpu_gather_files::TensorFile;
    ///
    /// # let dict = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n";
    /// # let length = (dict.len() as u16).to_le_bytes();
    /// # let stdin = [b"\x93NUMPY\x01\0", &length[..], dict.as_bytes(), &[7, 8, 9, 10]].concat();
    /// # let mut stdin = &stdin[..];
    /// let ids = TensorFile::read_npy("stdin", &mut stdin)?.tensor("")?;
    /// assert_eq!((ids.shape(), ids.bytes()), (&[3][..], &[7, 8, 9][..]));
    /// # Ok::<(), wgpu_gather_files::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the stream, and of a header that is damaged or of another format.
    pub fn read_npy(path: impl AsRef<Path>, stream: impl Read) -> Result<Self> {
        let path = path.as_ref();
        Ok(TensorFile {
            contents: Contents::read_npy(stream).map_err(|p| Error::new(path, "", p))?,
            path: path.into(),
            format: FileFormat::Npy,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its format.
    pub fn format(&self) -> FileFormat {
        self.format
    }

    /// The names of its tensors, in the order of the file; one empty name for a `.npy` file.
    pub fn names(&self) -> Vec<String> {
        match &self.contents {
            Contents::Plain(_, tensors) => {
                let names = tensors.iter().map(|placed| placed.info.name());
                names.map(str::to_owned).collect()
            }
            Contents::Archive(archive) => archive.names(),
        }
    }

    /// What the file says of its tensors, in its order.
    ///
    /// # Errors
    ///
    /// Only for `.npz` files, whose members have a header each.
    pub fn tensors(&self) -> Result<Vec<TensorInfo>> {
        match &self.contents {
            Contents::Plain(_, tensors) => {
                Ok(tensors.iter().map(|placed| placed.info.clone()).collect())
            }
            Contents::Archive(archive) => {
                let names = archive.names().into_iter();
                let info = |name: String| archive.info(&name).map_err(|p| self.error(&name, p));
                names.map(info).collect()
            }
        }
    }

    /// The tensor `name`; an empty name is that of a `.npy` file's only one.
    ///
    /// It is a view of the mapped file. A member of an `.npz` archive is read into memory instead, and its
    /// checksum verified.
    ///
    /// # Errors
    ///
    /// [`Problem::NoSuchTensor`], with the names that there are; [`Problem::ElementType`] and its like for
    /// types that cannot be gathered; [`Problem::Damaged`] if several tensors have the name, or the member
    /// of an archive is damaged.
    pub fn tensor(&self, name: &str) -> Result<StoredTensor> {
        let tensor = match &self.contents {
            Contents::Plain(file, tensors) => self.placed(file, tensors, name),
            Contents::Archive(archive) => archive
                .read(name)
                .and_then(|(storage, placed)| self.stored(&storage, &placed)),
        };
        tensor.map_err(|problem| self.error(name, problem))
    }

    fn placed(
        &self,
        file: &Storage,
        tensors: &[Placed],
        name: &str,
    ) -> Result<StoredTensor, Problem> {
        let mut called = tensors.iter().filter(|placed| placed.info.name() == name);
        let Some(placed) = called.next() else {
            return Err(Problem::NoSuchTensor {
                format: self.format,
                wanted: name.to_owned(),
                there: self.names(),
            });
        };
        if called.next().is_some() {
            let several = format!("several tensors are named \"{name}\"");
            return Err(Problem::Damaged(several));
        }
        self.stored(file, placed)
    }

    fn stored(&self, storage: &Storage, placed: &Placed) -> Result<StoredTensor, Problem> {
        let stored = match placed.info.stored() {
            Some(stored) => stored,
            None => stored(self.format, placed.info.type_name())?,
        };
        Ok(StoredTensor::new(
            &self.path,
            storage.clone(),
            placed,
            stored,
        ))
    }

    fn error(&self, name: &str, problem: Problem) -> Error {
        Error::new(&self.path, name, problem)
    }
}

impl Contents {
    fn read(path: &Path, format: FileFormat) -> Result<Self, Problem> {
        if format == FileFormat::Npy && is_pipe(path) {
            return Contents::read_npy(File::open(path)?);
        }
        let file = Storage::map(path)?;
        let tensors = match format {
            FileFormat::Npy => vec![npy::place(file.as_ref())?],
            FileFormat::Npz => return Ok(Contents::Archive(Archive::open(file)?)),
            FileFormat::Safetensors => safetensors::place(file.as_ref())?,
            FileFormat::Gguf => gguf::place(file.as_ref())?,
        };
        Ok(Contents::Plain(file, tensors))
    }

    fn read_npy(stream: impl Read) -> Result<Self, Problem> {
        let bytes = Storage::Owned(Arc::new(npy::read(stream)?));
        let tensor = npy::place(bytes.as_ref())?;
        Ok(Contents::Plain(bytes, vec![tensor]))
    }
}

/// The format and the names.
impl fmt::Debug for TensorFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TensorFile")
            .field("path", &self.path)
            .field("format", &self.format)
            .field("names", &self.names())
            .finish_non_exhaustive()
    }
}

/// The format of the file at `path`, if its ending stands for one. Only a `.npy` file can come through a
/// pipe, whose name may say nothing: those of shells do not.
pub(crate) fn format_of(path: &Path) -> Option<FileFormat> {
    FileFormat::of(path).or_else(|| is_pipe(path).then_some(FileFormat::Npy))
}

/// What the format calls `type_name`, or why that cannot be gathered.
fn stored(format: FileFormat, type_name: &str) -> Result<Stored, Problem> {
    match format {
        FileFormat::Npy | FileFormat::Npz => npy::stored(type_name),
        FileFormat::Safetensors => safetensors::stored(type_name),
        FileFormat::Gguf => gguf::stored(type_name),
    }
}
