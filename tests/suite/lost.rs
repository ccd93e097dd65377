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
            table: engine.upload_blocking(&self.table.view()).expect("memory"),
            ids: engine.upload_blocking(&self.ids.view()).expect("memory"),
            rows: engine.upload_blocking(&self.rows.view()).expect("memory"),
            quantized: engine
                .upload_quantized_blocking(&self.quantized())
                .expect("memory"),
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
        on.run_blocking(OP, &ZERO, &with.table.view(), &with.ids.view())
            .map(drop)
    }),
    ("scatter", |on, with| {
        let (table, ids, rows) = (with.table.view(), with.ids.view(), with.rows.view());
        on.scatter_blocking(OP, Reduce::Add, &ZERO, &table, &ids, &rows)
            .map(drop)
    }),
    ("gradient", |on, with| {
        let shape = with.table.shape();
        on.gather_gradient_blocking(OP, &ZERO, shape, &with.ids.view(), &with.rows.view())
            .map(drop)
    }),
    ("bags", |on, with| {
        on.embedding_bag_blocking(bags(), &ZERO, &with.table.view(), &with.ids.view(), None)
            .map(drop)
    }),
    ("quantized gather", |on, with| {
        on.gather_quantized_blocking::<f32, _>(OP, &ZERO, &with.quantized(), &with.ids.view())
            .map(drop)
    }),
    ("quantized bags", |on, with| {
        on.embedding_bag_quantized_blocking(
            bags(),
            &ZERO,
            &with.quantized(),
            &with.ids.view(),
            None,
        )
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
        on.gather_quantized(OP, &ZERO, &with.quantized, &with.ids)
    }),
    ("quantized bags", |on, with| {
        on.embedding_bag_quantized(bags(), &ZERO, &with.quantized, &with.ids, None)
    }),
    ("batch", |on, with| {
        on.batch(|batch| {
            let sums = batch.scatter(OP, Reduce::Add, &ZERO, &with.table, &with.ids, &with.rows)?;
            batch.gather(OP, &ZERO, &sums, &with.ids)
        })
    }),
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
                own.download_blocking(&made).expect(verb);

                let called = (!loss_comes_first).then(|| call(&own, &mut with).expect(verb));
                own.device().destroy();
                if let Some(made) = called {
                    let got = own.download_blocking(&made);
                    assert!(is_lost(got.clone()), "{verb}, its download: {got:?}");
                }
                for time in ["first", "second"] {
                    let got = call(&own, &mut with);
                    let got = got.and_then(|made| own.download_blocking(&made));
                    assert!(is_lost(got.clone()), "{verb}, {time} call: {got:?}");
                }
                let got = own.download_blocking(&made);
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
        let got = own.upload_blocking(&operands.table.view());
        assert!(is_lost(got.map(drop)), "upload");
        let got = own.upload_quantized_blocking(&operands.quantized());
        assert!(is_lost(got.map(drop)), "upload of a quantized table");
        let got = own.check_blocking(&counted);
        assert!(is_lost(got.clone()), "check: {got:?}");
        let got = own.bad_indices_blocking(OP, &ZERO, with.table.shape(), &with.ids);
        assert!(is_lost(got.clone()), "bad indices: {got:?}");
    }
}
