//! Parts of the output, and what the reference gives there: no wrong kernel gets a time.

use std::ops::Range;

use anyhow::Result;
use wgpu_gather::{Executor, IndexType, Indices, Layout, Op, Params, Reduce};

use crate::bench::case::Scaled;
use crate::bench::inputs::Inputs;
use crate::bench::table::Table;

/// About how many elements one part has.
const ELEMENTS: usize = 1 << 16;

/// A part of the output.
pub(crate) struct Part {
    /// Which bytes of the output.
    pub(crate) range: Range<usize>,
    /// What they must be.
    pub(crate) bytes: Vec<u8>,
}

impl Part {
    /// Where `got`, the same bytes of the output, differ.
    pub(crate) fn difference(&self, got: &[u8]) -> Option<String> {
        let at = self.bytes.iter().zip(got).position(|(a, b)| a != b)?;
        Some(format!(
            "byte {} of the output is {:#04x}, but the reference gives {:#04x}",
            self.range.start + at,
            got[at],
            self.bytes[at]
        ))
    }
}

/// Parts at the start, in the middle and at the end. Along its first dim the output can be cut into
/// calls of their own.
pub(crate) fn parts(scaled: &Scaled, inputs: &Inputs) -> Result<Vec<Part>> {
    let reduce = scaled.case.verb.reduce();
    let (cut_params, cut_indices) = match reduce {
        Some(_) => (true, false),
        None => first_dim(scaled),
    };
    let rows = match cut_params || cut_indices {
        true => scaled.output_shape()[0],
        false => 1,
    };
    let row_bytes = scaled.output_bytes() / rows;
    let row_elements = row_bytes / scaled.case.dtype.bytes();
    let count = (ELEMENTS / row_elements).clamp(1, rows);
    let mut starts = vec![0, (rows - count) / 2, rows - count];
    starts.dedup();
    let part = |start: usize| {
        let case = &scaled.case;
        if let Some(reduce) = reduce {
            return scattered(scaled, inputs, reduce, start..start + count);
        }
        let (params_shape, params) = cut(cut_params, &case.params, &inputs.params, start, count);
        let (indices_shape, indices) =
            cut(cut_indices, &case.indices, &inputs.indices, start, count);
        let table = Table::new(case, &params_shape, params)?;
        let layout = Layout::contiguous(&indices_shape);
        let indices = Indices::new(indices, case.index_type, layout)?;
        let mut bytes = vec![0; count * row_bytes];
        table.read(
            &Executor::Reference,
            case,
            &scaled.rules,
            &indices,
            &mut bytes,
        )?;
        let first = start * row_bytes;
        let range = first..first + bytes.len();
        Ok(Part { range, bytes })
    };
    starts.into_iter().map(part).collect()
}

/// What the reference makes of some rows of params, out of the lookups that name them.
fn scattered(scaled: &Scaled, inputs: &Inputs, reduce: Reduce, rows: Range<usize>) -> Result<Part> {
    let Scaled { case, rules, .. } = scaled;
    let row_bytes = inputs.params.len() / case.params[0];
    let bytes = rows.start * row_bytes..rows.end * row_bytes;
    let (mut ids, mut updates) = (Vec::new(), Vec::new());
    let lookups = case.index_type.values(&inputs.indices);
    for (value, update) in lookups.zip(inputs.updates.chunks_exact(row_bytes)) {
        let row = rules.resolve(value, case.params[0]);
        if let Some(row) = row.filter(|row| rows.contains(row)) {
            ids.push((row - rows.start) as u64);
            updates.extend_from_slice(update);
        }
    }
    let with_first = |first: usize| {
        let mut shape = case.params.clone();
        shape[0] = first;
        shape
    };
    let layout = Layout::contiguous(&with_first(ids.len()));
    let updates = Params::new(&updates, case.dtype, layout)?;
    let layout = Layout::contiguous(&[ids.len()]);
    let ids: &[u8] = bytemuck::cast_slice(&ids);
    let indices = Indices::new(ids, IndexType::U64, layout)?;
    let mut part = inputs.params[bytes.clone()].to_vec();
    let (shape, reference) = (with_first(rows.len()), Executor::Reference);
    let call = reference.scatter_into(
        case.op, reduce, rules, &shape, &mut part, &indices, &updates,
    );
    call.wait()?;
    Ok(Part {
        range: bytes,
        bytes: part,
    })
}

/// Whether the first dim of the output is that of params, and whether it is that of indices.
fn first_dim(scaled: &Scaled) -> (bool, bool) {
    let (params, indices) = (scaled.case.params.len(), scaled.case.indices.len());
    let from_front = |n: isize, rank: usize| if n < 0 { n + rank as isize } else { n };
    match scaled.case.op {
        Op::Gather { axis, batch_dims } => {
            let batch_dims = from_front(batch_dims, indices);
            let axis = from_front(axis.unwrap_or(batch_dims), params);
            match (batch_dims > 0, axis > 0) {
                (true, _) => (true, true),
                (false, true) => (true, false),
                (false, false) => (false, indices > 0),
            }
        }
        Op::GatherNd { batch_dims } => (batch_dims != 0, indices > 1),
        Op::GatherElements { axis } => (from_front(axis, params) > 0, indices > 0),
        // One part: the whole output.
        _ => (false, false),
    }
}

/// `count` steps of the first dim of a tensor from `start` on, or all of it.
fn cut<'a>(
    cut: bool,
    shape: &[usize],
    bytes: &'a [u8],
    start: usize,
    count: usize,
) -> (Vec<usize>, &'a [u8]) {
    let mut shape = shape.to_vec();
    if !cut {
        return (shape, bytes);
    }
    let step = bytes.len() / shape[0];
    shape[0] = count;
    (shape, &bytes[start * step..(start + count) * step])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cases;
    use wgpu_gather::Rules;

    /// Each part is what the reference gives for the whole tensors, wherever the first dim is from.
    #[test]
    fn parts_are_parts_of_the_whole() {
        let names = [
            "beam-ids",
            "top-k",
            "dense-rows",
            "voxel",
            "pixels",
            "u8-rows-odd",
            "axis-1",
            "latency",
            "prompt-q8_0",
        ];
        for case in cases::all()
            .iter()
            .filter(|c| names.contains(&c.name.as_str()))
        {
            let scaled = case.scaled(4096, &Rules::default()).unwrap();
            let inputs = Inputs::new(&scaled).unwrap();
            let params = Table::new(case, &scaled.case.params, &inputs.params).unwrap();
            let indices = Layout::contiguous(&scaled.case.indices);
            let indices = Indices::new(inputs.indices.as_slice(), case.index_type, indices);
            let mut whole = vec![0; scaled.output_bytes()];
            let (reference, indices) = (Executor::Reference, indices.unwrap());
            params
                .read(&reference, case, &scaled.rules, &indices, &mut whole)
                .unwrap();
            for part in parts(&scaled, &inputs).unwrap() {
                let got = &mut whole[part.range.clone()];
                assert_eq!(part.difference(got), None, "{}", case.name);
                got[0] ^= 1;
                assert!(part.difference(got).is_some());
                got[0] ^= 1;
            }
        }
    }
}
