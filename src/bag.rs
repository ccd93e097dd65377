//! How indices form bags, and what becomes of the rows of a bag.

use crate::error::{Error, OpKind, Result};
use crate::fold::Reduce;
use crate::memory::room;
use crate::names::named;
use crate::operand::Indices;

/// How the rows of a bag are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum BagMode {
    /// Their sum: zero, and each row added in the order of the indices. Integers wrap.
    #[default]
    Sum,
    /// The sum, divided by how many rows there are. Floats only.
    Mean,
    /// The greatest of each column; NaN, if one of them is, and +0 for greater than -0.
    Max,
}

impl BagMode {
    /// How a row is combined with those before it.
    pub(crate) const fn reduce(self) -> Reduce {
        match self {
            BagMode::Sum | BagMode::Mean => Reduce::Add,
            BagMode::Max => Reduce::Max,
        }
    }
}

named!(BagMode, "mode", {
    Sum "sum",
    Mean "mean",
    Max "max",
});

/// Which indices form a bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split<'a> {
    /// Each row of a tensor of two dims.
    Rows,
    /// Those from an offset to the next, the last bag to the end.
    Offsets(&'a [usize]),
    /// The same, with the end of the last bag as the last offset.
    OffsetsWithLast(&'a [usize]),
}

/// The parameters of a pooled lookup: how indices are divided into bags, how the rows of a bag are combined, and
/// which index is padding.
///
/// ```
/// use wgpu_gather::{BagMode, Bags, Executor, Rules, Tensor};
///
/// let table = Tensor::new(&[4, 2], vec![0.0f32, 1.0, 10.0, 11.0, 20.0, 21.0, 30.0, 31.0])?;
/// let ids = Tensor::new(&[5], vec![1i64, 3, 3, 0, 2])?;
/// // the bags 1, 3 and none and 3, 0, 2, of which 0 stands for nothing
/// let bags = Bags::offsets(BagMode::Sum, &[0, 2, 2]).with_padding_index(0);
/// let sums = Executor::Cpu.embedding_bag(bags, &Rules::TORCH, &table, &ids).wait()?;
/// assert_eq!(sums, Tensor::new(&[3, 2], vec![40.0, 42.0, 0.0, 0.0, 50.0, 52.0])?);
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bags<'a> {
    pub(crate) split: Split<'a>,
    pub(crate) mode: BagMode,
    pub(crate) padding_index: Option<isize>,
}

impl<'a> Bags<'a> {
    /// Each row of indices of two dims is a bag: all bags have as many.
    pub const fn rows(mode: BagMode) -> Self {
        Bags::new(Split::Rows, mode)
    }

    /// Bag `b` is `indices[offsets[b]..offsets[b + 1]]`, and the last one ends with the indices, which
    /// have one dim. The first offset is 0, and none is less than the one before.
    pub const fn offsets(mode: BagMode, offsets: &'a [usize]) -> Self {
        Bags::new(Split::Offsets(offsets), mode)
    }

    /// [`Bags::offsets`] with the end of the last bag as an additional offset: there is one more offset
    /// than bags, and indices behind it are not looked at (`include_last_offset`).
    pub const fn offsets_with_last(mode: BagMode, offsets: &'a [usize]) -> Self {
        Bags::new(Split::OffsetsWithLast(offsets), mode)
    }

    const fn new(split: Split<'a>, mode: BagMode) -> Self {
        Bags {
            split,
            mode,
            padding_index: None,
        }
    }

    /// The same, without the row `padding_index` of the table, counted from the end if negative: what
    /// selects it adds nothing, and does not count.
    pub const fn with_padding_index(self, padding_index: isize) -> Self {
        Bags {
            padding_index: Some(padding_index),
            ..self
        }
    }

    /// How the rows of a bag are combined.
    pub const fn mode(&self) -> BagMode {
        self.mode
    }

    /// The offsets, as they were given; none, if rows form the bags.
    pub const fn given_offsets(&self) -> &'a [usize] {
        match self.split {
            Split::Rows => &[],
            Split::Offsets(offsets) | Split::OffsetsWithLast(offsets) => offsets,
        }
    }

    /// The same with other offsets, such as a copy that lives longer. Bags of rows have none, and stay.
    ///
    /// ```
    /// use wgpu_gather::{BagMode, Bags};
    ///
    /// let copy = Bags::offsets(BagMode::Sum, &vec![0, 2]).given_offsets().to_vec();
    /// let bags = Bags::offsets(BagMode::Sum, &[]).with_offsets(&copy);
    /// assert_eq!(bags, Bags::offsets(BagMode::Sum, &[0, 2]));
    /// ```
    pub const fn with_offsets<'b>(self, offsets: &'b [usize]) -> Bags<'b> {
        let split = match self.split {
            Split::Rows => Split::Rows,
            Split::Offsets(_) => Split::Offsets(offsets),
            Split::OffsetsWithLast(_) => Split::OffsetsWithLast(offsets),
        };
        Bags {
            split,
            mode: self.mode,
            padding_index: self.padding_index,
        }
    }

    /// Offsets that come as a tensor of integers, such as that of a file.
    ///
    /// # Errors
    ///
    /// [`Error::OffsetOutOfRange`] for one that no tensor reaches, [`Error::RankExpected`] if there is
    /// not one dim, [`Error::HostOutOfMemory`].
    pub fn read_offsets(offsets: &Indices<'_>) -> Result<Vec<usize>> {
        let (op, role) = (OpKind::EmbeddingBag, crate::Role::Offsets);
        let layout = offsets.layout();
        let [count] = *layout.shape() else {
            return Err(Error::RankExpected {
                op,
                role,
                rank: layout.rank(),
                expected: 1,
            });
        };
        let greatest = isize::MAX as usize;
        let offset = |position| {
            let value = offsets.load(layout.position(&[position]));
            let in_range = usize::try_from(value).ok().filter(|&v| v <= greatest);
            in_range.ok_or(Error::OffsetOutOfRange {
                op,
                position,
                value,
                least: 0,
                greatest,
            })
        };
        let mut read = room(role, count)?;
        for position in 0..count {
            read.push(offset(position)?);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{IndexType, Layout, Role};

    /// More than any machine can address, of one element in memory.
    #[test]
    fn offsets_of_a_huge_broadcast_view_are_refused() {
        for count in [1 << 45, 1 << 62] {
            let layout = Layout::strided(&[count], &[0], 0).unwrap();
            let offsets = Indices::new(&[0; 8][..], IndexType::I64, layout).unwrap();
            let expected = Error::HostOutOfMemory {
                role: Role::Offsets,
                bytes: count.saturating_mul(size_of::<usize>()),
            };
            assert_eq!(Bags::read_offsets(&offsets), Err(expected));
        }
    }
}
