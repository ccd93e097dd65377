//! Tensors of burn from bytes, in any place.

use burn::tensor::{Bytes, DType, Shape, Tensor, TensorData};
use wgpu_gather::{IndexType, Layout};
use wgpu_gather_burn::Kind;

use crate::kit::{Numbers, Place};

/// Runs `$body` with the rank as a constant.
macro_rules! ranked {
    ($rank:expr, [$($n:literal),*], $name:ident => $body:expr) => {
        match $rank {
            $($n => { const $name: usize = $n; $body })*
            rank => unreachable!("rank {rank}"),
        }
    };
}
pub(crate) use ranked;

/// burn's name of an index type.
pub(crate) fn index_dtype(index_type: IndexType) -> DType {
    match index_type {
        IndexType::I32 => DType::I32,
        IndexType::U32 => DType::U32,
        IndexType::I64 => DType::I64,
        IndexType::U64 => DType::U64,
    }
}

/// The elements in row-major order.
pub(crate) fn contiguous(bytes: &[u8], width: usize, layout: &Layout) -> Vec<u8> {
    let shape = layout.shape();
    let elements: usize = shape.iter().product();
    let mut at = vec![0; shape.len()];
    let mut packed = Vec::with_capacity(elements * width);
    for _ in 0..elements {
        let position = layout.position(&at) * width;
        packed.extend_from_slice(&bytes[position..position + width]);
        for d in (0..shape.len()).rev() {
            at[d] += 1;
            if at[d] < shape[d] {
                break;
            }
            at[d] = 0;
        }
    }
    packed
}

/// A tensor of burn with these elements: as it is, transposed in memory, or a part of a larger one.
pub(crate) fn tensor<const D: usize, K: Kind>(
    place: &Place,
    bytes: &[u8],
    shape: &[usize],
    dtype: DType,
    numbers: &mut Numbers,
) -> Tensor<D, K> {
    let of = |bytes: Vec<u8>, shape: &[usize]| {
        let shape = Shape::from(shape.to_vec());
        let data = TensorData::from_bytes(Bytes::from_bytes_vec(bytes), shape, dtype);
        Tensor::<D, K>::from_data(data, (&place.device, dtype))
    };
    let first_stride: usize = shape[1..].iter().product::<usize>() * dtype.size();
    match numbers.below(3) {
        1 if D > 1 && !bytes.is_empty() => {
            let mut swapped = shape.to_vec();
            swapped.swap(0, D - 1);
            let mut strides: Vec<isize> = Layout::contiguous(shape).strides().to_vec();
            strides.swap(0, D - 1);
            let layout = Layout::strided(&swapped, &strides, 0).expect("a permutation");
            of(contiguous(bytes, dtype.size(), &layout), &swapped).swap_dims(0, D - 1)
        }
        // A part is copied by a kernel of burn.
        2 if !bytes.is_empty() && (dtype.size() < 8 || place.has_int64) => {
            let mut larger = shape.to_vec();
            larger[0] += 3;
            let padded = [
                vec![0; 2 * first_stride],
                bytes.to_vec(),
                vec![0; first_stride],
            ]
            .concat();
            of(padded, &larger).slice_dim(0, 2..2 + shape[0])
        }
        _ => of(bytes.to_vec(), shape),
    }
}
