//! Tensors of files, with what messages call them.

use anyhow::{Context, Result};
use wgpu_gather_files::{Error, Source, StoredTensor};

/// Where a tensor is.
pub(crate) struct Named {
    /// Its role, and how the command line has it.
    pub(crate) name: String,
    pub(crate) source: Source,
}

impl Named {
    pub(crate) fn parse(role: &str, at: &str) -> Result<Named> {
        let name = format!("{role} {at}");
        let source = Source::parse(at).map_err(Error::into_problem);
        let source = source.with_context(|| name.clone())?;
        Ok(Named { name, source })
    }

    pub(crate) fn optional(role: &str, at: Option<&String>) -> Result<Option<Named>> {
        at.map(|at| Named::parse(role, at)).transpose()
    }

    pub(crate) fn read(&self) -> Result<StoredTensor> {
        self.name_it(self.source.read())
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
