//! Strided views of host tensors, against answers typed by hand.

use wgpu_gather::{Executor, Layout, Op, Rules, TensorView};

use crate::common::executors;

/// 0, 1, 2, … as a 4 × 3 matrix.
const DATA: [u16; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

fn gather(op: Op, params: Layout, indices: Layout, values: &[i32]) -> Vec<Vec<u16>> {
    let mut executors = executors();
    executors.push(Executor::Reference);
    let run = |executor: &Executor| {
        let params = TensorView::strided(params.clone(), &DATA).unwrap();
        let indices = TensorView::strided(indices.clone(), values).unwrap();
        let output = executor
            .gather(op, &Rules::TENSORFLOW_GPU, &params, &indices)
            .wait();
        output.unwrap().into_data()
    };
    executors.iter().map(run).collect()
}

fn assert_each(outputs: Vec<Vec<u16>>, expected: &[u16]) {
    for output in outputs {
        assert_eq!(output, expected);
    }
}

#[test]
fn a_transposed_table() {
    let transposed = Layout::strided(&[3, 4], &[1, 3], 0).unwrap();
    let indices = Layout::contiguous(&[2]);
    let got = gather(Op::gather(0), transposed, indices, &[2, 5]);
    assert_each(got, &[2, 5, 8, 11, 0, 0, 0, 0]);
}

#[test]
fn a_sliced_table_with_steps_and_an_offset() {
    // rows 1 and 3, columns 0 and 2
    let sliced = Layout::strided(&[2, 2], &[6, 2], 3).unwrap();
    let got = gather(Op::gather(0), sliced, Layout::contiguous(&[3]), &[1, 0, 1]);
    assert_each(got, &[9, 11, 3, 5, 9, 11]);
}

#[test]
fn a_broadcast_table() {
    // the row [6, 7, 8] as every row of a table of five
    let broadcast = Layout::strided(&[5, 3], &[0, 1], 6).unwrap();
    let got = gather(
        Op::gather(0),
        broadcast,
        Layout::contiguous(&[3]),
        &[4, 0, 5],
    );
    assert_each(got, &[6, 7, 8, 6, 7, 8, 0, 0, 0]);
}

#[test]
fn broadcast_indices() {
    // take_along_axis with one row of indices for all rows of params
    let row = Layout::strided(&[4, 2], &[0, 1], 1).unwrap();
    let got = gather(
        Op::gather_elements(1),
        Layout::contiguous(&[4, 3]),
        row,
        &[9, 2, 0],
    );
    assert_each(got, &[2, 0, 5, 3, 8, 6, 11, 9]);
}

#[test]
fn reversed_views() {
    let upside_down = Layout::strided(&[4, 3], &[-3, -1], 11).unwrap();
    let backwards = Layout::strided(&[2], &[-1], 1).unwrap();
    let got = gather(Op::gather(0), upside_down, backwards, &[3, 0]);
    assert_each(got, &[11, 10, 9, 2, 1, 0]);
}

#[test]
fn index_tuples_with_a_stride() {
    // tuples (3, 1) and (0, 2), stored column by column
    let tuples = Layout::strided(&[2, 2], &[1, 2], 0).unwrap();
    let got = gather(
        Op::gather_nd(),
        Layout::contiguous(&[4, 3]),
        tuples,
        &[3, 0, 1, 2],
    );
    assert_each(got, &[10, 2]);
}
