//! A gather from a quantised table, in bytes, checked against the reference.

use std::fmt;

use wgpu_gather::quantized::{FloatType, Format, QuantizedTable};
use wgpu_gather::{Executor, IndexType, Indices, Layout, Op, Plan, Result, Rules};

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

    /// The plan of the call.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`].
    pub fn plan(&self) -> Result<Plan> {
        let table = self.table();
        let (decoded, indices) = (table.to_type(self.to), self.indices());
        Executor::Cpu
            .gather(self.op, &self.rules, &decoded, &indices)
            .plan()
    }

    /// Bytes of the table and of the output.
    ///
    /// # Errors
    ///
    /// The planner's.
    pub fn bytes(&self) -> Result<[usize; 2]> {
        Ok([self.table().bytes(), self.plan()?.output_bytes()])
    }

    /// What `executor` makes of it, in a poisoned output.
    ///
    /// # Errors
    ///
    /// The executor's.
    pub async fn output(&self, executor: &Executor) -> Result<Vec<u8>> {
        let mut output = poisoned(self.plan()?.output_shape(), self.to.bytes())?;
        let table = self.table();
        let (decoded, indices) = (table.to_type(self.to), self.indices());
        let call = executor.gather(self.op, &self.rules, &decoded, &indices);
        call.into(&mut output).await?;
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
