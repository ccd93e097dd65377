//! A call that races, made of functions.

use anyhow::Result;

use crate::gather::{Gather, Sets};

/// A call of `who`: `fold` starts it with a set of ids, `wait` returns when all is done, `bytes` is its
/// output, empty if it has none.
pub(crate) struct Call<'a> {
    pub(crate) who: &'static str,
    pub(crate) name: &'static str,
    pub(crate) fold: Box<dyn FnMut(usize) -> Result<()> + 'a>,
    pub(crate) wait: Box<dyn Fn() -> Result<()> + 'a>,
    pub(crate) bytes: Box<dyn FnMut(usize) -> Result<Vec<u8>> + 'a>,
}

impl Gather for Call<'_> {
    fn call(&self) -> String {
        self.name.to_owned()
    }

    fn run(&mut self, sets: Sets) -> Result<()> {
        for set in sets {
            (self.fold)(set)?;
        }
        (self.wait)()
    }

    fn bytes(&mut self, set: usize) -> Result<Vec<u8>> {
        (self.bytes)(set)
    }
}
