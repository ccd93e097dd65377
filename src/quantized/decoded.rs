//! A quantized table together with the type to decode it to.

use std::marker::PhantomData;

use crate::quantized::float::{Float, FloatType};
use crate::quantized::table::QuantizedTable;

/// A quantized table that a call reads as a table of floats of type `F`: see [`QuantizedTable::to`]. `Q` is the
/// table, on the host or on a device.
#[derive(Debug)]
pub struct Decoded<'a, Q, F> {
    table: &'a Q,
    to: PhantomData<fn() -> F>,
}

/// A quantized table that a call reads as a table of floats of a type known at run time: see
/// [`QuantizedTable::to_type`].
#[derive(Debug)]
pub struct DecodedAs<'a, Q> {
    table: &'a Q,
    to: FloatType,
}

impl<'a, Q, F: Float> Decoded<'a, Q, F> {
    pub(crate) fn new(table: &'a Q) -> Self {
        let to = PhantomData;
        Decoded { table, to }
    }

    pub(crate) fn table(&self) -> &'a Q {
        self.table
    }
}

impl<'a, Q> DecodedAs<'a, Q> {
    pub(crate) fn new(table: &'a Q, to: FloatType) -> Self {
        DecodedAs { table, to }
    }

    pub(crate) fn table(&self) -> &'a Q {
        self.table
    }

    pub(crate) fn to(&self) -> FloatType {
        self.to
    }
}

impl QuantizedTable<'_> {
    /// The table as a table of floats of type `F`: calls decode the elements that they read. A gather rounds once
    /// from f32 to `F`; pooled lookups fold f32 and take no other type.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Rules, Tensor};
    /// use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
    ///
    /// let bytes = [0u8; 2 * 34]; // two rows of a block of 32
    /// let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes)?;
    /// let ids = Tensor::new(&[1], vec![1u32])?;
    /// let rows = Executor::Cpu.gather(Op::gather(0), &Rules::TORCH, &table.to::<f32>(), &ids).wait()?;
    /// assert_eq!(rows, Tensor::new(&[1, 32], vec![0.0; 32])?);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// A call borrows what it is given. To hold one in a variable before it is made, let the decoded table be a
    /// variable, too: as a temporary it ends with the statement (error E0716 of the compiler).
    ///
    /// ```
    /// # use wgpu_gather::{Executor, Op, Rules, Tensor};
    /// # use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
    /// # let bytes = [0u8; 2 * 34];
    /// # let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[2, 32], &bytes)?;
    /// # let ids = Tensor::new(&[1], vec![1u32])?;
    /// let decoded = table.to::<f32>();
    /// let call = Executor::Cpu.gather(Op::gather(0), &Rules::TORCH, &decoded, &ids);
    /// println!("{} bytes", call.plan()?.output_bytes());
    /// let rows = call.wait()?;
    /// # assert_eq!(rows.shape(), [1, 32]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    pub fn to<F: Float>(&self) -> Decoded<'_, Self, F> {
        Decoded::new(self)
    }

    /// [`QuantizedTable::to`] for a type that is known at run time.
    pub fn to_type(&self, to: FloatType) -> DecodedAs<'_, Self> {
        DecodedAs::new(self, to)
    }
}
