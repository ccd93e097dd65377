//! What races: a library with the tensors of a case where it wants them.

use anyhow::Result;

use crate::task::{SETS, Task};

/// Who provides the memory of an output. Only calls that do the same are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Output {
    /// The call returns a tensor of its own, as most calls of most libraries do.
    Fresh,
    /// The call writes into memory that the caller keeps.
    Kept,
    /// The call is set up once and repeated: ours only.
    Bound,
}

impl Output {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Output::Fresh => "fresh",
            Output::Kept => "kept",
            Output::Bound => "bound",
        }
    }
}

/// The sets of indices of a turn: they follow each other.
pub(crate) struct Sets(std::ops::Range<usize>);

impl Sets {
    /// `count` of them, from number `first` on.
    pub(crate) fn new(first: usize, count: usize) -> Self {
        Sets(first..first + count)
    }
}

impl Iterator for Sets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.0.next().map(|n| n % SETS)
    }
}

/// A case that a library has loaded.
pub(crate) trait Gather {
    /// The call, as a user of the library would name it.
    fn call(&self) -> String;

    fn output(&self) -> Output {
        Output::Fresh
    }

    /// Gathers with each of `sets` in turn, and returns when all is done.
    fn run(&mut self, sets: Sets) -> Result<()>;

    /// The bytes that a gather with `set` gives.
    fn bytes(&mut self, set: usize) -> Result<Vec<u8>>;
}

/// What a library can do with a case.
pub(crate) enum Offer<'a> {
    Gather(Box<dyn Gather + 'a>),
    /// Nothing, and why.
    Not(String),
}

impl<'a> Offer<'a> {
    pub(crate) fn of(gather: impl Gather + 'a) -> Self {
        Offer::Gather(Box::new(gather))
    }

    pub(crate) fn not(reason: impl Into<String>) -> Self {
        Offer::Not(reason.into())
    }
}

/// A library.
pub(crate) trait Peer {
    /// Its name in the registry of its language.
    fn name(&self) -> &'static str;

    /// Puts the tensors of `task` where it wants them.
    fn load<'a>(&'a self, task: &'a Task) -> Result<Offer<'a>>;
}

/// The version of a crate that this command is built with.
pub(crate) fn version(name: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let entry = format!("name = \"{name}\"\nversion = \"");
    let found = lock
        .split_once(&entry)
        .and_then(|(_, rest)| rest.split_once('"'));
    found.map_or("unknown", |(version, _)| version)
}
