//! Who owns a row, and by which number its owner knows it.

use crate::error::{Error, Result};
use crate::shape::Layout;

/// The assignment of the rows of a table to shards.
///
/// ```
/// use wgpu_gather::shard::Partition;
///
/// let blocks = Partition::blocks(&[2, 0, 3])?; // rows 0 and 1, none, rows 2 to 4
/// assert_eq!(blocks.place(4), Some((2, 2)));
///
/// let cyclic = Partition::cyclic(5, 2)?; // rows 0, 2 and 4; rows 1 and 3
/// assert_eq!(cyclic.place(4), Some((0, 2)));
/// assert_eq!(cyclic.rows_of(1), 2);
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    kind: Kind,
    /// How many rows the shards before each have, and all.
    starts: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A shard has neighbouring rows.
    Blocks,
    /// Shard `s` of `n` has the rows `s`, `s + n`, `s + 2n` and so on.
    Cyclic,
}

impl Partition {
    /// Shard after shard, with as many rows as `rows_of` says; any of them may be empty.
    ///
    /// # Errors
    ///
    /// [`Error::NoShards`]; [`Error::TooManyRows`] if they are more than can be counted.
    pub fn blocks(rows_of: &[usize]) -> Result<Self> {
        Partition::new(Kind::Blocks, rows_of.iter().copied())
    }

    /// Blocks of the same size; where that is impossible, the first have one row more.
    ///
    /// # Errors
    ///
    /// [`Error::NoShards`].
    pub fn even_blocks(rows: usize, shards: usize) -> Result<Self> {
        Partition::new(Kind::Blocks, (0..shards).map(|s| share(rows, shards, s)))
    }

    /// Row `r` lies on shard `r % shards`.
    ///
    /// # Errors
    ///
    /// [`Error::NoShards`].
    pub fn cyclic(rows: usize, shards: usize) -> Result<Self> {
        Partition::new(Kind::Cyclic, (0..shards).map(|s| share(rows, shards, s)))
    }

    fn new(kind: Kind, rows_of: impl ExactSizeIterator<Item = usize>) -> Result<Self> {
        let shards = rows_of.len();
        if shards == 0 {
            return Err(Error::NoShards);
        }
        let mut starts = Vec::with_capacity(shards + 1);
        starts.push(0);
        let mut rows = 0usize;
        for more in rows_of {
            rows = rows
                .checked_add(more)
                .ok_or(Error::TooManyRows { shards })?;
            starts.push(rows);
        }
        Ok(Partition { kind, starts })
    }

    /// Number of shards.
    pub fn shards(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of rows of the table.
    pub fn rows(&self) -> usize {
        self.starts[self.shards()]
    }

    /// Number of rows of a shard; 0 if there is no such shard.
    pub fn rows_of(&self, shard: usize) -> usize {
        match self.starts.get(shard..=shard.saturating_add(1)) {
            Some(&[start, end]) => end - start,
            _ => 0,
        }
    }

    /// The shard that has a row of the table, and the row's number there.
    pub fn place(&self, row: usize) -> Option<(usize, usize)> {
        if row >= self.rows() {
            return None;
        }
        Some(match self.kind {
            Kind::Blocks => {
                // The last shard that starts at the row or before it: those of its start that come
                // earlier are empty.
                let shard = self.starts.partition_point(|&start| start <= row) - 1;
                (shard, row - self.starts[shard])
            }
            Kind::Cyclic => (row % self.shards(), row / self.shards()),
        })
    }

    /// The row of the table that a row of a shard is: the inverse of [`Partition::place`].
    pub fn row(&self, shard: usize, local: usize) -> Option<usize> {
        (local < self.rows_of(shard)).then(|| match self.kind {
            Kind::Blocks => self.starts[shard] + local,
            Kind::Cyclic => local * self.shards() + shard,
        })
    }

    /// The rows of one shard, as a view of the table that `table` lays out.
    ///
    /// # Errors
    ///
    /// [`Error::ShardTable`] if the table has not as many rows as this partition, or there is no such
    /// shard.
    pub fn view(&self, table: &Layout, shard: usize) -> Result<Layout> {
        if table.shape().first() != Some(&self.rows()) || shard >= self.shards() {
            return Err(Error::ShardTable {
                shape: table.shape().to_vec(),
                shard,
                rows: self.rows(),
                shards: self.shards(),
            });
        }
        let (start, rows) = (self.starts[shard], self.rows_of(shard));
        match self.kind {
            Kind::Blocks => table.slice(0, start..start + rows),
            Kind::Cyclic => {
                let mut shape = table.shape().to_vec();
                let mut strides = table.strides().to_vec();
                // Where there is no row, nothing is to point outside of the table.
                let skipped = if rows == 0 { 0 } else { shard };
                let origin = strides[0].wrapping_mul(skipped as isize);
                shape[0] = rows;
                strides[0] = strides[0].wrapping_mul(self.shards() as isize);
                let offset = table.offset().wrapping_add_signed(origin);
                Layout::strided(&shape, &strides, offset)
            }
        }
    }

    /// The number of a row where all rows are ordered by shard, and by number within it.
    pub(super) fn ordinal(&self, row: usize) -> usize {
        match self.kind {
            Kind::Blocks => row,
            Kind::Cyclic => self.starts[row % self.shards()] + row / self.shards(),
        }
    }

    /// The first such number of each shard, and how many there are.
    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }
}

/// How many of `rows` the shard has, if all have as many and the first what is left.
fn share(rows: usize, shards: usize, shard: usize) -> usize {
    rows / shards + usize::from(shard < rows % shards)
}
