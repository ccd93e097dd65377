//! Sizes, views, operators and rules of any kind, from the bytes of an input: mostly small and sensible.

use libfuzzer_sys::arbitrary::{self, Unstructured};
use wgpu_gather::{
    DType, ElementsShapes, Fill, IndexType, Layout, Negative, Op, OutOfBounds, Rules,
};

/// What is small enough to be executed, in elements.
pub(crate) const SMALL: usize = 4096;

#[derive(Debug)]
pub(crate) struct View {
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<isize>,
    pub(crate) offset: usize,
}

impl View {
    /// A view of this shape: row-major, the same element everywhere, or with any strides.
    pub(crate) fn of(u: &mut Unstructured<'_>, shape: Vec<usize>) -> arbitrary::Result<View> {
        let usual = Layout::contiguous(&shape).strides().to_vec();
        let strides: arbitrary::Result<Vec<isize>> = match u.int_in_range(0..=7u8)? {
            0 => shape.iter().map(|_| signed(u)).collect(),
            1 => Ok(vec![0; shape.len()]),
            2 => usual.iter().map(|s| Ok(s.wrapping_mul(2))).collect(),
            _ => Ok(usual),
        };
        Ok(View {
            strides: strides?,
            offset: if u.ratio(1, 4)? { size(u)? } else { 0 },
            shape,
        })
    }

    pub(crate) fn layout(&self) -> wgpu_gather::Result<Layout> {
        Layout::strided(&self.shape, &self.strides, self.offset)
    }

    /// How many elements of data the view needs, if that is a small number.
    pub(crate) fn len(&self) -> Option<usize> {
        if self.shape.contains(&0) {
            return Some(0);
        }
        let mut first = self.offset as i128;
        let mut last = first;
        for (&dim, &stride) in self.shape.iter().zip(&self.strides) {
            let span = (dim as i128 - 1).checked_mul(stride as i128)?;
            let end = if span < 0 { &mut first } else { &mut last };
            *end = end.checked_add(span)?;
        }
        (first >= 0 && last < SMALL as i128).then(|| last as usize + 1)
    }
}

/// Mostly small; else at an edge, or anything.
pub(crate) fn size(u: &mut Unstructured<'_>) -> arbitrary::Result<usize> {
    const EDGES: [usize; 10] = [
        1 << 15,
        1 << 16,
        (1 << 31) - 1,
        1 << 31,
        1 << 32,
        (1 << 32) + 1,
        isize::MAX as usize,
        1 << 63,
        usize::MAX - 1,
        usize::MAX,
    ];
    Ok(match u.int_in_range(0..=15u8)? {
        0 => *u.choose(&EDGES)?,
        1 => u.arbitrary()?,
        2 => u.arbitrary::<u16>()?.into(),
        3..=5 => u.int_in_range(0..=20)?,
        _ => u.int_in_range(0..=5)?,
    })
}

pub(crate) fn signed(u: &mut Unstructured<'_>) -> arbitrary::Result<isize> {
    let size = size(u)? as isize;
    Ok(if u.ratio(1, 3)? {
        size.wrapping_neg()
    } else {
        size
    })
}

pub(crate) fn view(u: &mut Unstructured<'_>, shared: &[usize]) -> arbitrary::Result<View> {
    let mut shape = shared.to_vec();
    let most = if u.ratio(1, 50)? { 70 } else { 5 };
    for _ in 0..u.int_in_range(0..=most)? {
        shape.push(size(u)?);
    }
    if u.arbitrary()? {
        let usual = Layout::contiguous(&shape);
        return Ok(View {
            strides: usual.strides().to_vec(),
            offset: if u.ratio(1, 4)? { size(u)? } else { 0 },
            shape,
        });
    }
    let rank = shape.len();
    let rank = if u.ratio(1, 50)? { rank + 1 } else { rank };
    let strides: arbitrary::Result<Vec<isize>> = (0..rank).map(|_| signed(u)).collect();
    Ok(View {
        strides: strides?,
        offset: size(u)?,
        shape,
    })
}

/// An operator, with any attributes that it has.
pub(crate) fn op(u: &mut Unstructured<'_>) -> arbitrary::Result<Op> {
    let mut op = *u.choose(&Op::ALL)?;
    // The axis may be left out where it is left out in the list.
    if op.axis().is_some() || u.arbitrary()? {
        op = op.with_axis(signed(u)?).unwrap_or(op);
    }
    Ok(op.with_batch_dims(signed(u)?).unwrap_or(op))
}

pub(crate) fn rules(u: &mut Unstructured<'_>, element_bytes: usize) -> arbitrary::Result<Rules> {
    let negative = *u.choose(&[Negative::OutOfBounds, Negative::FromEnd])?;
    let width = match u.ratio(1, 20)? {
        true => element_bytes / 2,
        false => element_bytes,
    };
    let fill = Fill::from_bytes(&vec![0xb7; width.min(300)]);
    let out_of_bounds = u.choose(&OutOfBounds::all(fill))?.clone();
    let shapes = *u.choose(&[ElementsShapes::Onnx, ElementsShapes::Torch])?;
    Ok(Rules::new(negative, out_of_bounds).with_elements_shapes(shapes))
}

/// The data of `len` elements, which differ from their neighbours; bools are 0 or 1.
pub(crate) fn data(dtype: DType, len: usize, seed: u8) -> Vec<u8> {
    let mut state = u32::from(seed) << 1 | 1;
    let mut next = || {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (state >> 24) as u8
    };
    let bytes = (0..len * dtype.bytes()).map(|_| next());
    match dtype {
        DType::Bool => bytes.map(|byte| byte & 1).collect(),
        _ => bytes.collect(),
    }
}

/// The values that indices repeat.
pub(crate) fn index_values(u: &mut Unstructured<'_>) -> arbitrary::Result<Vec<i64>> {
    let count = u.int_in_range(0..=8)?;
    (0..count).map(|_| Ok(signed(u)? as i64)).collect()
}

/// The data of `len` indices: these values and a zero, over and over.
pub(crate) fn index_bytes(values: &[i64], index_type: IndexType, len: usize) -> Vec<u8> {
    let values = values.iter().copied().chain([0]).cycle();
    values
        .take(len)
        .flat_map(|v| v.to_le_bytes().into_iter().take(index_type.bytes()))
        .collect()
}
