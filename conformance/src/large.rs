//! Scatters, gradients and pooled lookups of the sizes at which sums go wrong: many lookups, most of them of
//! few keys, in rows of one element to thousands.
//!
//! Made from a list of choices as the calls of [`call_from`](crate::call_from): the number 0 is the simplest
//! choice.

mod make;

use std::fmt;

use bytemuck::AnyBitPattern;
use bytemuck::allocation::pod_collect_to_vec;
use wgpu_gather::{
    DType, Executor, HasDType, Index, Layout, Reduce, Result, TensorView, with_index_type,
};

use crate::bag_call::Bag;
use crate::choices::Choices;
use crate::scatter_call::Scatter;
use make::{Size, bag, scatter};

/// A call in which much accumulates.
#[derive(Debug, Clone)]
pub enum LargeCall {
    /// A scatter over a destination.
    Scatter(Scatter),
    /// The gradient of a gather: a scatter that adds to zeros.
    Gradient(Scatter),
    /// A pooled lookup.
    Bag(Bag),
}

impl LargeCall {
    /// The call that these choices make, of one of these types.
    pub fn of(choices: &[u32], dtypes: &[DType]) -> Self {
        let mut choices = Choices::new(choices);
        let kind = choices.below(5);
        let size = Size::of(&mut choices, dtypes);
        match kind {
            0 | 1 => LargeCall::Scatter(scatter(&mut choices, &size, None)),
            2 => {
                let mut gradient = scatter(&mut choices, &size, Some(Reduce::Add));
                gradient.base.fill(0);
                LargeCall::Gradient(gradient)
            }
            _ => LargeCall::Bag(bag(&mut choices, &size)),
        }
    }

    /// What is wrong with what `executor` makes of it; nothing, if that is what the reference makes.
    pub fn difference(&self, executor: &Executor) -> Option<String> {
        match self {
            LargeCall::Scatter(scatter) => scatter.difference(executor),
            LargeCall::Gradient(scatter) => scatter.compare(gradient(scatter, executor)),
            LargeCall::Bag(bag) => bag.difference(executor),
        }
    }

    /// The indices, and what they are looked up in.
    fn lookups(&self) -> (&Layout, &Layout) {
        match self {
            LargeCall::Scatter(s) | LargeCall::Gradient(s) => {
                (&s.call.indices_layout, &s.call.params_layout)
            }
            LargeCall::Bag(bag) => (&bag.indices.layout, &bag.params.layout),
        }
    }

    /// How many indices there are.
    pub fn indices(&self) -> usize {
        self.lookups().0.shape().iter().product()
    }
}

/// In one line, without the data.
impl fmt::Display for LargeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (indices, params) = self.lookups();
        let shapes = (indices.shape(), params.shape());
        match self {
            LargeCall::Scatter(s) => {
                write!(f, "{}, reduce = {}, {}", s.call.op, s.reduce, s.dtype)?;
                write!(f, ", updates {:?}, {}", s.updates_layout, s.call.rules)
            }
            LargeCall::Gradient(s) => {
                write!(f, "gradient of {}, {}", s.call.op, s.dtype)?;
                write!(f, ", updates {:?}, {}", s.updates_layout, s.call.rules)
            }
            LargeCall::Bag(bag) => {
                let bags = bag.offsets.as_ref().map(|(offsets, _)| offsets.len());
                let weights = if bag.weights.is_some() {
                    ", weights"
                } else {
                    ""
                };
                write!(f, "embedding_bag, mode = {}, {}", bag.mode, bag.dtype)?;
                write!(
                    f,
                    ", offsets of {bags:?} bags{weights}, padding {:?}",
                    bag.padding
                )?;
                write!(f, ", {}", bag.rules)
            }
        }?;
        write!(f, ", indices {:?}, params {:?}", shapes.0, shapes.1)
    }
}

/// What `executor` makes of a gradient: for types of Rust's own by the call for it.
fn gradient(scatter: &Scatter, executor: &Executor) -> Result<Vec<u8>> {
    match scatter.dtype {
        DType::F32 => gradient_of::<f32>(scatter, executor),
        DType::I32 => gradient_of::<i32>(scatter, executor),
        DType::U64 => gradient_of::<u64>(scatter, executor),
        DType::F64 => gradient_of::<f64>(scatter, executor),
        _ => scatter.run(executor),
    }
}

fn gradient_of<T: HasDType + AnyBitPattern>(
    scatter: &Scatter,
    executor: &Executor,
) -> Result<Vec<u8>> {
    with_index_type!(scatter.call.index_type, I => gradient_by::<T, I>(scatter, executor))
}

fn gradient_by<T: HasDType + AnyBitPattern, I: Index + AnyBitPattern>(
    scatter: &Scatter,
    executor: &Executor,
) -> Result<Vec<u8>> {
    let call = &scatter.call;
    let updates: Vec<T> = pod_collect_to_vec(&scatter.updates);
    let indices: Vec<I> = pod_collect_to_vec(&call.indices);
    let indices = TensorView::strided(call.indices_layout.clone(), &indices)?;
    let updates = TensorView::strided(scatter.updates_layout.clone(), &updates)?;
    let gradient = executor.gather_gradient(
        call.op,
        &call.rules,
        call.params_layout.shape(),
        &indices,
        &updates,
    );
    let gradient = gradient.wait()?;
    Ok(bytemuck::cast_slice(gradient.data()).to_vec())
}
