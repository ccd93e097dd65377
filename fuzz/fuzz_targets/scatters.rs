//! Scatters of any shapes, strides and attributes: planning never panics, and small ones leave on the
//! CPU executor what they leave on the reference.

#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use wgpu_gather::{
    DType, Executor, IndexType, Indices, Layout, Op, Params, Reduce, Result, Rules, ScatterLayouts,
    ScatterPlan,
};

#[allow(dead_code, reason = "other targets use the rest")]
mod any;

use any::{SMALL, View, data, index_bytes, index_values, op, rules, size, view};

#[derive(Debug)]
struct Input {
    op: Op,
    reduce: Reduce,
    rules: Rules,
    dtype: DType,
    destination: Vec<usize>,
    index_type: IndexType,
    indices: View,
    index_values: Vec<i64>,
    updates: View,
    seed: u8,
}

fuzz_target!(|input: Input| {
    let (Ok(indices), Ok(updates)) = (input.indices.layout(), input.updates.layout()) else {
        return; // not one stride per dim
    };
    let plan = ScatterPlan::new(
        input.op,
        input.reduce,
        &input.rules,
        ScatterLayouts {
            dtype: input.dtype,
            destination: &Layout::contiguous(&input.destination),
            index_type: input.index_type,
            indices: &indices,
            updates: &updates,
        },
    );
    match plan {
        Ok(plan) => assert!(!plan.explain().to_string().is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let elements = [
        &input.destination,
        &input.indices.shape,
        &input.updates.shape,
    ];
    let elements = elements.map(|shape| Layout::checked_elements(shape));
    if elements.iter().all(|n| n.is_some_and(|n| n <= SMALL)) {
        let [expected, got] =
            [Executor::Reference, Executor::Cpu].map(|executor| input.run(&executor));
        assert_eq!(got, expected);
    }
});

impl Input {
    /// What `executor` leaves in the destination; nothing, if the views need too much data.
    fn run(&self, executor: &Executor) -> Result<Option<Vec<u8>>> {
        let (Some(indices_len), Some(updates_len)) = (self.indices.len(), self.updates.len())
        else {
            return Ok(None);
        };
        let bytes = index_bytes(&self.index_values, self.index_type, indices_len);
        let indices = Indices::new(bytes, self.index_type, self.indices.layout()?)?;
        let updates = data(self.dtype, updates_len, self.seed);
        let updates = Params::new(&updates, self.dtype, self.updates.layout()?)?;
        let elements = Layout::checked_elements(&self.destination).unwrap_or(0);
        let mut destination = data(self.dtype, elements, !self.seed);
        let (shape, written) = (&self.destination, &mut destination);
        executor
            .scatter_into(
                self.op,
                self.reduce,
                &self.rules,
                shape,
                written,
                &indices,
                &updates,
            )
            .wait()?;
        Ok(Some(destination))
    }
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let dtype = *u.choose(&DType::ALL)?;
        let rank = u.int_in_range(0..=5)?;
        let destination: arbitrary::Result<Vec<usize>> = (0..rank).map(|_| size(u)).collect();
        let destination = destination?;
        let shared = u.int_in_range(0..=rank)?;
        let indices = view(u, &destination[..shared])?;
        let (op, rules) = (op(u)?, rules(u, dtype.bytes())?);
        // Mostly the shape that updates must have.
        let updates = match op.output_shape(&destination, &indices.shape, &rules) {
            Ok(shape) if !u.ratio(1, 20)? => View::of(u, shape)?,
            _ => view(u, &[])?,
        };
        Ok(Input {
            op,
            reduce: *u.choose(&Reduce::ALL)?,
            rules,
            dtype,
            destination,
            index_type: *u.choose(&IndexType::ALL)?,
            indices,
            index_values: index_values(u)?,
            updates,
            seed: u.arbitrary()?,
        })
    }
}
