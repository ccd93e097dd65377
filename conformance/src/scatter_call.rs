//! A scatter in bytes, checked against the reference.

use std::fmt;

use wgpu_gather::{DType, Executor, Layout, Params, Reduce, Result};

use crate::call::Call;
use crate::output::{byte_difference, difference};

/// One scatter on tensors in memory.
#[derive(Clone)]
pub struct Scatter {
    /// The operator, the rules and the indices. Its params are the destination, of which the shape counts.
    pub call: Call,
    /// How updates that meet are combined.
    pub reduce: Reduce,
    /// The type of the elements.
    pub dtype: DType,
    /// The destination before the scatter, row-major.
    pub base: Vec<u8>,
    /// The data of the updates.
    pub updates: Vec<u8>,
    /// How the updates lie in their data.
    pub updates_layout: Layout,
}

/// Without the data of destination and updates.
impl fmt::Debug for Scatter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scatter")
            .field("call", &self.call)
            .field("reduce", &self.reduce)
            .field("dtype", &self.dtype)
            .field("updates", &self.updates_layout)
            .finish()
    }
}

impl Scatter {
    /// What `executor` leaves in the destination.
    ///
    /// # Errors
    ///
    /// The executor's.
    pub fn run(&self, executor: &Executor) -> Result<Vec<u8>> {
        pollster::block_on(self.output(executor))
    }

    /// [`Scatter::run`] where nothing may block.
    ///
    /// # Errors
    ///
    /// The executor's.
    pub async fn output(&self, executor: &Executor) -> Result<Vec<u8>> {
        let updates = Params::new(&self.updates, self.dtype, self.updates_layout.clone())?;
        let indices = self.call.indices()?;
        let mut destination = self.base.clone();
        let (op, rules) = (self.call.op, &self.call.rules);
        let shape = self.call.params_layout.shape();
        executor
            .scatter_into(
                op,
                self.reduce,
                rules,
                shape,
                &mut destination,
                &indices,
                &updates,
            )
            .await?;
        Ok(destination)
    }

    /// What is wrong with what `executor` makes of it; nothing, if that is what the reference makes.
    pub fn difference(&self, executor: &Executor) -> Option<String> {
        self.compare(self.run(executor))
    }

    /// What is wrong with that, which should be what the reference makes.
    pub fn compare(&self, got: Result<Vec<u8>>) -> Option<String> {
        self.compare_to(self.run(&Executor::Reference), got)
    }

    /// The same where it is known what the reference makes.
    pub fn compare_to(&self, expected: Result<Vec<u8>>, got: Result<Vec<u8>>) -> Option<String> {
        difference(expected, got, |expected, got| {
            let shape = self.call.params_layout.shape();
            byte_difference(shape, self.dtype.bytes(), expected, got)
        })
    }
}
