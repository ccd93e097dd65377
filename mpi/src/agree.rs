//! Agreement on errors: all ranks go on, or none does.

use std::fmt::Display;

use mpi::collective::SystemOperation;
use mpi::traits::*;
use wgpu_gather::{BadIndices, OpKind};

use crate::error::Error;

/// A collective: returns the values if every rank has one, and otherwise, on every rank, the error of
/// the first rank that has none.
///
/// For what a program does before a collective and may fail at, such as to open a file.
///
/// # Errors
///
/// [`Error::Rank`].
pub fn agree<T>(
    communicator: &impl Communicator,
    local: Result<T, impl Display>,
) -> Result<T, Error> {
    let Some(rank) = first_that(communicator, local.is_err()) else {
        // No rank failed, this one neither.
        return local.map_err(|error| of_rank(communicator.rank(), error.to_string()));
    };
    let text = local.err().map(|error| error.to_string());
    let text = broadcast(communicator, rank, text.unwrap_or_default().into_bytes());
    Err(of_rank(rank, String::from_utf8_lossy(&text).into_owned()))
}

/// A collective: fails on a rank where `mine` is not what it is on rank 0, and so on all.
///
/// # Errors
///
/// [`Error::Rank`], with both texts.
pub fn agree_on_same(communicator: &impl Communicator, mine: &str) -> Result<(), Error> {
    let first = broadcast(communicator, 0, mine.as_bytes().to_vec());
    let same = if first == mine.as_bytes() {
        Ok(())
    } else {
        let first = String::from_utf8_lossy(&first);
        Err(format!("it has {mine}, but rank 0 has {first}"))
    };
    agree(communicator, same)
}

/// [`agree`] for errors of the library: a bad index is one on every rank.
pub(crate) fn agree_on_gather<T>(
    communicator: &impl Communicator,
    local: Result<T, wgpu_gather::Error>,
) -> Result<T, Error> {
    let (bad, local) = match local {
        Err(wgpu_gather::Error::IndexOutOfBounds(bad)) => (Some(*bad), None),
        other => (None, Some(other)),
    };
    // What else went wrong somewhere comes first: it may hide a bad index.
    let local = match local {
        Some(Ok(value)) => Ok(Some(value)),
        Some(Err(error)) => Err(error),
        None => Ok(None),
    };
    let value = agree(communicator, local)?;
    let mut count = 0u64;
    let mine = bad.as_ref().map_or(0, |bad| bad.count);
    communicator.all_reduce_into(&mine, &mut count, SystemOperation::sum());
    match (value, first_that(communicator, bad.is_some())) {
        (Some(value), None) => Ok(value),
        (_, first) => {
            let rank = first.unwrap_or_default();
            let words = broadcast(communicator, rank, bad.map(words_of).unwrap_or_default());
            let rank = rank as usize;
            let bad = bad_of(&words, count);
            Err(Error::BadIndices { rank, bad })
        }
    }
}

fn of_rank(rank: i32, message: String) -> Error {
    let rank = rank as usize;
    Error::Rank { rank, message }
}

/// The first rank of which this is true.
fn first_that(communicator: &impl Communicator, is_true: bool) -> Option<i32> {
    let mine = if is_true {
        communicator.rank()
    } else {
        i32::MAX
    };
    let mut first = i32::MAX;
    communicator.all_reduce_into(&mine, &mut first, SystemOperation::min());
    (first != i32::MAX).then_some(first)
}

/// A collective: what the rank `root` has, on every rank; what the others bring counts for nothing.
pub fn broadcast<T: Equivalence + Clone + Default>(
    communicator: &impl Communicator,
    root: i32,
    mine: Vec<T>,
) -> Vec<T> {
    let root = communicator.process_at_rank(root);
    let mut len = mine.len() as u64;
    root.broadcast_into(&mut len);
    let mut data = mine;
    data.resize(len as usize, T::default());
    root.broadcast_into(&mut data[..]);
    data
}

/// A bad index of a gather along the first axis, as numbers.
fn words_of(bad: BadIndices) -> Vec<u64> {
    let (low, high) = (bad.value as u64, (bad.value >> 64) as u64);
    let position = bad.position.into_iter().map(|p| p as u64);
    [low, high, bad.extent as u64]
        .into_iter()
        .chain(position)
        .collect()
}

fn bad_of(words: &[u64], count: u64) -> BadIndices {
    let word = |n: usize| words.get(n).copied().unwrap_or_default();
    BadIndices {
        op: OpKind::Gather,
        position: words.iter().skip(3).map(|&p| p as usize).collect(),
        value: i128::from(word(0)) | i128::from(word(1)) << 64,
        axis: 0,
        extent: word(2) as usize,
        count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_index_survives_the_way() {
        for value in [-1, 7, i128::from(i64::MIN), i128::from(u64::MAX)] {
            let bad = BadIndices {
                op: OpKind::Gather,
                position: vec![3, 0, 9],
                value,
                axis: 0,
                extent: 5,
                count: 4,
            };
            assert_eq!(bad_of(&words_of(bad.clone()), 4), bad);
        }
    }
}
