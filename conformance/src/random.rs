//! Random calls, made from a list of choices.
//!
//! A call is a pure function of numbers, and the number 0 always means the simplest choice. So a
//! list that is shortened or made smaller gives a simpler call: whatever shrinks lists of numbers
//! (a property test, a fuzzer) shrinks calls.

mod bag;
mod quantized;
mod scatter;

pub use bag::{random_bag, random_bag_of};
pub use scatter::random_scatter;

use wgpu_gather::{ElementsShapes, Fill, IndexType, Layout, Negative, Op, OutOfBounds, Rules};

use crate::call::Call;
use crate::choices::{Choices, MAX_ELEMENTS};
use crate::operators::{Shapes, bulk, fitting};

/// The call that these choices make.
pub fn call_from(choices: &[u32]) -> Call {
    let mut choices = Choices::new(choices);
    let shape = shapes(&mut choices);
    call_of(shape, choices)
}

/// The gather along the first axis that these choices make: of rows, which shards may hold.
pub fn rows_call_from(choices: &[u32]) -> Call {
    let mut choices = Choices::new(choices);
    let shape = gather_rows(&mut choices);
    call_of(shape, choices)
}

fn call_of(shape: Shapes, mut choices: Choices<'_>) -> Call {
    let element_bytes = choices.of(&[4, 1, 2, 8, 16, 3, 12, 20, 6, 5, 32, 24, 7, 48, 256]);
    let index_type = choices.of(&IndexType::ALL);
    let rules = rules(&mut choices, element_bytes);
    let params = view(&mut choices, &shape.params);
    let indices = view(&mut choices, &shape.indices);
    // However many indices there are, what is left of the choices makes them all.
    let left = choices.rest.iter().copied().cycle();
    let index_values: Vec<i128> = left
        .chain(std::iter::repeat(0))
        .take(indices.elements)
        .map(|choice| index(choice, &shape.extents))
        .collect();
    Call {
        op: shape.op,
        rules,
        element_bytes,
        params: bytes(params.elements * element_bytes, params.elements as u32),
        params_layout: params.layout,
        index_type,
        indices: encode(index_type, &index_values),
        indices_layout: indices.layout,
    }
}

fn shapes(choices: &mut Choices<'_>) -> Shapes {
    let kind = choices.of(&Op::ALL).kind();
    let mut shapes = fitting(kind, choices);
    if choices.rarely(60) {
        // 0-d tensors: errors, but for torch's gather_elements.
        let tensor = choices.below(2);
        [&mut shapes.params, &mut shapes.indices][tensor].clear();
    }
    if choices.rarely(40) {
        // A shape that does not fit: all executors must say the same.
        let tensor = choices.of(&[0, 1]);
        let dims = [&mut shapes.params, &mut shapes.indices];
        let dims = dims.into_iter().nth(tensor);
        if let Some(last) = dims.and_then(|d| d.last_mut()) {
            *last += 1;
        }
    }
    shapes
}

fn gather_rows(choices: &mut Choices<'_>) -> Shapes {
    let rank = 1 + choices.below(4);
    let params = choices.dims(rank, 1);
    let positions = choices.below(4);
    Shapes {
        op: Op::gather(0),
        indices: choices.dims(positions, bulk(&params[1..])),
        extents: vec![params[0]],
        params,
    }
}

fn rules(choices: &mut Choices<'_>, element_bytes: usize) -> Rules {
    let fill = Fill::from_bytes(&bytes(element_bytes, choices.next()));
    let out_of_bounds = choices.of(&OutOfBounds::all(fill));
    let negative = choices.of(&[Negative::OutOfBounds, Negative::FromEnd]);
    let shapes = choices.of(&[ElementsShapes::Onnx, ElementsShapes::Torch]);
    Rules::new(negative, out_of_bounds).with_elements_shapes(shapes)
}

/// A layout, and how many elements of data it needs.
struct View {
    layout: Layout,
    elements: usize,
}

/// The tensor of this shape: contiguous, or permuted, stepped, reversed, broadcast and offset.
fn view(choices: &mut Choices<'_>, shape: &[usize]) -> View {
    let elements: usize = shape.iter().product();
    if !choices.rarely(2) {
        return View {
            layout: Layout::contiguous(shape),
            elements,
        };
    }
    // The order of the dims in memory, innermost last.
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if choices.rarely(2) {
        for n in (1..order.len()).rev() {
            order.swap(n, choices.below(n + 1));
        }
    }
    let mut strides = vec![0isize; shape.len()];
    let mut offset = choices.of(&[0, 0, 1, 2, 3, 5, 8]);
    let (mut last, mut run) = (offset, 1);
    for &d in order.iter().rev() {
        if choices.rarely(6) {
            continue; // broadcast
        }
        let step = choices.of(&[1, 1, 1, 1, 2, 3]);
        let step = if run * shape[d] * step > 4 * MAX_ELEMENTS {
            1
        } else {
            step
        };
        strides[d] = (run * step) as isize;
        let span = (shape[d].max(1) - 1) * run * step;
        last += span;
        if choices.rarely(6) {
            offset += span;
            strides[d] = -strides[d];
        }
        run *= step * shape[d].max(1);
    }
    // Rebuilding the layout cannot fail: one stride per dim.
    let layout =
        Layout::strided(shape, &strides, offset).unwrap_or_else(|_| Layout::contiguous(shape));
    let reach = if elements == 0 { 0 } else { last + 1 };
    View {
        layout,
        elements: reach + choices.below(3),
    }
}

/// Mostly inside; else from the end, just outside, far outside, or inside in its low 32 bits only.
fn index(choice: u32, extents: &[usize]) -> i128 {
    let extent = extents.get(choice as usize >> 8 & 3).or(extents.first());
    let extent = extent.map_or(1, |&e| e.max(1)) as i128;
    let inside = i128::from(choice >> 12) % extent;
    match choice & 31 {
        0..=23 => inside,
        24 | 25 => -1 - inside,
        26 => extent,
        27 => -extent - 1,
        28 => inside + (1 << 32),
        29 => inside - (1 << 32),
        30 => i128::from(i64::MAX),
        _ => i128::from(i64::MIN),
    }
}

/// Values that do not fit the type wrap around to others.
pub(crate) fn encode(index_type: IndexType, values: &[i128]) -> Vec<u8> {
    let bytes = index_type.bytes();
    values
        .iter()
        .flat_map(|v| {
            let mut element = v.to_ne_bytes();
            if cfg!(target_endian = "big") {
                element.rotate_left(16 - bytes);
            }
            element.into_iter().take(bytes)
        })
        .collect()
}

/// Bytes that differ from their neighbours near and far.
fn bytes(count: usize, seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..count).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dim_of_zero_does_not_make_the_others_large() {
        // Params of shape [1000, 1, 0], one batch dim, positions that would be [33, 33, 1].
        let gather = [0, 2, 13, 0, 12, 1, 0, 3, 9, 9, 0];
        let gather_nd = [1, 2, 13, 0, 12, 1, 1, 3, 9, 9, 0];
        for choices in [gather, gather_nd] {
            let call = call_from(&choices);
            assert_eq!(call.params_layout.shape(), [1000, 1, 0]);
            let indices: usize = call.indices_layout.shape().iter().product();
            assert_eq!(indices, 1000, "{:?}", call.indices_layout);
        }
    }
}
