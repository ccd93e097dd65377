//! Arrays of ndarray as params and indices, whatever their layout, and outputs as arrays: what
//! comes out is what ndarray's own indexing gives.

use ndarray::{
    Array, Array1, Array2, Array3, ArrayD, ArrayView1, ArrayView2, ArrayView3, ArrayViewD, Axis,
    Dimension, Ix2, IxDyn, ShapeBuilder, arr0, array, s,
};
use wgpu_gather::{Element, Error, Executor, Op, Rules, Tensor, TensorView, interop};

use crate::common::engines;

/// Whether a view leaves out elements in between.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Gaps {
    None,
    Some,
}

/// 4 × 5 × 6 elements that all differ, row-major and the other way round.
fn wholes() -> [Array3<u16>; 2] {
    let value = |(i, j, k): (usize, usize, usize)| (i * 100 + j * 10 + k) as u16;
    [
        Array::from_shape_fn((4, 5, 6), value),
        Array::from_shape_fn((4, 5, 6).f(), value),
    ]
}

/// Checks views of `whole`, of which some have gaps in one order of memory only.
fn each_view(whole: &Array3<u16>, mut check: impl FnMut(&str, ArrayViewD<'_, u16>, Gaps)) {
    use Gaps::{None, Some};
    let all = whole.view();
    // An outer dim of a row-major array is an inner one of the other.
    let (outer, inner) = match whole.is_standard_layout() {
        true => (None, Some),
        false => (Some, None),
    };
    let plane = all.slice(s![1, .., ..]);
    let element = all.slice(s![1..2, 2..3, 3..4]);
    let mixed = all.permuted_axes([2, 0, 1]);
    let mut view = |name, view: ArrayView3<'_, u16>, gaps| check(name, view.into_dyn(), gaps);

    view("whole", all, None);
    view("transposed", all.t(), None);
    view("permuted", mixed, None);
    view("reversed", all.slice(s![..;-1, ..;-1, ..;-1]), None);
    view("middle reversed", all.slice(s![.., ..;-1, ..]), None);
    view(
        "permuted and reversed",
        mixed.slice(s![..;-1, .., ..;-1]),
        None,
    );
    view("first planes", all.slice(s![1..3, .., ..]), outer);
    view("last columns", all.slice(s![.., .., 2..]), inner);
    view("planes of a step", all.slice(s![..;2, .., ..]), Some);
    view("steps back", all.slice(s![..;-3, 1..;2, ..;-2]), Some);
    view("one element", element, None);
    view("empty", all.slice(s![.., 2..2, ..]), None);
    view(
        "plane broadcast",
        plane.broadcast((7, 5, 6)).unwrap(),
        outer,
    );
    view(
        "reversed plane broadcast",
        plane.slice(s![..;-1, ..]).broadcast((2, 5, 6)).unwrap(),
        outer,
    );
    view(
        "element broadcast",
        element.broadcast((2, 3, 2)).unwrap(),
        None,
    );

    check(
        "broadcast",
        all.broadcast((3, 4, 5, 6)).unwrap().into_dyn(),
        None,
    );
    check("plane", plane.into_dyn(), outer);
    check("column", all.slice(s![.., .., 3]).into_dyn(), inner);
    check("no dim", all.slice(s![3, 2, 1]).into_dyn(), None);
    let more_dims = all.insert_axis(Axis(1)).insert_axis(Axis(4));
    check("more dims", more_dims.into_dyn(), None);
}

/// `view.select(axis, ids)` by the executors on the host, and through device tensors.
fn gathered<T: Element>(axis: usize, view: &TensorView<'_, T>, ids: &[i64]) -> Vec<ArrayD<T>> {
    let op = Op::gather(axis as isize);
    let ids = TensorView::new(&[ids.len()], ids).unwrap();
    let host = [Executor::Cpu, Executor::Reference].map(|executor| {
        let output = executor.gather(op, &Rules::NUMPY, view, &ids).wait();
        ArrayD::try_from(output.unwrap()).unwrap()
    });
    let device = engines().iter().map(|engine| {
        let params = engine.upload(view).wait().unwrap();
        let ids = engine.upload(&ids).wait().unwrap();
        let output = engine.gather(op, &Rules::NUMPY, &params, &ids).unwrap();
        ArrayD::try_from(engine.download(&output).wait().unwrap()).unwrap()
    });
    host.into_iter().chain(device).collect()
}

/// Every element of `expected`, read through `view` by coordinates.
fn assert_same(name: &str, view: &TensorView<'_, u16>, expected: &ArrayViewD<'_, u16>) {
    assert_eq!(view.shape(), expected.shape(), "{name}");
    for (at, &value) in expected.indexed_iter() {
        let position = view.layout().position(at.slice());
        assert_eq!(view.data()[position], value, "{name} at {at:?}");
    }
}

#[test]
fn every_layout_without_gaps_is_read_where_it_lies() {
    for whole in wholes() {
        let memory = whole.as_slice_memory_order().unwrap().as_ptr_range();
        each_view(&whole, |name, array, gaps| {
            let view = TensorView::try_from(&array);
            assert_eq!(view.is_err(), gaps == Gaps::Some, "{name}: {view:?}");
            let Ok(view) = view else { return };
            assert_same(name, &view, &array);
            let data = view.data().as_ptr_range();
            let there = memory.start <= data.start && data.end <= memory.end;
            assert!(there || array.is_empty(), "{name}: copied");
        });
    }
}

#[test]
fn a_part_of_an_array_may_have_gaps() {
    let mut with_gaps = 0;
    for whole in wholes() {
        each_view(&whole, |name, array, gaps| {
            let view = TensorView::part_of(&array, &whole).unwrap();
            assert_same(name, &view, &array);
            if !array.is_empty() {
                let all = whole.as_slice_memory_order().unwrap();
                assert_eq!(view.data().as_ptr(), all.as_ptr(), "{name}");
            }
            with_gaps += usize::from(gaps == Gaps::Some);
        });
    }
    assert_eq!(with_gaps, 4 + 6);
}

#[test]
fn gaps_are_copied_and_nothing_else() {
    for whole in wholes() {
        each_view(&whole, |name, array, gaps| {
            let dense = interop::without_gaps(array.clone());
            assert_eq!(dense.is_owned(), gaps == Gaps::Some, "{name}");
            assert_same(name, &TensorView::try_from(&dense).unwrap(), &array);
        });
    }
}

#[test]
fn gathers_from_any_layout_give_what_ndarray_selects() {
    let mut compared = 0;
    for whole in wholes() {
        each_view(&whole, |name, array, _| {
            let view = TensorView::part_of(&array, &whole).unwrap();
            for axis in 0..array.ndim() {
                let extent = array.len_of(Axis(axis));
                if extent == 0 {
                    continue;
                }
                let selected = [extent - 1, 0, extent / 2, extent - 1];
                let expected = array.select(Axis(axis), &selected);
                let ids = [-1, 0, (extent / 2) as i64, (extent - 1) as i64];
                for output in gathered(axis, &view, &ids) {
                    assert_eq!(output, expected, "{name}, axis {axis}");
                    compared += 1;
                }
            }
        });
    }
    assert!(compared >= 2 * 50 * (2 + engines().len()), "{compared}");
}

#[test]
fn indices_may_have_any_layout() {
    let params = array![
        [10.0f64, 11.0, 12.0],
        [20.0, 21.0, 22.0],
        [30.0, 31.0, 32.0]
    ];
    let ids = array![[2i32, 0], [1, 1], [0, 2]];
    let check = |ids: ArrayView2<'_, i32>| {
        let mut expected = Array2::zeros(ids.raw_dim());
        for ((row, column), &id) in ids.indexed_iter() {
            expected[[row, column]] = params[[row, id as usize]];
        }
        let (params, ids) = (TensorView::try_from(&params), TensorView::try_from(ids));
        let (op, rules) = (Op::gather_elements(1), Rules::TORCH);
        let output = Executor::Cpu
            .gather(op, &rules, &params.unwrap(), &ids.unwrap())
            .wait();
        let output = ArrayD::try_from(output.unwrap()).unwrap();
        assert_eq!(output.into_dimensionality::<Ix2>().unwrap(), expected);
    };
    check(ids.view());
    check(ids.slice(s![..;-1, ..;-1]));
    check(ids.slice(s![..2, ..]).reversed_axes());
    check(ids.row(0).broadcast((3, 2)).unwrap());
    check(ids.slice(s![..1, ..;-1]).broadcast((3, 2)).unwrap());
    let by_columns = Array2::from_shape_vec((3, 2).f(), vec![0, 1, 2, 2, 1, 0]).unwrap();
    check(by_columns.view());
}

/// Views that ndarray gives out while what lies between their elements is borrowed for writing.
#[test]
fn a_view_whose_gaps_are_borrowed_is_refused() {
    let mut whole = Array2::from_shape_fn((3, 4), |(i, j)| (i * 4 + j) as i32);
    let (left, mut right) = whole.multi_slice_mut((s![.., ..2], s![.., 2..]));
    let refused = TensorView::try_from(left.view()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "an array of shape [3, 2] and strides [4, 1] has gaps, which may be borrowed elsewhere; \
         allowed: it together with the array that it is a part of (TensorView::part_of), or a copy \
         (interop::without_gaps)"
    );
    let copied = interop::without_gaps(left.view());
    right.fill(-1);
    let view = TensorView::try_from(&copied).unwrap();
    assert_eq!(view.data(), [0, 1, 4, 5, 8, 9]);

    // Each element of a window but its first is in the next one too: no gaps, but no slice either.
    let windows = ArrayViewD::from_shape(IxDyn(&[3, 2]).strides(IxDyn(&[1, 1])), &[1, 2, 3, 4]);
    let windows = windows.unwrap();
    assert!(matches!(
        TensorView::try_from(&windows),
        Err(Error::ViewHasGaps { .. })
    ));
    let copied = interop::without_gaps(windows);
    assert_eq!(
        TensorView::try_from(&copied).unwrap().data(),
        [1, 2, 2, 3, 3, 4]
    );
}

#[test]
fn a_part_lies_in_its_whole() {
    let (array, other) = (array![1, 2, 3, 4, 5, 6], array![1, 2, 3, 4, 5, 6]);
    let refused = |part: ArrayView1<'_, i32>, whole: ArrayView1<'_, i32>| {
        matches!(
            TensorView::part_of(&part, &whole),
            Err(Error::NotAPart { .. })
        )
    };
    let part = |range: std::ops::Range<usize>| array.slice(s![range]);
    assert!(!refused(part(1..3), part(0..6)));
    assert!(!refused(part(1..3), part(1..3)));
    assert!(refused(other.slice(s![1..3]), array.view()));
    assert!(refused(part(0..3), part(1..6)));
    assert!(refused(part(3..6), part(0..5)));
    assert!(refused(part(3..6), part(0..3)));
    assert!(refused(array.slice(s![..;-1]), part(1..6)));

    // Pairs of bytes that begin in the middle of other pairs.
    let bytes: Vec<u8> = (0..9).collect();
    let pairs = |bytes| ArrayView1::from(bytemuck::cast_slice::<u8, [u8; 2]>(bytes));
    let (even, odd) = (pairs(&bytes[..8]), pairs(&bytes[1..]));
    assert!(matches!(
        TensorView::part_of(&odd, &even),
        Err(Error::NotAPart { .. })
    ));

    let text = TensorView::part_of(&array, &other).unwrap_err().to_string();
    assert_eq!(
        text,
        "an array of shape [6] and strides [1] has elements that the array that it is to be a part \
         of has not"
    );

    let nothing = Array1::from(vec![(); 3]);
    let refused = TensorView::part_of(&nothing, &nothing).unwrap_err();
    assert!(matches!(refused, Error::ZeroSizedElement { .. }));
    let gaps = array.slice(s![..;2]);
    let refused = TensorView::part_of(&gaps, &gaps).unwrap_err();
    assert!(matches!(refused, Error::ViewHasGaps { .. }));
}

#[test]
fn outputs_become_arrays_without_a_copy() {
    let tensor = Tensor::new(&[2, 3], vec!["a", "b", "c", "d", "e", "f"]).unwrap();
    let at = tensor.data().as_ptr();
    let expected = array![["a", "b", "c"], ["d", "e", "f"]].into_dyn();
    let view = ArrayViewD::try_from(&tensor).unwrap();
    assert_eq!((&view, view.as_ptr()), (&expected.view(), at));
    let array = ArrayD::try_from(tensor).unwrap();
    assert_eq!((&array, array.as_ptr()), (&expected, at));

    let scalar = Tensor::new(&[], vec![7]).unwrap();
    assert_eq!(ArrayD::try_from(scalar).unwrap(), arr0(7).into_dyn());
    let empty = Tensor::<u8>::new(&[3, 0, 2], vec![]).unwrap();
    assert_eq!(ArrayD::try_from(empty).unwrap().shape(), [3, 0, 2]);

    // A shape that tensors have and arrays have not.
    let wide = Tensor::<u8>::new(&[0, usize::MAX], vec![]).unwrap();
    let refused = ArrayViewD::try_from(&wide).unwrap_err();
    assert!(matches!(&refused, Error::SizeOverflow { shape, .. } if shape == wide.shape()));
    assert_eq!(ArrayD::try_from(wide).unwrap_err(), refused);
}

#[test]
fn owned_arrays_become_tensors() {
    let rows = array![[1, 2, 3], [4, 5, 6]];
    let at = rows.as_ptr();
    let tensor = Tensor::try_from(rows.clone()).unwrap();
    assert_eq!(
        tensor,
        Tensor::new(&[2, 3], vec![1, 2, 3, 4, 5, 6]).unwrap()
    );
    assert_eq!(Tensor::try_from(rows).unwrap().data().as_ptr(), at);

    let columns = Array2::from_shape_vec((2, 3).f(), vec![1, 4, 2, 5, 3, 6]).unwrap();
    assert_eq!(Tensor::try_from(columns).unwrap(), tensor);
    let sliced = Array1::from_iter(0..9).slice_move(s![2..5]);
    assert_eq!(Tensor::try_from(sliced).unwrap().data(), [2, 3, 4]);
    let sliced = Array1::from_iter(0..9).slice_move(s![2..;-3]);
    assert_eq!(Tensor::try_from(sliced).unwrap().data(), [8, 5, 2]);
    let empty = Array2::<u8>::zeros((4, 0));
    assert_eq!(Tensor::try_from(empty).unwrap().shape(), [4, 0]);
    assert_eq!(Tensor::try_from(arr0('x')).unwrap().data(), ['x']);
}
