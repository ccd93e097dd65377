//! The indices of a file as one list, of which ranks take parts.

use std::borrow::Cow;
use std::ops::Range;

use anyhow::Result;
use wgpu_gather::{Executor, IndexType, Indices, Layout, Op, Params, Rules};
use wgpu_gather_cli::files::Array;
use wgpu_gather_cli::tensors::as_indices;

/// The indices of a file, row-major.
pub(crate) struct FlatIndices<'a> {
    bytes: Cow<'a, [u8]>,
    index_type: IndexType,
}

impl<'a> FlatIndices<'a> {
    /// The indices as they lie in the file, or row-major if they lie in Fortran's order.
    pub(crate) fn new(array: &'a Array) -> Result<Self> {
        let (_, indices) = as_indices(array)?;
        let index_type = indices.index_type();
        let width = index_type.bytes();
        let layout = indices.layout().clone();
        let bytes = if layout.is_contiguous() {
            match indices.bytes().as_ptr() == array.bytes().as_ptr() {
                true => Cow::Borrowed(array.bytes()),
                false => Cow::Owned(indices.bytes().to_vec()),
            }
        } else {
            // An index tuple of no coordinates selects the whole tensor.
            let params = Params::new(indices.bytes(), width, layout.clone())?;
            let nothing = Indices::new(&[][..], IndexType::I32, Layout::contiguous(&[0]))?;
            let mut packed = vec![0; indices.bytes().len()];
            let (op, rules) = (Op::gather_nd(), Rules::default());
            Executor::Cpu.run_bytes_blocking(op, &rules, &params, &nothing, &mut packed)?;
            Cow::Owned(packed)
        };
        Ok(FlatIndices { bytes, index_type })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        (self.bytes.len() / self.index_type.bytes()) as u64
    }

    /// Some of them, as a tensor of rank 1.
    pub(crate) fn part(&self, range: Range<u64>) -> Result<Indices<'_>> {
        let width = self.index_type.bytes();
        let (start, end) = (range.start as usize, range.end as usize);
        let layout = Layout::contiguous(&[end - start]);
        let bytes = &self.bytes[start * width..end * width];
        Ok(Indices::new(bytes, self.index_type, layout)?)
    }
}
