//! A device that is lost before a call is `DeviceLost` from every verb at every level, and again from
//! the next call; the CPU path works on.

use wgpu_gather::gpu::{DeviceQuantizedTable, DeviceTensor, Engine, Options};
use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{BagMode, Bags, Error, Executor, Op, Reduce, Result, Rules, Tensor};

use crate::common::{engine_with, engines};

const ROWS: usize = 4;
const WIDTH: usize = 32;

/// Operands of all calls: a table, the rows to take from it, what to write there, and a table in Q8_0.
struct Operands {
    table: Tensor<f32>,
    ids: Tensor<u32>,
    rows: Tensor<f32>,
    codes: Vec<u8>,
}

/// The same on a device.
struct OnDevice {
    table: DeviceTensor<f32>,
    ids: DeviceTensor<u32>,
    rows: DeviceTensor<f32>,
    quantized: DeviceQuantizedTable,
}

impl Operands {
    fn new() -> Operands {
        let floats = |rows| Tensor::new(&[rows, WIDTH], vec![1.5f32; rows * WIDTH]);
        Operands {
            table: floats(ROWS).expect("a table"),
            ids: Tensor::new(&[3], vec![3u32, 0, 3]).expect("indices"),
            rows: floats(3).expect("rows"),
            codes: vec![1; ROWS * 34],
        }
    }

    fn quantized(&self) -> QuantizedTable<'_> {
        QuantizedTable::blocks(BlockFormat::Q8_0, &[ROWS, WIDTH], &self.codes).expect("a table")
    }

    fn upload(&self, engine: &Engine) -> OnDevice {
        OnDevice {
            table: engine.upload(&self.table).wait().expect("memory"),
            ids: engine.upload(&self.ids).wait().expect("memory"),
            rows: engine.upload(&self.rows).wait().expect("memory"),
            quantized: engine.upload(&self.quantized()).wait().expect("memory"),
        }
    }
}

fn bags() -> Bags<'static> {
    Bags::offsets(BagMode::Sum, &[0, 1])
}

const OP: Op = Op::gather(0);
const ZERO: Rules = Rules::TENSORFLOW_GPU;

type HostCall = fn(&Executor, &Operands) -> Result<()>;

const HOST: &[(&str, HostCall)] = &[
    ("gather", |on, with| {
        on.gather(OP, &ZERO, &with.table, &with.ids)
            .wait()
            .map(drop)
    }),
    ("scatter", |on, with| {
        let (table, ids, rows) = (&with.table, &with.ids, &with.rows);
        on.scatter(OP, Reduce::Add, &ZERO, table, ids, rows)
            .wait()
            .map(drop)
    }),
    ("gradient", |on, with| {
        let shape = with.table.shape();
        on.gather_gradient(OP, &ZERO, shape, &with.ids, &with.rows)
            .wait()
            .map(drop)
    }),
    ("bags", |on, with| {
        on.embedding_bag(bags(), &ZERO, &with.table, &with.ids)
            .wait()
            .map(drop)
    }),
    ("quantized gather", |on, with| {
        on.gather(OP, &ZERO, &with.quantized().to::<f32>(), &with.ids)
            .wait()
            .map(drop)
    }),
    ("quantized bags", |on, with| {
        on.embedding_bag(bags(), &ZERO, &with.quantized().to::<f32>(), &with.ids)
            .wait()
            .map(drop)
    }),
];

type DeviceCall = fn(&Engine, &mut OnDevice) -> Result<DeviceTensor<f32>>;

const DEVICE: &[(&str, DeviceCall)] = &[
    ("gather", |on, with| {
        on.gather(OP, &ZERO, &with.table, &with.ids)
    }),
    ("scatter", |on, with| {
        on.scatter(OP, Reduce::Add, &ZERO, &with.table, &with.ids, &with.rows)
    }),
    ("scatter in place", |on, with| {
        let (ids, rows) = (&with.ids, &with.rows);
        on.scatter_into(OP, Reduce::Add, &ZERO, &mut with.table, ids, rows)?;
        Ok(with.table.clone())
    }),
    ("gradient", |on, with| {
        on.gather_gradient(OP, &ZERO, &[ROWS, WIDTH], &with.ids, &with.rows)
    }),
    ("bags", |on, with| {
        on.embedding_bag(bags(), &ZERO, &with.table, &with.ids, None)
    }),
    ("quantized gather", |on, with| {
        on.gather(OP, &ZERO, &with.quantized.to::<f32>(), &with.ids)
    }),
    ("quantized bags", |on, with| {
        let decoded = with.quantized.to::<f32>();
        on.embedding_bag(bags(), &ZERO, &decoded, &with.ids, None)
    }),
    ("batch", |on, with| {
        on.batch(|batch| {
            let sums = batch.scatter(OP, Reduce::Add, &ZERO, &with.table, &with.ids, &with.rows)?;
            batch.gather(OP, &ZERO, &sums, &with.ids)
        })
    }),
    ("record", |on, with| {
        let mut encoder = on.device().create_command_encoder(&Default::default());
        let rows = on.record(&mut encoder, |r| {
            r.gather(OP, &ZERO, &with.table, &with.ids)
        })?;
        on.queue().submit([encoder.finish()]);
        Ok(rows)
    }),
    ("bind", |on, with| {
        let (ids, rows) = (&with.ids, &with.rows);
        let add = Reduce::Add;
        let bound = on.bind(|r| r.scatter_into(OP, add, &ZERO, &mut with.table, ids, rows))?;
        let mut encoder = on.device().create_command_encoder(&Default::default());
        bound.encode(&mut encoder);
        on.queue().submit([encoder.finish()]);
        Ok(with.table.clone())
    }),
    ("write", |on, with| {
        let rows = Tensor::new(&[3, WIDTH], vec![2.5f32; 3 * WIDTH])?;
        on.write(&mut with.rows, &rows).wait()?;
        Ok(with.rows.clone())
    }),
    ("zeros", |on, _| on.zeros(&[5])),
];

fn is_lost<T: std::fmt::Debug>(result: Result<T>) -> bool {
    matches!(result, Err(Error::DeviceLost { .. }))
}

#[test]
fn host_calls_of_every_verb_report_a_lost_device() {
    let with = Operands::new();
    for (verb, call) in HOST {
        assert_eq!(call(&Executor::Cpu, &with), Ok(()), "{verb}");
        for engine in engines() {
            let own = engine_with(engine, Options::default());
            let executor = Executor::Gpu(own.clone());
            assert_eq!(call(&executor, &with), Ok(()), "{verb}");
            own.device().destroy();
            for time in ["first", "second"] {
                let got = call(&executor, &with);
                assert!(is_lost(got.clone()), "{verb}, {time} call: {got:?}");
            }
            assert_eq!(call(&Executor::Gpu(engine.clone()), &with), Ok(()));
        }
    }
}

/// Lost before the call, and between the call and the download of what it made.
#[test]
fn calls_on_a_device_of_every_verb_report_its_loss() {
    let operands = Operands::new();
    for (verb, call) in DEVICE {
        for engine in engines() {
            for loss_comes_first in [false, true] {
                let own = engine_with(engine, Options::default());
                let mut with = operands.upload(&own);
                let made = call(&own, &mut with).expect(verb);
                own.download(&made).wait().expect(verb);

                let called = (!loss_comes_first).then(|| call(&own, &mut with).expect(verb));
                own.device().destroy();
                if let Some(made) = called {
                    let got = own.download(&made).wait();
                    assert!(is_lost(got.clone()), "{verb}, its download: {got:?}");
                }
                for time in ["first", "second"] {
                    let got = call(&own, &mut with);
                    let got = got.and_then(|made| own.download(&made).wait());
                    assert!(is_lost(got.clone()), "{verb}, {time} call: {got:?}");
                }
                let got = own.download(&made).wait();
                assert!(is_lost(got.clone()), "{verb}, made before: {got:?}");
            }
        }
    }
}

#[test]
fn transfers_and_counts_report_a_lost_device() {
    let operands = Operands::new();
    for engine in engines() {
        let own = engine_with(engine, Options::default());
        let with = operands.upload(&own);
        let counted = own
            .gather(OP, &Rules::TORCH, &with.table, &with.ids)
            .expect("a gather");
        own.device().destroy();
        let got = own.upload(&operands.table).wait();
        assert!(is_lost(got.map(drop)), "upload");
        let got = own.upload(&operands.quantized()).wait();
        assert!(is_lost(got.map(drop)), "upload of a quantized table");
        let got = own.check(&counted).wait();
        assert!(is_lost(got.clone()), "check: {got:?}");
        let got = own
            .bad_indices(OP, &ZERO, with.table.shape(), &with.ids)
            .wait();
        assert!(is_lost(got.clone()), "bad indices: {got:?}");
    }
}
