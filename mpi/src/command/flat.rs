//! The indices of a file as one list, of which ranks take parts.

use std::ops::Range;

use anyhow::Result;
use wgpu_gather::{Executor, Indices, Layout, Op, Params, Role, Rules};
use wgpu_gather_cli::tensors::reserved;
use wgpu_gather_files::{Error, StoredTensor};

/// The indices of a file, row-major.
pub(crate) struct FlatIndices<'a>(Indices<'a>);

impl<'a> FlatIndices<'a> {
    /// The indices as they lie in the file, or row-major if they lie in Fortran's order.
    pub(crate) fn new(tensor: &'a StoredTensor) -> Result<Self> {
        let indices = tensor.indices().map_err(Error::into_problem)?;
        let (bytes, layout) = (indices.bytes(), indices.layout());
        if layout.is_contiguous() {
            return Ok(FlatIndices(indices));
        }
        // An index tuple of no coordinates selects the whole tensor.
        let index_type = indices.index_type();
        let params = Params::new(bytes, index_type.dtype(), layout.clone())?;
        let nothing = Indices::new(&[][..], index_type, Layout::contiguous(&[0]))?;
        let mut packed = reserved(Role::Indices, bytes.len())?;
        packed.resize(bytes.len(), 0);
        let (op, rules) = (Op::gather_nd(), Rules::default());
        let call = Executor::Cpu.gather(op, &rules, &params, &nothing);
        call.into(&mut packed).wait()?;
        let layout = Layout::contiguous(layout.shape());
        Ok(FlatIndices(Indices::new(packed, index_type, layout)?))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u64 {
        (self.0.bytes().len() / self.0.index_type().bytes()) as u64
    }

    /// Some of them, as a tensor of rank 1.
    pub(crate) fn part(&self, range: Range<u64>) -> Result<Indices<'_>> {
        let width = self.0.index_type().bytes();
        let (start, end) = (range.start as usize, range.end as usize);
        let layout = Layout::contiguous(&[end - start]);
        let bytes = &self.0.bytes()[start * width..end * width];
        Ok(Indices::new(bytes, self.0.index_type(), layout)?)
    }
}
