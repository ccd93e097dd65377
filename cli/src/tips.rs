//! What to try instead: the options of the command that help with an error of the library.

use std::fmt;

use crate::bad;
use crate::features::NotBuilt;
use wgpu_gather::{Error, OpKind, Role};

/// An error that is known to have a remedy where it is met.
#[derive(Debug)]
struct Tipped {
    /// What is wrong.
    text: String,
    tip: String,
}

impl fmt::Display for Tipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Tipped {}

/// `error` with a remedy.
pub(crate) fn with(error: &anyhow::Error, tip: impl Into<String>) -> anyhow::Error {
    let tipped = Tipped {
        text: format!("{error:#}"),
        tip: tip.into(),
    };
    tipped.into()
}

/// The remedy for `error`, if there is one.
pub(crate) fn of(error: &anyhow::Error) -> Option<String> {
    if let Some(tipped) = error.downcast_ref::<Tipped>() {
        return Some(tipped.tip.clone());
    }
    if let Some(lacking) = error.downcast_ref::<NotBuilt>() {
        return Some(lacking.tip());
    }
    let tip = match error.downcast_ref()? {
        Error::RankExpected {
            op: OpKind::EmbeddingBag,
            role: Role::Indices,
            rank: 1,
            ..
        } => {
            "--offsets says where bags start in indices of one dim: --offsets 0 makes one bag of them"
        }
        Error::RankExpected {
            op: OpKind::EmbeddingBag,
            role: Role::Indices,
            rank: 2,
            ..
        } => "without --offsets, each row of indices is a bag",
        Error::OffsetOutOfRange { position: 0, .. } => {
            "--offsets says where each bag starts, so the first one is 0"
        }
        Error::RankMismatch { .. } => {
            "gather and scatter select whole slices, and take indices of any rank"
        }
        Error::IndexOutOfBounds(bad) => match bad::counts_from_end(bad) {
            true => bad::FROM_END,
            false => "--out-of-bounds zero, clip or wrap goes on where an index is out of bounds",
        },
        _ => return None,
    };
    Some(tip.to_owned())
}
