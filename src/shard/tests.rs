//! Partitions and plans by hand, and plans against the reference on random tables.

use super::*;
use crate::{
    BadIndices, Error, Executor, Fill, IndexType, Indices, Layout, Negative, Op, OpKind,
    OutOfBounds, Params, Rules, Tensor, TensorView,
};

/// Numbers from a seed, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

fn partitions(rows: usize, shards: usize, numbers: &mut Numbers) -> [Partition; 3] {
    // Uneven blocks; a cut may repeat another, which leaves a shard empty.
    let mut cuts: Vec<usize> = (1..shards).map(|_| numbers.below(rows + 1)).collect();
    cuts.sort_unstable();
    let ends = cuts.iter().copied().chain([rows]);
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let rows_of: Vec<usize> = ends.zip(starts).map(|(end, start)| end - start).collect();
    [
        Partition::blocks(&rows_of).unwrap(),
        Partition::even_blocks(rows, shards).unwrap(),
        Partition::cyclic(rows, shards).unwrap(),
    ]
}

#[test]
fn every_row_has_one_place_and_every_place_one_row() {
    let mut numbers = Numbers(1);
    for rows in [0, 1, 2, 5, 17] {
        for shards in [1, 2, 3, 7, 20] {
            for partition in partitions(rows, shards, &mut numbers) {
                let mut seen = vec![false; rows];
                for shard in 0..shards {
                    for local in 0..partition.rows_of(shard) {
                        let row = partition.row(shard, local).unwrap();
                        assert_eq!(partition.place(row), Some((shard, local)), "{partition:?}");
                        assert!(!seen[row], "{partition:?}: row {row} twice");
                        seen[row] = true;
                    }
                    let rows_of = partition.rows_of(shard);
                    assert_eq!(partition.row(shard, rows_of), None);
                }
                assert!(seen.iter().all(|&seen| seen), "{partition:?}");
                assert_eq!(partition.place(rows), None);
                assert_eq!(partition.rows_of(shards), 0);
                assert_eq!(partition.rows_of(usize::MAX), 0);
            }
        }
    }
}

#[test]
fn a_view_of_a_shard_is_its_rows() {
    let mut numbers = Numbers(2);
    // Two columns of a table whose rows lie backwards, with a gap.
    let table = Layout::strided(&[11, 2], &[-3, 1], 30).unwrap();
    for partition in partitions(11, 4, &mut numbers) {
        for shard in 0..4 {
            let view = partition.view(&table, shard).unwrap();
            assert_eq!(view.shape(), [partition.rows_of(shard), 2]);
            for local in 0..partition.rows_of(shard) {
                let row = partition.row(shard, local).unwrap();
                assert_eq!(view.position(&[local, 1]), table.position(&[row, 1]));
            }
        }
        let error = partition.view(&table, 4).unwrap_err().to_string();
        assert!(error.contains("no shard 4"), "{error}");
        assert!(partition.view(&Layout::contiguous(&[10, 2]), 0).is_err());
        assert!(partition.view(&Layout::contiguous(&[]), 0).is_err());
    }
}

#[test]
fn partitions_that_cannot_be_are_errors() {
    assert_eq!(Partition::blocks(&[]), Err(Error::NoShards));
    assert_eq!(Partition::cyclic(3, 0), Err(Error::NoShards));
    let error = Partition::blocks(&[usize::MAX, 1]).unwrap_err();
    assert_eq!(error, Error::TooManyRows { shards: 2 });
    assert_eq!(
        error.to_string(),
        "the 2 shards have more rows in all than can be addressed"
    );
}

/// The picture at the top of the plan.
#[test]
fn the_plan_by_hand() {
    let partition = Partition::blocks(&[4, 5]).unwrap();
    let format = RowFormat::new(2, &[3]).unwrap();
    let ids = [7u32, 2, 7, 9, 0];
    let ids = TensorView::new(&[5], &ids).unwrap();
    let ids = Indices::try_from(&ids).unwrap();
    let rules = Rules::TENSORFLOW_GPU;
    let plan = |dedupe| ShardPlan::new(&partition, &format, &rules, &ids, dedupe).unwrap();

    let once = plan(true);
    assert_eq!(
        (once.asked_of(0), once.asked_of(1)),
        (&[0, 2][..], &[3][..])
    );
    assert_eq!(once.sources(), [2, 1, 2, ShardPlan::NONE, 0]);
    assert_eq!(
        (once.rows(), once.duplicates(), once.row_bytes()),
        (3, 1, 18)
    );
    assert!(once.asked_of(2).is_empty() && once.asked_of(usize::MAX).is_empty());
    assert_eq!(once.output_shape(), [5, 3]);
    assert!(!once.is_in_order());

    let all = plan(false);
    assert_eq!(
        (all.asked_of(0), all.asked_of(1)),
        (&[2, 0][..], &[3, 3][..])
    );
    assert_eq!(all.sources(), [2, 0, 3, ShardPlan::NONE, 1]);
    assert_eq!((all.rows(), all.duplicates()), (4, 0));
}

#[test]
fn a_bad_index_is_named_by_its_position_in_the_whole_table() {
    let partition = Partition::cyclic(9, 2).unwrap();
    let format = RowFormat::new(4, &[]).unwrap();
    // Transposed, so that the order in memory is another.
    let layout = Layout::strided(&[2, 3], &[1, 2], 0).unwrap();
    let ids = [0i64, 9, -10, 1, 2, 3];
    let ids = Indices::new(bytemuck::cast_slice(&ids), IndexType::I64, layout).unwrap();
    let failed = ShardPlan::new(&partition, &format, &Rules::ONNX, &ids, true);
    let bad = BadIndices {
        op: OpKind::Gather,
        position: vec![0, 1],
        value: -10,
        axis: 0,
        extent: 9,
        count: 2,
    };
    assert_eq!(failed, Err(Error::IndexOutOfBounds(Box::new(bad))));
    let clip = Rules::NUMPY_CLIP;
    let empty = Partition::cyclic(0, 2).unwrap();
    let failed = ShardPlan::new(&empty, &format, &clip, &ids, true);
    assert!(
        matches!(failed, Err(Error::NothingToRead { .. })),
        "{failed:?}"
    );
}

#[test]
fn nothing_is_asked_for_an_empty_output() {
    let partition = Partition::cyclic(9, 2).unwrap();
    let ids = [99i32];
    let ids = TensorView::new(&[1], &ids).unwrap();
    let ids = Indices::try_from(&ids).unwrap();
    // Rows of no elements: not even the bad index is looked at.
    let format = RowFormat::new(4, &[0]).unwrap();
    let plan = ShardPlan::new(&partition, &format, &Rules::TORCH, &ids, true).unwrap();
    assert_eq!(
        (plan.rows(), plan.sources().len(), plan.output_bytes()),
        (0, 0, 0)
    );
    plan.assemble(&[], &mut []).unwrap();
    assert_eq!(
        plan.check_output(1).unwrap_err().to_string(),
        "gather: the output needs 0 bytes, got a buffer of 1"
    );
}

/// A shape whose rows cannot be addressed, an element of nothing.
#[test]
fn formats_that_cannot_be_are_errors() {
    assert!(matches!(
        RowFormat::new(0, &[2]),
        Err(Error::ZeroSizedElement { .. })
    ));
    let huge = RowFormat::new(8, &[usize::MAX, 2]);
    assert!(matches!(huge, Err(Error::SizeOverflow { .. })), "{huge:?}");
}

#[test]
fn random_plans_give_what_the_reference_gives() {
    let mut numbers = Numbers(3);
    let (mut errors, mut duplicates, mut empty_shards) = (0, 0, 0);
    for _ in 0..2000 {
        let (rows, shards) = (numbers.below(40), 1 + numbers.below(6));
        let width = [1, 2, 3, 4, 8][numbers.below(5)];
        let format = RowFormat::new(width, &[1 + numbers.below(3), numbers.below(4)]).unwrap();
        let data: Vec<u8> = (0..rows * format.bytes())
            .map(|_| numbers.below(256) as u8)
            .collect();
        let fill = Fill::from_bytes(&vec![7; width]);
        let kinds = OutOfBounds::all(fill);
        let out_of_bounds = kinds[numbers.below(kinds.len())].clone();
        let rules = Rules::new(Negative::ALL[numbers.below(2)], out_of_bounds);
        // Now and then only good ones, so that the rule "error" has an output, too.
        let reach = if numbers.below(3) == 0 { 3 } else { 0 };
        let span = (rows + 2 * reach).max(1);
        let ids: Vec<i64> = (0..24)
            .map(|_| numbers.below(span) as i64 - reach as i64)
            .collect();
        let layout = [
            Layout::contiguous(&[4, 6]),
            Layout::strided(&[3, 4], &[-1, 5], 3).unwrap(),
            Layout::contiguous(&[0, 3]),
            Layout::contiguous(&[]),
        ][numbers.below(4)]
        .clone();
        let ids = Indices::new(bytemuck::cast_slice(&ids), IndexType::I64, layout).unwrap();
        let table = Layout::contiguous(&format.shape_of(rows));
        let params = Params::new(&data, width, table.clone()).unwrap();
        let partition = partitions(rows, shards, &mut numbers)[numbers.below(3)].clone();
        empty_shards += usize::from((0..shards).any(|s| partition.rows_of(s) == 0));

        let shape = Op::gather(0)
            .output_shape(table.shape(), ids.layout().shape(), &rules)
            .unwrap();
        let bytes = shape.iter().product::<usize>() * width;
        let mut expected = vec![0; bytes];
        let op = Op::gather(0);
        let reference = Executor::Reference.gather(op, &rules, &params, &ids);
        let reference = reference.into(&mut expected).wait();
        for dedupe in [true, false] {
            let plan = ShardPlan::new(&partition, &format, &rules, &ids, dedupe);
            let plan = match (plan, &reference) {
                (Ok(plan), Ok(())) => plan,
                (got, expected) => {
                    assert_eq!(got.err().as_ref(), expected.as_ref().err());
                    errors += 1;
                    continue;
                }
            };
            let mut came_back = vec![0; plan.row_bytes()];
            for shard in 0..shards {
                let view = partition.view(&table, shard).unwrap();
                let held = Params::new(&data, width, view).unwrap();
                let held = Shard::new(&Executor::Cpu, &held).wait().unwrap();
                let asked = plan.asked_of(shard);
                assert!(
                    !dedupe || asked.windows(2).all(|w| w[0] < w[1]),
                    "{asked:?}"
                );
                let range = plan.range_of(shard);
                let here = range.start * format.bytes()..range.end * format.bytes();
                held.gather(asked, &mut came_back[here]).wait().unwrap();
            }
            if plan.is_in_order() {
                assert_eq!(came_back, expected);
            }
            let mut output = vec![0xa5; bytes];
            plan.assemble(&came_back, &mut output).unwrap();
            assert_eq!(output, expected, "{partition:?} {rules:?} {ids:?}");
            duplicates += plan.duplicates();
        }
    }
    // All of it has been met.
    assert!(errors > 100 && duplicates > 1000 && empty_shards > 100);
}

#[test]
fn a_number_that_is_no_row_of_a_shard_is_an_error() {
    let table = Tensor::new(&[2, 2], vec![1u16, 2, 3, 4]).unwrap();
    let rows = Params::try_from(&table.view()).unwrap();
    let shard = Shard::new(&Executor::Cpu, &rows).wait().unwrap();
    let mut output = [0; 4];
    let failed = shard.gather(&[2], &mut output).wait();
    assert!(
        matches!(failed, Err(Error::IndexOutOfBounds(_))),
        "{failed:?}"
    );
    shard.gather(&[1], &mut output).wait().unwrap();
    assert_eq!(bytemuck::cast_slice::<_, u16>(&output), [3, 4]);
}
