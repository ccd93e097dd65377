//! The elements of a tensor row-major, without gaps: where they lie, or in a copy.

use std::borrow::Cow;

use crate::cpu;
use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::index::IndexType;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::plan::Plan;
use crate::rules::Rules;
use crate::shape::{Layout, elements};

/// The bytes of a tensor, if they lie there as in a contiguous one; not those of one without elements.
pub(crate) fn contiguous<'a>(tensor: &Params<'a>) -> Option<&'a [u8]> {
    let (layout, width) = (tensor.layout(), tensor.element_bytes());
    if layout.is_empty() || !layout.is_contiguous() {
        return None;
    }
    let len = layout.shape().iter().product::<usize>() * width;
    Some(&tensor.bytes()[layout.offset() * width..][..len])
}

/// The elements in fresh memory. Errors about that call it the output.
pub(crate) fn copied<T: Element>(tensor: &Params<'_>) -> Result<Vec<T::Bits>> {
    if tensor.layout().is_empty() {
        return Ok(Vec::new());
    }
    // An index tuple of no coordinates selects all of params, which need a dim.
    let layout = tensor.layout().at_least_1d().into_owned();
    let params = Params::new(tensor.bytes(), tensor.element_type(), layout)?;
    let nothing = Indices::new(&[][..], IndexType::I32, Layout::contiguous(&[0]))?;
    let plan = Plan::of(Op::gather_nd(), &Rules::default(), &params, &nothing)?;
    cpu::gather::plain::gathered::<T>(&plan, &params, &nothing)
}

/// The bytes of a tensor that errors call `role`.
pub(crate) fn packed<'a>(role: Role, tensor: &Params<'a>) -> Result<Cow<'a, [u8]>> {
    if let Some(bytes) = contiguous(tensor) {
        return Ok(Cow::Borrowed(bytes));
    }
    elements(role, tensor.layout().shape(), tensor.element_bytes())?;
    let made = copied::<u8>(tensor).map(Cow::Owned);
    made.map_err(|error| match error {
        Error::HostOutOfMemory { bytes, .. } => Error::HostOutOfMemory { role, bytes },
        other => other,
    })
}
