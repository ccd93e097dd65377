//! A tensor of a file, as what the library takes.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{AnyTensor, DType, ElementType, Index, IndexType, Indices, Layout, Params};

use crate::error::{Error, Result};
use crate::info::Placed;
use crate::problem::Problem;
use crate::storage::{Storage, reserved};
use crate::stored::Stored;

/// How many narrow indices are widened at a time.
const WIDENED: usize = 8192;

/// A tensor as a file has it: how its elements are stored, their layout, and their bytes.
///
/// It keeps the file mapped, and outlives the [`TensorFile`](crate::TensorFile) that it is from. What
/// it gives to the library are views of its bytes.
#[derive(Clone)]
pub struct StoredTensor {
    path: Arc<Path>,
    name: String,
    storage: Storage,
    data: Range<usize>,
    stored: Stored,
    layout: Layout,
}

impl StoredTensor {
    /// What lies at `placed` in `storage`, whose elements are `stored`.
    pub(crate) fn new(path: &Arc<Path>, storage: Storage, placed: &Placed, stored: Stored) -> Self {
        StoredTensor {
            path: path.clone(),
            name: placed.info.name().to_owned(),
            storage,
            data: placed.data.clone(),
            stored,
            layout: placed.layout.clone(),
        }
    }

    /// A tensor that lies in no file, such as one that a command line lists. Errors call it `path`.
    ///
    /// ```
    /// use wgpu_gather::{AnyTensor, DType};
    /// use wgpu_gather_files::StoredTensor;
    ///
    /// let ids = AnyTensor::new(&[2], DType::U8, vec![0, 2])?;
    /// let ids = StoredTensor::in_memory("ids", ids);
    /// assert_eq!((ids.dtype(), ids.indices()?.layout().shape()), (Some(DType::U8), &[2][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn in_memory(path: impl AsRef<Path>, tensor: AnyTensor) -> Self {
        let element = tensor.element_type();
        let layout = Layout::contiguous(tensor.shape());
        let bytes = tensor.into_bytes();
        StoredTensor {
            path: path.as_ref().into(),
            name: String::new(),
            data: 0..bytes.len(),
            storage: Storage::Owned(Arc::new(bytes)),
            stored: match element.dtype() {
                Some(dtype) => Stored::Typed(dtype),
                None => Stored::Raw(element.bytes()),
            },
            layout,
        }
    }

    /// Its name in the file; empty for the tensor of a `.npy` file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file says of the elements.
    pub fn stored(&self) -> Stored {
        self.stored
    }

    /// The element type; `None` for raw bytes and for blocks.
    pub fn dtype(&self) -> Option<DType> {
        match self.stored {
            Stored::Typed(dtype) => Some(dtype),
            Stored::Raw(_) | Stored::Blocks(_) => None,
        }
    }

    /// Shape and order of the elements.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The extent of each dim, in elements.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// The elements, in the order in which they lie in the file.
    pub fn bytes(&self) -> &[u8] {
        &self.storage.as_ref()[self.data.clone()]
    }

    /// The tensor as params: a view of its bytes, in the order in which they lie.
    ///
    /// Raw bytes are params of their width; what type they are is for the caller to know
    /// ([`Params::with_element_type`]).
    ///
    /// # Errors
    ///
    /// [`Problem::Quantized`] for blocks, which [`StoredTensor::quantized_table`] takes.
    pub fn params(&self) -> Result<Params<'_>> {
        let element: ElementType = match self.stored {
            Stored::Typed(dtype) => dtype.into(),
            Stored::Raw(bytes) => bytes.into(),
            Stored::Blocks(format) => return Err(self.error(Problem::Quantized(format))),
        };
        let params = Params::new(self.bytes(), element, self.layout.clone());
        params.map_err(|error| self.error(error.into()))
    }

    /// The tensor as indices: a view of its bytes, or for integers of 8 and 16 bits a copy of 32 bits
    /// each.
    ///
    /// # Errors
    ///
    /// [`Problem::NotIndices`] for what is no integer; [`Problem::OutOfMemory`] if there is no room for
    /// the copy.
    pub fn indices(&self) -> Result<Indices<'_>> {
        self.as_indices().map_err(|problem| self.error(problem))
    }

    fn as_indices(&self) -> Result<Indices<'_>, Problem> {
        let bytes = self.bytes();
        let as_is = match self.stored {
            Stored::Typed(dtype) => IndexType::of(dtype),
            _ => None,
        };
        let (index_type, bytes) = match (self.stored, as_is) {
            (_, Some(index_type)) => (index_type, Cow::Borrowed(bytes)),
            (Stored::Typed(DType::I8), _) => widened::<i8>(bytes)?,
            (Stored::Typed(DType::U8), _) => widened::<u8>(bytes)?,
            (Stored::Typed(DType::I16), _) => widened::<i16>(bytes)?,
            (Stored::Typed(DType::U16), _) => widened::<u16>(bytes)?,
            (other, _) => return Err(Problem::NotIndices(other)),
        };
        Ok(Indices::new(bytes, index_type, self.layout.clone())?)
    }

    /// The tensor as a quantized table: a view of its blocks, or of its halves (`f16`, `bf16`), which are
    /// decoded likewise.
    ///
    /// # Errors
    ///
    /// [`Problem::NotQuantized`] for other types, [`Problem::FortranOrder`] for another order than
    /// row-major.
    pub fn quantized_table(&self) -> Result<QuantizedTable<'_>> {
        match self.stored {
            Stored::Blocks(format) => self.quantized_as(format),
            Stored::Typed(DType::F16) => self.quantized_as(BlockFormat::F16),
            Stored::Typed(DType::BF16) => self.quantized_as(BlockFormat::BF16),
            other => Err(self.error(Problem::NotQuantized(other))),
        }
    }

    /// The tensor as a quantized table of a format that the caller knows, such as `bf16` for raw bytes.
    ///
    /// # Errors
    ///
    /// [`Problem::FortranOrder`] for another order than row-major, and [`Problem::Operand`] if shape and
    /// bytes do not fit the format.
    pub fn quantized_as(&self, format: BlockFormat) -> Result<QuantizedTable<'_>> {
        let table = QuantizedTable::blocks(format, self.shape(), self.row_major_bytes()?);
        table.map_err(|error| self.error(error.into()))
    }

    /// The elements in row-major order, as every part of a quantized table lies.
    ///
    /// # Errors
    ///
    /// [`Problem::FortranOrder`] for another order.
    pub fn row_major_bytes(&self) -> Result<&[u8]> {
        match self.layout.is_contiguous() {
            true => Ok(self.bytes()),
            false => Err(self.error(Problem::FortranOrder)),
        }
    }

    /// Bytes of the elements that are mapped; 0 if they are in memory of their own, as those of `.npz`
    /// files are.
    pub fn mapped_bytes(&self) -> u64 {
        match self.storage {
            Storage::Mapped(_) => self.data.len() as u64,
            Storage::Owned(_) => 0,
        }
    }

    /// Takes the mapped pages of the file out of this process's memory, until they are read again.
    ///
    /// Pages that were read count as memory of the process until the system needs it. Programs that must
    /// stay below a limit call this on the way. Only Linux does it.
    pub fn release_pages(&self) {
        self.storage.release_pages();
    }

    /// Prepares the mapped file for reads here and there: the system reads nothing ahead.
    pub fn expect_scattered(&self) {
        self.storage.expect_scattered();
    }

    fn error(&self, problem: Problem) -> Error {
        Error::new(&self.path, &self.name, problem)
    }
}

/// Without the elements.
impl fmt::Debug for StoredTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredTensor")
            .field("path", &self.path)
            .field("name", &self.name)
            .field("stored", &self.stored)
            .field("layout", &self.layout)
            .finish_non_exhaustive()
    }
}

fn widened<I: Index + bytemuck::AnyBitPattern>(
    bytes: &[u8],
) -> Result<(IndexType, Cow<'static, [u8]>), Problem> {
    let count = bytes.len() / size_of::<I>();
    let mut wide = reserved((count as u64).saturating_mul(I::TYPE.bytes() as u64))?;
    for some in bytes.chunks(WIDENED * size_of::<I>()) {
        let values: Vec<I> = bytemuck::allocation::pod_collect_to_vec(some);
        wide.extend_from_slice(&I::widened(&values));
    }
    Ok((I::TYPE, Cow::Owned(wide)))
}
