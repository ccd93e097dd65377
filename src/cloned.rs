//! Values that are not plain old data, such as strings: gathers their positions, then clones the values
//! found there.

use crate::error::Result;
use crate::index::Index;
use crate::op::Op;
use crate::rules::{Fill, OutOfBounds, Rules};
use crate::tensor::{Tensor, TensorView};
use crate::{call, cpu, table};

/// What a bad index gives where it is to give the default: a position that no value has.
const NO_POSITION: u64 = u64::MAX;

/// Gathers values that are not plain old data, such as strings, on the CPU: gathers their positions, and
/// clones the values found there. A bad index gives `default` (under [`OutOfBounds::Zero`] and
/// [`OutOfBounds::Fill`] alike).
///
/// ```
/// use wgpu_gather::{Op, Rules, Tensor, gather_cloned};
///
/// let words = Tensor::new(&[3], ["zero", "one", "two"].map(String::from).to_vec())?;
/// let ids = Tensor::new(&[3], vec![2u8, 9, 0])?;
/// let found = gather_cloned(
///     Op::gather(0), &Rules::default(), &words.view(), &ids.view(), &String::new(),
/// )?;
/// assert_eq!(found.data(), ["two", "", "zero"]);
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
///
/// # Errors
///
/// Shapes, attributes or rules that do not fit, and bad indices under rules that make them an error: those of
/// [`Executor::gather`](crate::Executor::gather).
pub fn gather_cloned<S: Clone, I: Index>(
    op: Op,
    rules: &Rules,
    params: &TensorView<'_, S>,
    indices: &TensorView<'_, I>,
    default: &S,
) -> Result<Tensor<S>> {
    let data = params.data();
    let positions: Vec<u64> = (0..data.len() as u64).collect();
    let positions = TensorView::strided(params.layout().clone(), &positions)?;
    let out_of_bounds = match &rules.out_of_bounds {
        OutOfBounds::Zero | OutOfBounds::Fill(_) => OutOfBounds::Fill(Fill::new(NO_POSITION)),
        other => other.clone(),
    };
    let call = call::Gather {
        op,
        rules: &rules.clone().with_out_of_bounds(out_of_bounds),
        table: table::sealed::AsTable::operand(&positions)?,
        indices: table::sealed::AsIndices::indices(indices)?,
    };
    let found = cpu::gather::gathered::<u64>(&call, &call.plan()?)?;
    let value = |at: u64| match at {
        NO_POSITION => default.clone(),
        at => data[at as usize].clone(),
    };
    Tensor::new(
        &call.output_shape()?,
        found.into_iter().map(value).collect(),
    )
}
