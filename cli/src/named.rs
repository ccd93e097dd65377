//! Where the tensors of a call are, with what messages call them: files, stdin, pipes, and numbers on the
//! command line.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use wgpu_gather_files::{Error, Problem, Source, StoredTensor, TensorFile};

use crate::{numbers, tips};

/// Stands for stdin, as in other commands.
const STDIN: &str = "-";

/// Characters of a list of numbers that messages quote.
const QUOTED: usize = 40;

/// A tensor that the command line names.
pub(crate) struct Named {
    /// Its role, and how the command line has it.
    pub(crate) name: String,
    place: Place,
    /// Whether it may come as a text of numbers, too.
    integers: bool,
}

/// Where a tensor is.
enum Place {
    File(Source),
    /// A `.npy` file that comes through stdin.
    Stdin,
    /// Numbers in a text file.
    Text(PathBuf),
    /// Numbers in text on stdin.
    TextOnStdin,
    /// Numbers on the command line.
    Numbers(String),
}

impl Named {
    /// A tensor of any type.
    pub(crate) fn parse(role: &str, at: &str) -> Result<Named> {
        let place = || {
            if at == STDIN {
                return Ok(Place::Stdin);
            }
            match Source::parse(at).map_err(Error::into_problem) {
                Ok(source) => Ok(Place::File(source)),
                Err(Problem::UnknownEnding) => bail!("not a tensor file (allowed: {})", files()),
                Err(problem) => Err(problem.into()),
            }
        };
        let name = format!("{role} {at}");
        let place = place().with_context(|| name.clone())?;
        Ok(Named {
            name,
            place,
            integers: false,
        })
    }

    /// A tensor of integers, which may also be listed on the command line or in a text.
    pub(crate) fn parse_integers(role: &str, at: &str) -> Result<Named> {
        let place = match at.strip_prefix('@') {
            Some(STDIN) => Place::TextOnStdin,
            Some(path) => Place::Text(path.into()),
            None if numbers::looks_like_numbers(at) => Place::Numbers(at.to_owned()),
            None if Source::parse(at).is_ok() || at == STDIN => {
                let named = Named::parse(role, at)?;
                return Ok(Named {
                    integers: true,
                    ..named
                });
            }
            None => {
                let text = match Path::new(at).is_file() {
                    true => format!("@{at} for the numbers in that text, "),
                    false => String::new(),
                };
                bail!(
                    "{role} {at}: neither a tensor file nor numbers (allowed: {text}numbers such as 0,2,1, \
                     @FILE for a text of numbers, {})",
                    files()
                )
            }
        };
        let mut quoted: String = at.chars().take(QUOTED).collect();
        if quoted.len() < at.len() {
            quoted.push('…');
        }
        let name = format!("{role} {quoted}");
        Ok(Named {
            name,
            place,
            integers: true,
        })
    }

    /// One of any type, if there is one.
    pub(crate) fn optional(role: &str, at: Option<&String>) -> Result<Option<Named>> {
        at.map(|at| Named::parse(role, at)).transpose()
    }

    /// The file, if it is in one that can be read again.
    fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::File(source) => Some(source.path()),
            Place::Text(path) => Some(path),
            Place::Stdin | Place::TextOnStdin | Place::Numbers(_) => None,
        }
    }

    fn is_stdin(&self) -> bool {
        matches!(self.place, Place::Stdin | Place::TextOnStdin)
    }

    /// The tensor: a view of the mapped file, or in memory where it lies in none.
    pub(crate) fn read(&self) -> Result<StoredTensor> {
        let text = match &self.place {
            Place::File(source) => return self.with_tip(source.read()),
            Place::Stdin => {
                let file = TensorFile::read_npy(STDIN, std::io::stdin().lock());
                return self.with_tip(file.and_then(|file| file.tensor("")));
            }
            Place::Text(path) => self.name(text_of(path))?,
            Place::TextOnStdin => self.name(all_of(std::io::stdin().lock()))?,
            Place::Numbers(text) => text.clone(),
        };
        let numbers = self.name(numbers::parse(&text))?;
        Ok(StoredTensor::in_memory(&self.name, numbers))
    }

    /// The result of reading the tensor, whose error says what else may help.
    fn with_tip(&self, read: Result<StoredTensor, Error>) -> Result<StoredTensor> {
        let tip = match (&self.place, read.as_ref().map_err(Error::problem)) {
            (Place::File(source), Err(Problem::NoSuchTensor { there, .. }))
                if !there.is_empty() =>
            {
                format!(
                    "wgpu-gather show {} lists what is in it",
                    source.path().display()
                )
            }
            (Place::Stdin, Err(Problem::WrongFormat { .. })) if self.integers => {
                "@- reads numbers in text from stdin".to_owned()
            }
            (Place::File(source), Err(Problem::WrongFormat { .. })) if self.integers => {
                format!("@{} reads numbers in text", source.path().display())
            }
            _ => return self.name_it(read),
        };
        self.name_it(read).map_err(|error| tips::with(&error, tip))
    }

    /// The result of reading the file or the tensor, whose error names it as the command line does.
    pub(crate) fn name_it<T>(&self, result: Result<T, Error>) -> Result<T> {
        self.name(result.map_err(|error| error.into_problem().into()))
    }

    /// A result whose error names the tensor.
    pub(crate) fn name<T>(&self, result: Result<T>) -> Result<T> {
        result.with_context(|| self.name.clone())
    }
}

/// The files of `all`, which may name stdin once: it can be read once.
pub(crate) fn files_of<'n>(all: impl IntoIterator<Item = &'n Named>) -> Result<Vec<&'n Path>> {
    let (mut paths, mut stdin) = (Vec::new(), None);
    for named in all {
        paths.extend(named.path());
        if named.is_stdin()
            && let Some(Named { name, .. }) = stdin.replace(named)
        {
            bail!("{}: stdin holds {name} already", named.name);
        }
    }
    Ok(paths)
}

/// What is read, for messages.
fn files() -> &'static str {
    "FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, FILE.gguf:NAME, - for a .npy file on stdin"
}

fn text_of(path: &Path) -> Result<String> {
    ensure!(!path.is_dir(), "a directory, not a text");
    all_of(fs::File::open(path)?)
}

fn all_of(mut stream: impl Read) -> Result<String> {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes)?;
    String::from_utf8(bytes).context("not a text of numbers")
}
