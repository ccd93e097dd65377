//! What is said of a pooled lookup.

use anyhow::{Result, ensure};
use wgpu_gather::quantized::{BlockFormat, FloatType, QuantizedTable};
use wgpu_gather::{
    AnyTable, BagExplanation, BagMode, Bags, DType, Executor, Indices, Layout, Params, Role, Tensor,
};

use crate::bag;
use crate::bench::case::addressable;
use crate::explain::args::ExplainArgs;
use crate::named::Named;
use crate::rules;

/// The bytes of the one element that stands for all elements of a tensor: its dims have a stride of 0, so
/// that a tensor of any size takes no memory.
const ONE: [u8; 16] = [0; 16];

/// Explains a pooled lookup of random rows.
pub(super) fn explained(args: &ExplainArgs) -> Result<BagExplanation> {
    let shape = &args.shape;
    let rules = rules::resolve(&args.rules, shape.dtype)?;
    addressable(Role::Params, &shape.params_shape, shape.dtype.bytes())?;
    addressable(
        Role::Indices,
        &shape.indices_shape,
        shape.index_type.bytes(),
    )?;
    let row = match shape.format {
        Some(format) => Some((format, one_row(format, shape.dtype, &shape.params_shape)?)),
        None => None,
    };
    let quantized = match &row {
        Some((format, (row_shape, bytes))) => {
            Some(QuantizedTable::blocks(*format, row_shape, bytes.data())?)
        }
        None => None,
    };
    let table = match &quantized {
        Some(table) => AnyTable::Quantized(table, FloatType::F32),
        None => {
            let element = &ONE[..shape.dtype.bytes()];
            let layout = of_one_element(&shape.params_shape)?;
            AnyTable::Plain(Params::new(element, shape.dtype, layout)?)
        }
    };
    let index_type = shape.index_type;
    let index = &ONE[..index_type.bytes()];
    let indices = Indices::new(index, index_type, of_one_element(&shape.indices_shape)?)?;
    let offsets = args.offsets.as_ref();
    let offsets = offsets.map(|at| bag::read_offsets(&Named::parse_integers("offsets", at)?));
    let offsets = offsets.transpose()?;
    let mode = args.mode.unwrap_or(BagMode::Sum);
    let bags = match &offsets {
        Some(offsets) => Bags::offsets(mode, offsets),
        None => Bags::rows(mode),
    };
    let call = Executor::Cpu.embedding_bag(bags, &rules, &table, &indices);
    Ok(call.explain()?)
}

fn of_one_element(shape: &[usize]) -> Result<Layout> {
    Ok(Layout::strided(shape, &vec![0; shape.len()], 0)?)
}

/// The shape and the bytes of a quantised table of one row, where there are rows: what is said of a lookup
/// does not depend on how many.
fn one_row(format: BlockFormat, dtype: DType, shape: &[usize]) -> Result<(Vec<usize>, Tensor<u8>)> {
    ensure!(
        dtype == DType::F32,
        "embedding_bag: --dtype {dtype}, but rows in {format} are decoded to f32 (allowed: f32)"
    );
    let mut shape = shape.to_vec();
    if let Some(rows) = shape.first_mut() {
        *rows = 1.min(*rows);
    }
    // As addressable as the table; blocks take fewer bytes than the f32 that they are decoded to.
    let elements = Layout::checked_elements(&shape).unwrap_or(0);
    let bytes = elements / format.block_elements() * format.block_bytes();
    Ok((shape, Tensor::zeros(&[bytes])?))
}
