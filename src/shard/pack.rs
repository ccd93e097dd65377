//! The elements of a tensor row-major, without gaps.

use std::borrow::Cow;

use crate::cpu;
use crate::error::{Result, Role};
use crate::index::IndexType;
use crate::memory::zeroed_bits;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::plan::Plan;
use crate::rules::Rules;
use crate::shape::{Layout, elements};

/// The elements as they lie, or gathered by an index tuple of no coordinates, which selects the whole
/// tensor. `bytes` are data that `layout` lies within.
pub(super) fn packed<'a>(
    role: Role,
    bytes: &'a [u8],
    width: usize,
    layout: &Layout,
) -> Result<Cow<'a, [u8]>> {
    let len = elements(role, layout.shape(), width)? * width;
    if len == 0 {
        return Ok(Cow::Borrowed(&[]));
    }
    if layout.is_contiguous() {
        return Ok(Cow::Borrowed(&bytes[layout.offset() * width..][..len]));
    }
    let params = Params::new(bytes, width, layout.clone())?;
    let nothing = Indices::new(&[][..], IndexType::I32, Layout::contiguous(&[0]))?;
    let plan = Plan::of(Op::gather_nd(), &Rules::default(), &params, &nothing)?;
    let mut made = zeroed_bits::<u8>(role, len)?;
    cpu::parallel::execute(&plan, &params, &nothing, &mut made)?;
    Ok(Cow::Owned(made))
}
