//! Pooled lookups of any shapes, strides and offsets: planning never panics, and small ones give on the
//! CPU executor what they give on the reference.

#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use wgpu_gather::{
    BagMode, Bags, DType, Executor, IndexType, Indices, Layout, Params, Result, Rules,
};

#[allow(dead_code, reason = "other targets use the rest")]
mod any;

use any::{SMALL, View, data, index_bytes, index_values, rules, signed, size, view};

#[derive(Debug)]
struct Input {
    mode: BagMode,
    /// Offsets, and whether the end of the last bag is among them.
    offsets: Option<(Vec<usize>, bool)>,
    padding: Option<isize>,
    rules: Rules,
    dtype: DType,
    params: View,
    index_type: IndexType,
    indices: View,
    index_values: Vec<i64>,
    weights: Option<View>,
    seed: u8,
}

fuzz_target!(|input: Input| {
    // What is no view of its data, or of too much, is an error before there is a call.
    let _: Result<()> = input.with_operands(|bags, params, indices, weights| {
        let call = |executor: Executor| {
            let call = executor.embedding_bag(bags, &input.rules, params, indices);
            match weights {
                Some(weights) => call.weights(weights),
                None => call,
            }
        };
        match call(Executor::Cpu).explain() {
            Ok(explanation) => assert!(!explanation.to_string().is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
        read_offsets(indices);
        let few = |shape: &[usize]| Layout::checked_elements(shape).is_some_and(|n| n <= SMALL);
        let shape = call(Executor::Cpu).output_shape().unwrap_or_default();
        if few(&shape) && few(indices.layout().shape()) {
            let run = |executor: Executor| {
                let elements = Layout::checked_elements(&shape).unwrap_or(0);
                let mut output = vec![0xa5; elements * input.dtype.bytes()];
                let made = call(executor).into(&mut output).wait();
                made.map(|()| output)
            };
            assert_eq!(run(Executor::Cpu), run(Executor::Reference));
        }
        Ok(())
    });
});

/// Indices as offsets: as many as there are, or an error.
fn read_offsets(offsets: &Indices<'_>) {
    let count = offsets.layout().shape().first().copied().unwrap_or(0);
    // In between, they could be had, and would take all memory.
    if (SMALL..1 << 50).contains(&count) {
        return;
    }
    match Bags::read_offsets(offsets) {
        Ok(read) => assert_eq!(read.len(), count),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

impl Input {
    /// Lends the operands of the call, unless a view needs too much data.
    fn with_operands(
        &self,
        take: impl FnOnce(Bags<'_>, &Params<'_>, &Indices<'_>, Option<&Params<'_>>) -> Result<()>,
    ) -> Result<()> {
        let dtype = self.dtype;
        let (Some(params_len), Some(indices_len)) = (self.params.len(), self.indices.len()) else {
            return Ok(());
        };
        let params = data(dtype, params_len, self.seed);
        let params = Params::new(&params, dtype, self.params.layout()?)?;
        let bytes = index_bytes(&self.index_values, self.index_type, indices_len);
        let indices = Indices::new(bytes, self.index_type, self.indices.layout()?)?;
        let weights_len = self.weights.as_ref().map_or(Some(0), View::len);
        let weights_data = data(dtype, weights_len.unwrap_or(0), !self.seed);
        let weights = self.weights.as_ref();
        let weights = weights.map(|w| Params::new(&weights_data, dtype, w.layout()?));
        let bags = match &self.offsets {
            None => Bags::rows(self.mode),
            Some((offsets, false)) => Bags::offsets(self.mode, offsets),
            Some((offsets, true)) => Bags::offsets_with_last(self.mode, offsets),
        };
        let bags = self.padding.map_or(bags, |p| bags.with_padding_index(p));
        take(bags, &params, &indices, weights.transpose()?.as_ref())
    }
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let dtype = *u.choose(&DType::ALL)?;
        let rank = u.int_in_range(0..=3)?;
        let row: arbitrary::Result<Vec<usize>> = (0..rank).map(|_| size(u)).collect();
        let params = View::of(u, row?)?;
        let by_rows = u.arbitrary()?;
        let rank = if u.ratio(1, 20)? {
            3
        } else {
            1 + usize::from(by_rows)
        };
        let shape: arbitrary::Result<Vec<usize>> = (0..rank).map(|_| size(u)).collect();
        let shape = shape?;
        let offsets = match by_rows {
            true => None,
            false => Some((offsets(u, shape[0])?, u.arbitrary()?)),
        };
        let weights = match u.ratio(1, 3)? {
            true if u.ratio(1, 20)? => Some(view(u, &[])?),
            true => Some(View::of(u, shape.clone())?),
            false => None,
        };
        Ok(Input {
            mode: *u.choose(&BagMode::ALL)?,
            offsets,
            padding: if u.arbitrary()? {
                Some(signed(u)?)
            } else {
                None
            },
            rules: rules(u, dtype.bytes())?,
            dtype,
            params,
            index_type: *u.choose(&IndexType::ALL)?,
            indices: View::of(u, shape)?,
            index_values: index_values(u)?,
            weights,
            seed: u.arbitrary()?,
        })
    }
}

/// Where bags start in so many indices: mostly from 0 upwards.
fn offsets(u: &mut Unstructured<'_>, indices: usize) -> arbitrary::Result<Vec<usize>> {
    let count = u.int_in_range(0..=6)?;
    let mut offsets = Vec::new();
    for n in 0..count {
        offsets.push(match u.int_in_range(0..=15u8)? {
            0 => size(u)?,
            _ if n == 0 => 0,
            1..=3 => indices,
            _ => u.int_in_range(0..=indices)?,
        });
    }
    if !u.ratio(1, 10)? {
        offsets.sort_unstable();
    }
    Ok(offsets)
}
