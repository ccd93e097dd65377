//! Random scatters.

use wgpu_gather::{DType, Fill, Layout, OutOfBounds, Reduce};

use super::call_from;
use crate::builtin::SplitMix;
use crate::scatter_call::Scatter;
use crate::values::values;

/// A random scatter of one of these types: a gather of random numbers with its operands exchanged. `None`, if
/// the shapes do not fit.
pub fn random_scatter(random: &mut SplitMix, dtypes: &[DType]) -> Option<Scatter> {
    let choices: Vec<u32> = (0..120).map(|_| random.draw() as u32).collect();
    let mut call = call_from(&choices);
    let mut below = |n: usize| random.draw() as usize % n;
    let dtype = dtypes[below(dtypes.len())];
    let reduce = Reduce::ALL[below(5)];
    let shape = call.params_layout.shape().to_vec();
    call.params_layout = Layout::contiguous(&shape);
    call.element_bytes = dtype.bytes();
    if let OutOfBounds::Fill(_) = call.rules.out_of_bounds {
        let value = Fill::from_bytes(&vec![7; dtype.bytes()]);
        call.rules.out_of_bounds = OutOfBounds::Fill(value);
    }
    let updates_shape = call.output_shape().ok()?;
    let count: usize = updates_shape.iter().product();
    let elements: usize = shape.iter().product();
    if count > 1 << 14 || elements > 1 << 16 {
        return None;
    }
    let (updates_layout, reached) = some_layout(below(4), &updates_shape, count);
    Some(Scatter {
        base: values(dtype, elements, below(1 << 30) as u64),
        updates: values(dtype, reached, below(1 << 30) as u64),
        call,
        reduce,
        dtype,
        updates_layout,
    })
}

/// A layout of this shape, and how many elements it reaches.
fn some_layout(kind: usize, shape: &[usize], count: usize) -> (Layout, usize) {
    let usual = Layout::contiguous(shape);
    let strided =
        |strides: &[isize], offset| Layout::strided(shape, strides, offset).expect("a layout");
    match kind {
        // the dims the other way round in memory
        0 => {
            let reversed: Vec<usize> = shape.iter().rev().copied().collect();
            let mut strides = Layout::contiguous(&reversed).strides().to_vec();
            strides.reverse();
            (strided(&strides, 0), count)
        }
        // with gaps
        1 => {
            let strides: Vec<isize> = usual.strides().iter().map(|s| 2 * s).collect();
            (strided(&strides, 1), 2 * count + 1)
        }
        _ => (usual, count),
    }
}
