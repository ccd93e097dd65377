//! Device tensors: every way to gather from them gives what the reference gives.

use gather_conformance::{Call, Work, builtin, call_from, compare};
use wgpu_gather::gpu::{DeviceTensor, Engine};
use wgpu_gather::{
    BadIndices, Element, Error, Index, IndexType, Indices, Layout, Op, OpKind, Plan, Result, Rules,
    Tensor, TensorView, with_index_type,
};

use crate::common::{block_on, buffer_with, engines, failed, report};

/// A way to gather bytes of a call through device tensors.
type Way = fn(&Engine, &Call) -> Result<Vec<u8>>;

/// The widths of elements that have an array type here.
const WIDTHS: [usize; 6] = [1, 2, 4, 8, 12, 16];

/// Runs `$way` with the element and index types of a call.
macro_rules! typed {
    ($way:ident) => {
        |engine, call| {
            typed!(@element $way, engine, call, [1, 2, 4, 8, 12, 16])
        }
    };
    (@element $way:ident, $engine:ident, $call:ident, [$($width:literal),*]) => {
        match $call.element_bytes {
            $($width => {
                with_index_type!($call.index_type, I => $way::<[u8; $width], I>($engine, $call))
            })*
            width => panic!("{width} is none of {WIDTHS:?}"),
        }
    };
}

fn params<T: Element + bytemuck::Pod>(engine: &Engine, call: &Call) -> Result<DeviceTensor<T>> {
    let data: Vec<T> = bytemuck::pod_collect_to_vec(&call.params);
    engine
        .upload(&TensorView::strided(call.params_layout.clone(), &data)?)
        .wait()
}

fn indices<I: Index + bytemuck::Pod>(engine: &Engine, call: &Call) -> Result<DeviceTensor<I>> {
    let data: Vec<I> = bytemuck::pod_collect_to_vec(&call.indices);
    engine
        .upload(&TensorView::strided(call.indices_layout.clone(), &data)?)
        .wait()
}

fn bytes<T: Element + bytemuck::Pod>(engine: &Engine, tensor: &DeviceTensor<T>) -> Result<Vec<u8>> {
    let tensor = engine.download(tensor).wait()?;
    Ok(bytemuck::cast_slice(tensor.data()).to_vec())
}

fn into_a_new_tensor<T, I>(engine: &Engine, call: &Call) -> Result<Vec<u8>>
where
    T: Element + bytemuck::Pod,
    I: Index<Wide = I> + bytemuck::Pod,
{
    let (params, indices) = (params::<T>(engine, call)?, indices::<I>(engine, call)?);
    bytes(
        engine,
        &engine.gather(call.op, &call.rules, &params, &indices)?,
    )
}

/// Into the middle of a tensor that holds something else.
fn into_a_slice<T, I>(engine: &Engine, call: &Call) -> Result<Vec<u8>>
where
    T: Element + bytemuck::Pod,
    I: Index<Wide = I> + bytemuck::Pod,
{
    let (params, indices) = (params::<T>(engine, call)?, indices::<I>(engine, call)?);
    let shape = call.plan()?.output_shape().to_vec();
    let count: usize = shape.iter().product();
    let poison: T = bytemuck::pod_read_unaligned(&vec![0xa5; size_of::<T>()]);
    let all = Tensor::new(&[count + 9], vec![poison; count + 9])?;
    let all = engine.upload(&all).wait()?;
    let mut output = all.slice(0, 5..5 + count)?.reshape(&shape)?;
    engine.gather_into(call.op, &call.rules, &params, &indices, &mut output)?;
    let whole = bytes(engine, &all)?;
    let inside = size_of::<T>() * 5..size_of::<T>() * (5 + count);
    let fences = [&whole[..inside.start], &whole[inside.end..]].concat();
    assert!(fences.iter().all(|&b| b == 0xa5), "{call:?}");
    report(engine, &output, &call.rules)?;
    Ok(whole[inside].to_vec())
}

/// With params and indices in one buffer of the caller, in which no output may lie.
fn from_one_buffer<T, I>(engine: &Engine, call: &Call) -> Result<Vec<u8>>
where
    T: Element + bytemuck::Pod,
    I: Index<Wide = I> + bytemuck::Pod,
{
    let plan = call.plan()?;
    let indices_at = call.params.len().next_multiple_of(16);
    let output_at = (indices_at + call.indices.len()).next_multiple_of(16);
    let mut all = vec![0x77; output_at + plan.output_bytes() + 4];
    all[..call.params.len()].copy_from_slice(&call.params);
    all[indices_at..][..call.indices.len()].copy_from_slice(&call.indices);
    let buffer = buffer_with(engine, &all);
    let params = DeviceTensor::<T>::wrap(buffer.slice(..), call.params_layout.clone())?;
    let from_indices = buffer.slice(indices_at as u64..);
    let indices = DeviceTensor::<I>::wrap(from_indices, call.indices_layout.clone())?;
    let shape = Layout::contiguous(plan.output_shape());
    let mut output = DeviceTensor::<T>::wrap(buffer.slice(output_at as u64..), shape)?;
    let refused = engine.gather_into(call.op, &call.rules, &params, &indices, &mut output);
    let reads = !call.params_layout.is_empty() || !call.indices_layout.is_empty();
    let shares = !plan.is_empty() && reads;
    assert_eq!(
        shares,
        matches!(refused, Err(Error::SameBuffer { .. })),
        "{refused:?}"
    );
    if shares && plan.reports_bad_indices() {
        assert_eq!(engine.check(&output).wait(), Ok(None), "{call:?}");
    }
    let rows = engine.gather(call.op, &call.rules, &params, &indices)?;
    bytes(engine, &rows)
}

#[test]
fn all_ways_give_what_the_reference_gives() {
    let ways: [(&str, Way); 3] = [
        ("into a new tensor", typed!(into_a_new_tensor)),
        ("into a slice", typed!(into_a_slice)),
        ("from one buffer", typed!(from_one_buffer)),
    ];
    let mut seed = 7u64;
    let mut choice = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 32) as u32
    };
    let random = (0..400).map(|_| call_from(&(0..60).map(|_| choice()).collect::<Vec<_>>()));
    let calls: Vec<Call> = builtin()
        .into_iter()
        .step_by(5)
        .chain(random)
        .filter(|call| WIDTHS.contains(&call.element_bytes))
        .collect();
    let mut work = Work::default();
    calls.iter().for_each(|call| work.add(call));
    assert!(work.outputs > 350, "{work:?}");
    for engine in engines() {
        for (name, way) in ways {
            for call in &calls {
                let outcome = compare(call, way(engine, call));
                assert!(!failed(&outcome), "{name}: {call:?}: {outcome:?}");
            }
        }
    }
}

fn table(rows: usize, width: usize) -> Tensor<f32> {
    let data = (0..rows * width).map(|n| n as f32).collect();
    Tensor::new(&[rows, width], data).unwrap()
}

#[test]
fn chained_gathers_need_no_synchronisation() {
    for engine in engines() {
        let table = engine.upload(&table(100, 8)).wait().unwrap();
        let steps: Vec<u32> = (0..100).map(|n| (n * 37 + 11) % 100).collect();
        let steps = engine.upload(&Tensor::new(&[100], steps).unwrap()).wait();
        let (steps, rules) = (steps.unwrap(), Rules::default());
        let start = Tensor::new(&[3], vec![0u32, 50, 99]).unwrap();
        let mut at = engine.upload(&start).wait().unwrap();
        // The output of one is the indices of the next, 20 times, each time in a submission.
        for _ in 0..20 {
            at = engine.gather(Op::gather(0), &rules, &steps, &at).unwrap();
        }
        let rows = engine.gather(Op::gather(0), &rules, &table, &at).unwrap();
        let expected: Vec<f32> = [0u32, 50, 99]
            .iter()
            .map(|&n| (0..20).fold(n, |n, _| (n * 37 + 11) % 100))
            .flat_map(|n| (0..8).map(move |c| (n * 8 + c) as f32))
            .collect();
        assert_eq!(engine.download(&rows).wait().unwrap().data(), expected);
    }
}

#[test]
fn several_tables_of_several_types_in_one_submission() {
    for engine in engines() {
        let ids = Tensor::new(&[2], vec![2i64, 9]).unwrap();
        let ids = engine.upload(&ids).wait().unwrap();
        let (op, rules) = (Op::gather(0), Rules::default());
        let tables = [table(3, 2), table(5, 1)];
        let [a, b] = tables.map(|t| engine.upload(&t).wait().unwrap());
        let down = |t| engine.download(t).wait().unwrap();
        let names = Tensor::new(&[3], vec![*b"one", *b"two", *b"six"]).unwrap();
        let names = engine.upload(&names).wait().unwrap();
        let ([rows, column], found) = engine
            .batch(|batch| {
                let rows = batch.gather(op, &rules, &a, &ids)?;
                let column = batch.gather(op, &rules, &b, &ids)?;
                Ok(([rows, column], batch.gather(op, &rules, &names, &ids)?))
            })
            .unwrap();
        assert_eq!(down(&rows).data(), [4.0, 5.0, 0.0, 0.0]);
        assert_eq!(down(&column).data(), [2.0, 0.0]);
        let found = engine.download(&found).wait().unwrap();
        assert_eq!(found.data(), [*b"six", [0; 3]]);
    }
}

#[test]
fn a_bad_index_is_reported_where_the_result_is_read() {
    for engine in engines() {
        let table = engine.upload(&table(3, 2)).wait().unwrap();
        let upload = |ids: Vec<i32>| {
            let ids = Tensor::new(&[ids.len()], ids).unwrap();
            engine.upload(&ids).wait().unwrap()
        };
        let (op, rules) = (Op::gather(0), Rules::TENSORFLOW_CPU);
        let bad = engine.gather(op, &rules, &table, &upload(vec![1, 7, -1]));
        let bad = bad.expect("only submitted");
        let told = |position: usize, value: i128, count| BadIndices {
            op: OpKind::Gather,
            position: vec![position],
            value,
            axis: 0,
            extent: 3,
            count,
        };
        let error = |report| Error::IndexOutOfBounds(Box::new(report));
        // What is gathered from it by good indices is no better, nor is a view of it.
        let next = engine.gather(op, &rules, &bad, &upload(vec![0])).unwrap();
        let view = next.reshape(&[2]).unwrap();
        assert_eq!(engine.download(&view).wait(), Err(error(told(1, 7, 2))));
        // It is told once; then the data can be had.
        assert_eq!(engine.download(&bad).wait().unwrap().data()[2..], [0.0; 4]);
        assert_eq!(engine.check(&next).wait(), Ok(None));
        // Bad indices of both.
        let gather = |from, ids| engine.gather(op, &rules, from, &upload(ids)).unwrap();
        let worse = gather(&gather(&table, vec![0, 9, 1]), vec![1, 1, 3]);
        assert_eq!(engine.check(&worse).wait(), Ok(Some(told(1, 9, 2))));
        assert_eq!(engine.download(&worse).wait().unwrap().data(), [0.0; 6]);
        let good = engine.gather(op, &rules, &table, &upload(vec![2])).unwrap();
        assert_eq!(engine.download(&good).wait().unwrap().data(), [4.0, 5.0]);
    }
}

#[test]
fn views_download_as_their_elements() {
    for engine in engines() {
        let bytes = Tensor::new(&[3, 5], (10..25u8).collect()).unwrap();
        let tensor = engine.upload(&bytes).wait().unwrap();
        let down = |t: Result<DeviceTensor<u8>>| engine.download(&t.unwrap()).wait().unwrap();
        assert_eq!(down(tensor.permute(&[1, 0])).data()[..4], [10, 15, 20, 11]);
        assert_eq!(down(tensor.slice(0, 1..3)).data(), &bytes.data()[5..]);
        let columns = down(tensor.slice(1, 3..5));
        assert_eq!(
            columns,
            Tensor::new(&[3, 2], vec![13, 14, 18, 19, 23, 24]).unwrap()
        );
        let row = tensor.slice(0, 2..3).unwrap().broadcast(&[2, 5]);
        assert_eq!(down(row).data(), [20, 21, 22, 23, 24, 20, 21, 22, 23, 24]);
        let flat = tensor.reshape(&[15]).unwrap();
        assert_eq!(down(flat.slice(0, 7..8)).data(), [17]);
        assert!(down(tensor.slice(0, 1..1)).data().is_empty());
        let mut few = [0; 3];
        let refused = engine.download_bytes(&flat, &mut few).wait().unwrap_err();
        assert!(
            matches!(
                refused,
                Error::ByteLength {
                    expected: 15,
                    got: 3,
                    ..
                }
            ),
            "{refused:?}"
        );
        assert_eq!(
            refused.to_string(),
            "output: shape [15] needs 15 bytes, got 3"
        );
    }
}

#[test]
fn large_transfers_go_in_chunks() {
    // Not a whole number of words or chunks.
    let count = 3 * (4 << 20) + 4097;
    let data: Vec<u8> = (0..count).map(|n| (n * 7 + n / 251) as u8).collect();
    let tensor = Tensor::new(&[count], data).unwrap();
    for engine in engines() {
        let there = block_on(engine.upload(&tensor).into_future()).unwrap();
        let back = block_on(engine.download(&there).into_future()).unwrap();
        assert!(back == tensor, "the bytes come back");
        // From the middle of a word, over the ends of chunks.
        let part = there.slice(0, 4095..count - 2).unwrap();
        let part = engine.download(&part).wait().unwrap();
        assert!(part.data() == &tensor.data()[4095..count - 2]);
    }
}

#[test]
fn narrow_indices_are_widened_on_the_way() {
    for engine in engines() {
        let ids = [[0i8, -1], [2, 1]].concat();
        let layout = Layout::strided(&[2], &[2], 1).unwrap();
        let view = TensorView::strided(layout, &ids).unwrap();
        let ids = Indices::try_from(&view).unwrap();
        let wide = DeviceTensor::<i32>::try_from(engine.upload(&ids).wait().unwrap()).unwrap();
        assert_eq!(engine.download(&wide).wait().unwrap().data(), [-1, 1]);
    }
}

#[test]
fn dropped_tensors_serve_the_next_ones() {
    for shared in engines() {
        let engine = Engine::headless(Some(&shared.adapter().label()))
            .wait()
            .unwrap();
        let engine = &engine;
        let table = engine.upload(&table(100, 8)).wait().unwrap();
        let ids = Tensor::new(&[64], vec![5u32; 64]).unwrap();
        let ids = engine.upload(&ids).wait().unwrap();
        let gather = || {
            engine
                .gather(Op::gather(0), &Rules::default(), &table, &ids)
                .unwrap()
        };
        assert_eq!(engine.pool_bytes(), 0);
        drop(gather());
        let once = engine.pool_bytes();
        assert_eq!(once, 64 * 8 * 4);
        let (first, second) = (gather(), gather());
        assert_eq!(engine.pool_bytes(), 0);
        // A view keeps the buffer, and so does whoever has it.
        let view = first.slice(0, 0..1).unwrap();
        drop(first);
        assert_eq!(engine.pool_bytes(), 0);
        drop(view);
        assert_eq!(engine.pool_bytes(), once);
        let _theirs = second.share_buffer().clone();
        drop(second);
        assert_eq!(engine.pool_bytes(), once);
        assert_eq!(engine.trim_pool(), once);
        assert_eq!(engine.pool_bytes(), 0);
        // Of a status, the caller may have recorded something that is not yet submitted.
        let (params, indices) = (table.layout(), ids.layout());
        let plan = Plan::new(
            Op::gather(0),
            &Rules::ONNX,
            4,
            params,
            IndexType::U32,
            indices,
        );
        let pipeline = engine.pipeline(&plan.unwrap()).wait().unwrap();
        drop(pipeline.status().unwrap());
        assert_eq!(engine.pool_bytes(), 0);
    }
}

#[test]
fn threads_share_an_engine() {
    for engine in engines() {
        let table = engine.upload(&table(1000, 4)).wait().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let table = &table;
                scope.spawn(move || {
                    for round in 0..20 {
                        let id = thread * 200 + round;
                        let ids = Tensor::new(&[1], vec![id]).unwrap();
                        let ids = engine.upload(&ids).wait().unwrap();
                        let row = engine.gather(Op::gather(0), &Rules::default(), table, &ids);
                        let row = engine.download(&row.unwrap()).wait().unwrap();
                        let expected: Vec<f32> = (0..4).map(|c| (id * 4 + c) as f32).collect();
                        assert_eq!(row.data(), expected);
                    }
                });
            }
        });
    }
}
