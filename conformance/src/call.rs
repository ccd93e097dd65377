//! A call in bytes, checked against the reference: the same output bit for bit, or the same error.

use std::fmt;

use wgpu_gather::{Executor, IndexType, Indices, Layout, Op, Params, Plan, Result, Rules};

use crate::output::{byte_difference, difference, poisoned};
use crate::report::Outcome;

/// One call on tensors in memory, with any layout.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// The operator.
    pub op: Op,
    /// The rules.
    pub rules: Rules,
    /// Bytes of one element of params.
    pub element_bytes: usize,
    /// The data of params.
    pub params: Vec<u8>,
    /// How params lies in its data.
    pub params_layout: Layout,
    /// The type of the indices.
    pub index_type: IndexType,
    /// The data of indices.
    pub indices: Vec<u8>,
    /// How indices lies in its data.
    pub indices_layout: Layout,
}

/// Shapes and values of the indices, without the data of params.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("op", &self.op)
            .field("rules", &self.rules)
            .field("element_bytes", &self.element_bytes)
            .field("params", &self.params_layout)
            .field("index_type", &self.index_type)
            .field("indices", &self.indices_layout)
            .field("index_values", &self.index_values())
            .finish()
    }
}

impl Call {
    /// The output of `executor`, from a poisoned buffer.
    ///
    /// # Errors
    ///
    /// The executor's.
    pub async fn output(&self, executor: &Executor) -> Result<Vec<u8>> {
        let (params, indices) = (self.params()?, self.indices()?);
        let mut output = self.poisoned()?;
        let call = executor.gather(self.op, &self.rules, &params, &indices);
        call.into(&mut output).await?;
        Ok(output)
    }

    /// The output of the reference, which waits for nothing.
    fn expected(&self) -> Result<Vec<u8>> {
        pollster::block_on(self.output(&Executor::Reference))
    }

    /// Params as the executors take them.
    ///
    /// # Errors
    ///
    /// As [`Params::new`].
    pub fn params(&self) -> Result<Params<'_>> {
        Params::new(&self.params, self.element_bytes, self.params_layout.clone())
    }

    /// Indices as the executors take them.
    ///
    /// # Errors
    ///
    /// As [`Indices::new`].
    pub fn indices(&self) -> Result<Indices<'_>> {
        let layout = self.indices_layout.clone();
        Indices::new(self.indices.as_slice(), self.index_type, layout)
    }

    /// The plan of the call.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`].
    pub fn plan(&self) -> Result<Plan> {
        Plan::of(self.op, &self.rules, &self.params()?, &self.indices()?)
    }

    /// The values of the indices, in the order in which they lie in memory.
    pub fn index_values(&self) -> Vec<i128> {
        self.index_type.values(&self.indices).collect()
    }

    fn poisoned(&self) -> Result<Vec<u8>> {
        poisoned(&self.output_shape()?, self.element_bytes)
    }

    /// The shape of the output.
    ///
    /// # Errors
    ///
    /// As [`Op::output_shape`].
    pub fn output_shape(&self) -> Result<Vec<usize>> {
        let (params, indices) = (self.params_layout.shape(), self.indices_layout.shape());
        self.op.output_shape(params, indices, &self.rules)
    }
}

/// Runs `call` on `executor` and on the reference.
pub async fn check_call(call: &Call, executor: &Executor) -> Outcome {
    compare(call, call.output(executor).await)
}

/// Compares what came of `call` with what the reference makes of it: the same bits, or the same
/// error.
pub fn compare(call: &Call, got: Result<Vec<u8>>) -> Outcome {
    let differs = difference(call.expected(), got, |expected, got| {
        let shape = call.output_shape().unwrap_or_default();
        byte_difference(&shape, call.element_bytes, expected, got)
    });
    differs.map_or(Outcome::Passed, Outcome::Failed)
}
