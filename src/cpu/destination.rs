//! What is folded into: a tensor that is there, or fresh memory, which the first fold fills.

use std::mem::{MaybeUninit, take};
use std::ops::Range;

use super::threads::for_each;

/// A contiguous destination, or a part of one.
pub(super) enum Destination<'a> {
    /// In the caller's memory.
    There(&'a mut [u8]),
    Fresh(Fresh<'a>),
}

/// Fresh memory. It is filled when it is first asked for: what is folded there finds it in the first cache.
pub(super) struct Fresh<'a> {
    to: &'a mut [MaybeUninit<u8>],
    /// The bytes that it starts from, which are as many; zeros, if there are none.
    from: Option<&'a [u8]>,
    /// How many bytes have been filled.
    filled: usize,
}

impl<'a> Destination<'a> {
    /// A copy of `from` that is still to be made, in `to`.
    pub(super) fn copy_of(from: &'a [u8], to: &'a mut [MaybeUninit<u8>]) -> Self {
        assert_eq!(from.len(), to.len(), "a copy has as many bytes");
        Destination::fresh(to, Some(from))
    }

    /// Zeros that are still to be written.
    pub(super) fn zeros(to: &'a mut [MaybeUninit<u8>]) -> Self {
        Destination::fresh(to, None)
    }

    fn fresh(to: &'a mut [MaybeUninit<u8>], from: Option<&'a [u8]>) -> Self {
        let filled = 0;
        Destination::Fresh(Fresh { to, from, filled })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Destination::There(bytes) => bytes.len(),
            Destination::Fresh(fresh) => fresh.to.len(),
        }
    }

    /// Bytes of the copy that is still to be made.
    pub(super) fn copied_bytes(&self) -> usize {
        match self {
            Destination::There(_) => 0,
            Destination::Fresh(fresh) => fresh.to.len() - fresh.filled,
        }
    }

    /// Calls `fold` with each part and its number, on all cores; returns whether some call did. `lengths` has the
    /// bytes of the parts; what a call does not ask for of fresh memory is filled all the same.
    #[allow(unsafe_code, reason = "memory that is written once")]
    pub(super) fn for_each_part(
        &mut self,
        lengths: &[usize],
        fold: &(dyn Fn(usize, &mut Destination<'_>) -> bool + Sync),
    ) -> bool {
        assert_eq!(lengths.iter().sum::<usize>(), self.len(), "all of it");
        match self {
            Destination::There(bytes) => for_each(parts(bytes, lengths), |n, part| {
                fold(n, &mut Destination::There(part))
            }),
            Destination::Fresh(Fresh { to, from, filled }) => {
                assert_eq!(*filled, 0, "parts are filled anew");
                let mut rest = *from;
                let sources = lengths.iter().map(|&length| {
                    let (part, after) = rest?.split_at(length);
                    rest = Some(after);
                    Some(part)
                });
                let parts = parts(to, lengths).zip(sources);
                let any = for_each(parts, |n, (to, from)| {
                    let mut part = Destination::fresh(to, from);
                    let did = fold(n, &mut part);
                    part.all();
                    did
                });
                // SAFETY: all of each part has been filled, and their lengths add up to that of all.
                *self = Destination::There(unsafe { written(take(to)) });
                any
            }
        }
    }

    /// All of its bytes.
    pub(super) fn all(&mut self) -> &mut [u8] {
        self.bytes(0..self.len())
    }

    /// Writes some of its bytes; those of fresh memory are not filled before, if all before them are.
    #[inline(always)]
    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        match self {
            Destination::Fresh(Fresh { to, filled, .. }) if at == *filled => {
                let end = at + bytes.len();
                to[at..end].copy_from_slice(bytemuck::cast_slice(bytes));
                *filled = end;
            }
            _ => self.bytes(at..at + bytes.len()).copy_from_slice(bytes),
        }
    }

    /// Some of its bytes.
    #[inline]
    #[allow(unsafe_code, reason = "memory that is written once")]
    pub(super) fn bytes(&mut self, some: Range<usize>) -> &mut [u8] {
        match self {
            Destination::There(bytes) => &mut bytes[some],
            Destination::Fresh(Fresh { to, from, filled }) => {
                if some.end > *filled {
                    let next = *filled..some.end;
                    fill(&mut to[next.clone()], from.map(|from| &from[next]));
                    *filled = some.end;
                }
                // SAFETY: so many have been filled.
                unsafe { written(&mut to[some]) }
            }
        }
    }
}

/// Neighbouring parts of so many elements.
fn parts<'a, T>(
    mut rest: &'a mut [T],
    lengths: &'a [usize],
) -> impl ExactSizeIterator<Item = &'a mut [T]> {
    lengths.iter().map(move |&length| {
        let (part, after) = take(&mut rest).split_at_mut(length);
        rest = after;
        part
    })
}

/// Writes the bytes of `from`, or zeros, to all of `to`.
fn fill(to: &mut [MaybeUninit<u8>], from: Option<&[u8]>) {
    match from {
        Some(from) => to.copy_from_slice(bytemuck::cast_slice(from)),
        None => to.fill(MaybeUninit::new(0)),
    }
}

/// What has been written.
///
/// # Safety
///
/// Every byte has.
#[allow(unsafe_code, reason = "memory that is written once")]
unsafe fn written(bytes: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: MaybeUninit<u8> has the layout of u8.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [u8]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_memory_is_filled_wherever_it_is_written_first() {
        let from = [1, 2, 3, 4, 5, 6];
        let mut memory = [MaybeUninit::new(9); 6];
        let mut copy = Destination::copy_of(&from, &mut memory);
        copy.write(0, &[7]);
        copy.write(3, &[8]); // two bytes before it are filled
        copy.write(1, &[0]);
        copy.write(4, &[4]);
        assert_eq!(copy.all(), [7, 0, 3, 8, 4, 6]);
        let mut memory = [MaybeUninit::new(9); 3];
        let mut zeros = Destination::zeros(&mut memory);
        zeros.write(1, &[8]);
        assert_eq!(zeros.all(), [0, 8, 0]);
        assert_eq!(zeros.copied_bytes(), 0);
    }
}
