//! Calls that are bound once and encoded often, into encoders and passes of the program.

use wgpu_gather::gpu::{Batch, Binding, DeviceTensor, Engine};
use wgpu_gather::{
    BadIndices, BagMode, Bags, Error, Layout, Op, OpKind, Reduce, Result, Role, Rules, Tensor, wgpu,
};

use crate::common::{buffer_with, bytes_of, engines};

const OP: Op = Op::Gather {
    axis: Some(0),
    batch_dims: 0,
};
const ZERO: Rules = Rules::TENSORFLOW_GPU;

fn upload<T: wgpu_gather::Element>(
    engine: &Engine,
    shape: &[usize],
    values: Vec<T>,
) -> DeviceTensor<T> {
    let tensor = Tensor::new(shape, values).expect("a tensor");
    engine.upload(&tensor).wait().expect("memory")
}

fn down(engine: &Engine, tensor: &DeviceTensor<f32>) -> Vec<f32> {
    let tensor = engine.download(tensor).wait().expect("a download");
    tensor.into_data()
}

/// Submits what `encode` records into an encoder.
fn submitted<R>(engine: &Engine, encode: impl FnOnce(&mut wgpu::CommandEncoder) -> R) -> R {
    let mut encoder = engine.device().create_command_encoder(&Default::default());
    let made = encode(&mut encoder);
    engine.queue().submit([encoder.finish()]);
    made
}

fn in_pass(binding: &Binding, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
    let mut pass = encoder.begin_compute_pass(&Default::default());
    binding.encode_in_pass(&mut pass)
}

/// A token's write to a cache and its read, as one: into an encoder, twice, and into a pass.
#[test]
fn a_write_and_a_read_are_one_binding() {
    for engine in engines() {
        let layout = |shape: &[usize]| Layout::contiguous(shape);
        let place = buffer_with(engine, bytemuck::cast_slice(&[2u32]));
        let mut cache = upload(engine, &[4, 2], vec![0.0f32; 8]);
        let places = DeviceTensor::<u32>::wrap(place.slice(..), layout(&[1])).unwrap();
        let keys = upload(engine, &[1, 2], vec![3.0f32, 4.0]);
        let pages = upload(engine, &[3], vec![2u32, 0, 2]);
        let mut read = engine.zeros::<f32>(&[3, 2]).unwrap();
        let binding = engine.bind(|r| {
            r.scatter_into(OP, Reduce::Add, &ZERO, &mut cache, &places, &keys)?;
            r.gather_into(OP, &ZERO, &cache, &pages, &mut read)
        });
        let binding = binding.unwrap();
        assert_eq!(down(engine, &read), [0.0; 6], "nothing is executed yet");
        submitted(engine, |encoder| binding.encode(encoder));
        assert_eq!(down(engine, &read), [3.0, 4.0, 0.0, 0.0, 3.0, 4.0]);
        submitted(engine, |encoder| {
            binding.encode(encoder);
            binding.encode(encoder);
        });
        assert_eq!(down(engine, &read), [9.0, 12.0, 0.0, 0.0, 9.0, 12.0]);
        // What is in the buffers when a recording runs counts.
        engine.queue().write_buffer(&place, 0, &[0; 4]);
        submitted(engine, |encoder| in_pass(&binding, encoder)).unwrap();
        assert_eq!(down(engine, &read), [9.0, 12.0, 3.0, 4.0, 9.0, 12.0]);
        let cached = [3.0, 4.0, 0.0, 0.0, 9.0, 12.0, 0.0, 0.0];
        assert_eq!(down(engine, &cache), cached);
        assert_eq!(binding.check().wait(), Err(Error::NotCounted));
        // Nobody counted, so nobody says that all is well.
        assert_eq!(engine.check(&read).wait(), Err(Error::NotCounted));
    }
}

#[test]
fn bad_indices_are_counted_by_the_binding() {
    let rules = &Rules::ONNX;
    for engine in engines() {
        let place = buffer_with(engine, bytemuck::cast_slice(&[7u32, 1]));
        let mut cache = upload(engine, &[4], vec![0.0f32; 4]);
        let layout = Layout::contiguous(&[2]);
        let places = DeviceTensor::<u32>::wrap(place.slice(..), layout).unwrap();
        let keys = upload(engine, &[2], vec![3.0f32, 4.0]);
        let pages = upload(engine, &[3], vec![1u32, 9, 8]);
        let mut read = engine.zeros::<f32>(&[3]).unwrap();
        let binding = engine.bind(|r| {
            r.scatter_into(OP, Reduce::None, rules, &mut cache, &places, &keys)?;
            r.gather_into(OP, rules, &cache, &pages, &mut read)
        });
        let binding = binding.unwrap();
        assert_eq!(binding.check().wait(), Err(Error::StatusUnused));
        let found = |count, op, value| BadIndices {
            op,
            position: vec![usize::from(op == OpKind::Gather)],
            value,
            axis: 0,
            extent: 4,
            count,
        };
        for _ in 0..2 {
            // Each time it counts from zero: in the first call, and in both.
            submitted(engine, |encoder| binding.encode(encoder));
            let bad = Ok(Some(found(3, OpKind::Scatter, 7)));
            assert_eq!(binding.check().wait(), bad);
            assert_eq!(binding.check().wait(), bad, "it stays");
            assert_eq!(down(engine, &read), [4.0, 0.0, 0.0]);
        }
        // Those in passes go on.
        submitted(engine, |encoder| in_pass(&binding, encoder)).unwrap();
        let bad = Ok(Some(found(6, OpKind::Scatter, 7)));
        assert_eq!(binding.check().wait(), bad);
        engine.queue().write_buffer(&place, 0, &[0; 4]);
        submitted(engine, |encoder| binding.encode(encoder));
        let bad = Ok(Some(found(2, OpKind::Gather, 9)));
        assert_eq!(binding.check().wait(), bad);
        // No tensor reports them.
        assert_eq!(engine.check(&read).wait(), Err(Error::NotCounted));
    }
}

/// A call that makes a tensor, and what a pass says of it.
struct Copying {
    what: &'static str,
    bind: fn(&mut Batch<'_>, &Tensors) -> Result<DeviceTensor<f32>>,
    refused: Option<Error>,
    expected: &'static [f32],
}

struct Tensors {
    table: DeviceTensor<f32>,
    ids: DeviceTensor<u32>,
    rows: DeviceTensor<f32>,
}

fn copying() -> [Copying; 6] {
    let refused = |op, role| Some(Error::CopyInPass { op, role });
    [
        Copying {
            what: "a scatter over a copy",
            bind: |r, t| r.scatter(OP, Reduce::Add, &ZERO, &t.table, &t.ids, &t.rows),
            refused: None,
            expected: &[1.0, 2.0, 3.0, 44.0],
        },
        Copying {
            what: "a gradient",
            bind: |r, t| r.gather_gradient(OP, &ZERO, &[4], &t.ids, &t.rows),
            refused: refused(OpKind::Scatter, Role::Output),
            expected: &[0.0, 0.0, 0.0, 40.0],
        },
        Copying {
            what: "bags of weights with offsets",
            bind: |r, t| {
                let bags = Bags::offsets(BagMode::Sum, &[0, 1]);
                r.embedding_bag(bags, &ZERO, &t.table, &t.ids, Some(&t.rows))
            },
            refused: refused(OpKind::EmbeddingBag, Role::Weights),
            expected: &[40.0, 120.0],
        },
        Copying {
            what: "bags with offsets",
            bind: |r, t| {
                let bags = Bags::offsets(BagMode::Sum, &[0, 1]);
                r.embedding_bag(bags, &ZERO, &t.table, &t.ids, None)
            },
            refused: None,
            expected: &[4.0, 4.0],
        },
        Copying {
            what: "bags of weights in rows",
            bind: |r, t| {
                let bags = Bags::rows(BagMode::Sum);
                let (ids, rows) = (t.ids.reshape(&[2, 1])?, t.rows.reshape(&[2, 1])?);
                r.embedding_bag(bags, &ZERO, &t.table, &ids, Some(&rows))
            },
            refused: None,
            expected: &[40.0, 120.0],
        },
        Copying {
            what: "a gather",
            bind: |r, t| r.gather(OP, &ZERO, &t.table, &t.ids),
            refused: None,
            expected: &[4.0, 4.0],
        },
    ]
}

/// A pass has no place for copies: what makes some is refused there, and does its work in an encoder.
#[test]
fn what_copies_is_refused_in_a_pass_and_bound_all_the_same() {
    for engine in engines() {
        for case in copying() {
            let what = case.what;
            let is_scatter = what == "a scatter over a copy" || what == "a gradient";
            let tensors = Tensors {
                table: upload(engine, &[4], vec![1.0f32, 2.0, 3.0, 4.0]),
                ids: upload(engine, &[2], vec![3u32, if is_scatter { 9 } else { 3 }]),
                rows: upload(engine, &[2], vec![10.0f32, 30.0]),
            };
            let mut expected = case.expected.to_vec();
            if is_scatter {
                // The second index writes nothing.
                expected[3] -= 30.0;
            }
            let mut made = None;
            let binding = engine.bind(|r| {
                made = Some((case.bind)(r, &tensors)?);
                Ok(())
            });
            let (binding, made) = (binding.expect(what), made.expect(what));
            let refused = submitted(engine, |encoder| in_pass(&binding, encoder));
            assert_eq!(refused.err(), case.refused, "{what}");
            if case.refused.is_none() {
                assert_eq!(down(engine, &made), expected, "{what}");
            }
            submitted(engine, |encoder| {
                binding.encode(encoder);
                binding.encode(encoder);
            });
            assert_eq!(down(engine, &made), expected, "{what}");
        }
    }
}

/// Each call of a binding clears, copies and counts for itself; one that fails leaves the others.
#[test]
fn a_call_that_fails_leaves_the_others_bound() {
    for engine in engines() {
        let mut sums = upload(engine, &[4], vec![0.0f32; 4]);
        let (ids, ones) = (
            upload(engine, &[2], vec![1u32, 1]),
            upload(engine, &[2], vec![1.0f32; 2]),
        );
        let three = upload(engine, &[3], vec![1.0f32; 3]);
        let binding = engine.bind(|r| {
            let failed = r.scatter(OP, Reduce::Add, &Rules::ONNX, &sums, &ids, &three);
            assert!(
                matches!(failed, Err(Error::UpdatesShape { .. })),
                "{failed:?}"
            );
            r.scatter_into(OP, Reduce::Add, &ZERO, &mut sums, &ids, &ones)
        });
        // What failed would have copied, and counted.
        let binding = binding.unwrap();
        submitted(engine, |encoder| in_pass(&binding, encoder)).unwrap();
        assert_eq!(down(engine, &sums), [0.0, 2.0, 0.0, 0.0]);
        assert_eq!(binding.check().wait(), Err(Error::NotCounted));

        let failed = engine.bind(|r| {
            r.scatter_into(OP, Reduce::Add, &ZERO, &mut sums, &ids, &ones)?;
            r.scatter_into(OP, Reduce::Add, &ZERO, &mut sums, &ids, &three)
        });
        assert!(
            matches!(failed, Err(Error::UpdatesShape { .. })),
            "{failed:?}"
        );
        assert_eq!(down(engine, &sums), [0.0, 2.0, 0.0, 0.0]);
    }
}

/// The binding keeps what it needs, and nothing of that serves others.
#[test]
fn a_binding_outlives_its_tensors() {
    for engine in engines() {
        let output = buffer_with(engine, &[0xa5; 32]);
        let binding = {
            let table = upload(engine, &[64], (0..64).collect::<Vec<u32>>());
            let ids = upload(engine, &[4], vec![63u32, 0, 5, 7]);
            let layout = Layout::contiguous(&[4]);
            let mut rows = DeviceTensor::<u32>::wrap(output.slice(8..), layout).unwrap();
            let bound = engine.bind(|r| {
                let twice = r.gather(OP, &ZERO, &table, &table)?;
                r.gather_into(OP, &ZERO, &twice, &ids, &mut rows)
            });
            bound.unwrap()
        };
        let others: Vec<_> = (0..8)
            .map(|_| upload(engine, &[64], vec![9u32; 64]))
            .collect();
        submitted(engine, |encoder| binding.encode(encoder));
        let mut expected = [0xa5; 32];
        for (n, row) in [63u32, 0, 5, 7].into_iter().enumerate() {
            expected[8 + 4 * n..][..4].copy_from_slice(&row.to_le_bytes());
        }
        assert_eq!(bytes_of(engine, &output), expected);
        for other in others {
            let other = engine.download(&other).wait().unwrap();
            assert_eq!(other.data(), [9; 64]);
        }
    }
}

/// Compiling ahead records nothing that could be seen, and fails as the calls do.
#[test]
fn warming_up_runs_nothing() {
    for engine in engines() {
        let mut sums = upload(engine, &[4], vec![0.0f32; 4]);
        let (ids, ones) = (
            upload(engine, &[2], vec![1u32, 9]),
            upload(engine, &[2], vec![1.0f32; 2]),
        );
        let warm = engine.warm_up(|r| {
            r.scatter_into(OP, Reduce::Add, &Rules::ONNX, &mut sums, &ids, &ones)?;
            r.gather(OP, &Rules::ONNX, &sums, &ids).map(drop)
        });
        assert_eq!(warm, Ok(()));
        assert_eq!(engine.check(&sums).wait(), Ok(None));
        assert_eq!(down(engine, &sums), [0.0; 4]);
        let refused = engine.warm_up(|r| r.gather(Op::gather(3), &ZERO, &sums, &ids).map(drop));
        assert!(
            matches!(refused, Err(Error::AxisOutOfRange { .. })),
            "{refused:?}"
        );
    }
}
