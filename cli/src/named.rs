//! Tensors of files, with what messages call them.

use anyhow::{Context, Result};

use crate::files::{Array, Source};

/// Where a tensor is.
pub(crate) struct Named {
    /// Its role, and how the command line has it.
    pub(crate) name: String,
    pub(crate) source: Source,
}

impl Named {
    pub(crate) fn parse(role: &str, at: &str) -> Result<Named> {
        let name = format!("{role} {at}");
        let source = Source::parse(at).with_context(|| name.clone())?;
        Ok(Named { name, source })
    }

    pub(crate) fn optional(role: &str, at: Option<&String>) -> Result<Option<Named>> {
        at.map(|at| Named::parse(role, at)).transpose()
    }

    pub(crate) fn read(&self) -> Result<Array> {
        self.name(Array::read(&self.source))
    }

    /// A result whose error names the tensor.
    pub(crate) fn name<T>(&self, result: Result<T>) -> Result<T> {
        result.with_context(|| self.name.clone())
    }
}
