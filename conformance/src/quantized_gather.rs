//! A gather from a quantised table, in bytes, checked against the reference.

use std::fmt;

use wgpu_gather::quantized::{FloatType, Format, QuantizedCall, QuantizedTable};
use wgpu_gather::{Executor, IndexType, Indices, Layout, Op, Result, Rules};

use crate::output::{byte_difference, difference, poisoned};

/// One gather on a quantised table in memory.
#[derive(Debug, Clone)]
pub struct QuantizedGather {
    /// The operator.
    pub op: Op,
    /// The rules.
    pub rules: Rules,
    /// What the codes mean.
    pub format: Format,
    /// The shape of the table, in elements.
    pub shape: Vec<usize>,
    pub(crate) codes: Codes,
    pub(crate) scales: Codes,
    pub(crate) zero_points: Codes,
    /// The type of the indices.
    pub index_type: IndexType,
    /// How the indices lie in their data.
    pub indices_layout: Layout,
    pub(crate) indices: Codes,
    /// The type of the output.
    pub to: FloatType,
}

/// Bytes, which are not printed.
#[derive(Clone)]
pub(crate) struct Codes(pub(crate) Vec<u8>);

impl fmt::Debug for Codes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl QuantizedGather {
    /// The table as the library takes it.
    ///
    /// # Panics
    ///
    /// If the format or the shape was changed, and the data does not fit them.
    pub fn table(&self) -> QuantizedTable<'_> {
        let [codes, scales, zero_points] =
            [&self.codes, &self.scales, &self.zero_points].map(|codes| &codes.0[..]);
        QuantizedTable::new(self.format, &self.shape, codes, scales, zero_points)
            .unwrap_or_else(|error| panic!("{self:?}: {error}"))
    }

    /// The indices as the library takes them.
    ///
    /// # Panics
    ///
    /// If their type or their layout was changed, and the data does not fit it.
    pub fn indices(&self) -> Indices<'_> {
        let layout = self.indices_layout.clone();
        Indices::new(&self.indices.0[..], self.index_type, layout).expect("indices that fit")
    }

    /// The call as the library takes it.
    pub fn call<'a>(
        &'a self,
        table: &'a QuantizedTable<'_>,
        indices: &'a Indices<'_>,
    ) -> QuantizedCall<'a> {
        QuantizedCall::new(self.op, &self.rules, table, indices, self.to)
    }

    /// Bytes of the table and of the output.
    ///
    /// # Errors
    ///
    /// The planner's.
    pub fn bytes(&self) -> Result<[usize; 2]> {
        let (table, indices) = (self.table(), self.indices());
        let plan = self.call(&table, &indices).plan()?;
        Ok([table.bytes(), plan.output_bytes()])
    }

    /// What `executor` makes of it, in a poisoned output.
    ///
    /// # Errors
    ///
    /// The executor's.
    pub async fn output(&self, executor: &Executor) -> Result<Vec<u8>> {
        let (table, indices) = (self.table(), self.indices());
        let call = self.call(&table, &indices);
        let mut output = poisoned(call.plan()?.output_shape(), self.to.bytes())?;
        executor.gather_quantized_bytes(call, &mut output).await?;
        Ok(output)
    }

    /// What is wrong with what `executor` makes of it; nothing, if that is what the reference makes.
    pub async fn difference(&self, executor: &Executor) -> Option<String> {
        let expected = self.output(&Executor::Reference).await;
        difference(expected, self.output(executor).await, |expected, got| {
            byte_difference(
                &[got.len() / self.to.bytes()],
                self.to.bytes(),
                expected,
                got,
            )
        })
    }
}
