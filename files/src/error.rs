//! The error of this crate: a file, a tensor of it, and what is wrong.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::problem::Problem;

/// A result whose error names the file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A file that cannot be read, or a tensor that is not what it is taken for.
///
/// The text names both as [`Source`](crate::Source) does: `model.gguf:ids: elements of type f16
/// cannot index (allowed: …)`.
#[derive(Debug)]
pub struct Error(Box<Facts>);

#[derive(Debug)]
struct Facts {
    path: PathBuf,
    tensor: String,
    problem: Problem,
}

impl Error {
    pub(crate) fn new(path: &Path, tensor: &str, problem: Problem) -> Self {
        Error(Box::new(Facts {
            path: path.to_owned(),
            tensor: tensor.to_owned(),
            problem,
        }))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The tensor that was asked for; `None` if the file as a whole is at fault, or does not name
    /// its tensor.
    pub fn tensor(&self) -> Option<&str> {
        (!self.0.tensor.is_empty()).then_some(&self.0.tensor)
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// What is wrong, for a program that has its own words for the tensor.
    pub fn into_problem(self) -> Problem {
        self.0.problem
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.path.display())?;
        if let Some(tensor) = self.tensor() {
            write!(f, ":{tensor}")?;
        }
        write!(f, ": {}", self.0.problem)
    }
}

/// The text has that of the problem already.
impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.problem.source()
    }
}
