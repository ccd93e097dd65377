//! Host calls that the CPU path makes in place of a device without memory for them, and how many.

use wgpu_gather::gpu::{Engine, Options, WhenFull};
use wgpu_gather::quantized::{BlockFormat, QuantizedTable};
use wgpu_gather::{BagMode, Bags, Error, Executor, Op, Reduce, Result, Rules, Tensor};

use crate::common::{engine_with, engines};

const OP: Op = Op::Gather {
    axis: Some(0),
    batch_dims: 0,
};
const RULES: Rules = Rules::TENSORFLOW_GPU;

/// Rows, which rows, and the same many rows again.
struct Operands {
    table: Tensor<f32>,
    ids: Tensor<u32>,
    rows: Tensor<f32>,
    codes: Vec<u8>,
}

impl Operands {
    /// Tables of more than 4 KiB.
    fn new() -> Self {
        let floats = |rows: usize| {
            let data = (0..rows * 32).map(|n| (n % 97) as f32 / 3.0).collect();
            Tensor::new(&[rows, 32], data).expect("a tensor")
        };
        Operands {
            table: floats(100),
            ids: Tensor::new(&[5], vec![99u32, 3, 100, 3, 0]).expect("indices"),
            rows: floats(5),
            codes: [0x00u8, 0x3c]
                .into_iter()
                .chain(0..32)
                .cycle()
                .take(34 * 200)
                .collect(),
        }
    }

    fn quantized(&self) -> QuantizedTable<'_> {
        QuantizedTable::blocks(BlockFormat::Q8_0, &[200, 32], &self.codes).expect("a table")
    }
}

type HostCall = fn(&Executor, &Operands) -> Result<Vec<f32>>;

fn bags() -> Bags<'static> {
    Bags::offsets(BagMode::Sum, &[0, 3])
}

const CALLS: [(&str, HostCall); 9] = [
    ("gather", |on, with| {
        let made = on.gather(OP, &RULES, &with.table, &with.ids).wait();
        made.map(Tensor::into_data)
    }),
    ("gather into", |on, with| {
        let mut output = vec![f32::NAN; 5 * 32];
        on.gather(OP, &RULES, &with.table, &with.ids)
            .into(&mut output)
            .wait()?;
        Ok(output)
    }),
    ("gather in chunks", |on, with| {
        let mut output = Vec::new();
        let call = on.gather(OP, &RULES, &with.table, &with.ids);
        let chunks = call.chunks::<Error, _>(100, |chunk| {
            output.extend_from_slice(chunk);
            Ok(())
        });
        chunks.wait()?;
        Ok(bytemuck::pod_collect_to_vec(&output))
    }),
    ("quantized gather", |on, with| {
        let table = with.quantized();
        let made = on.gather(OP, &RULES, &table.to::<f32>(), &with.ids).wait();
        made.map(Tensor::into_data)
    }),
    ("scatter", |on, with| {
        let (base, ids, rows) = (&with.table, &with.ids, &with.rows);
        let made = on.scatter(OP, Reduce::Add, &RULES, base, ids, rows).wait();
        made.map(Tensor::into_data)
    }),
    ("scatter into", |on, with| {
        let mut output = with.table.data().to_vec();
        let (shape, ids, rows) = (with.table.shape(), &with.ids, &with.rows);
        on.scatter_into(OP, Reduce::Max, &RULES, shape, &mut output, ids, rows)
            .wait()?;
        Ok(output)
    }),
    ("gradient", |on, with| {
        let shape = with.table.shape();
        let made = on.gather_gradient(OP, &RULES, shape, &with.ids, &with.rows);
        made.wait().map(Tensor::into_data)
    }),
    ("bags", |on, with| {
        let made = on.embedding_bag(bags(), &RULES, &with.table, &with.ids);
        made.wait().map(Tensor::into_data)
    }),
    ("quantized bags", |on, with| {
        let table = with.quantized();
        let decoded = table.to::<f32>();
        let made = on.embedding_bag(bags(), &RULES, &decoded, &with.ids);
        made.wait().map(Tensor::into_data)
    }),
];

fn bounded(engine: &Engine, when_full: WhenFull) -> Engine {
    let options = Options::default()
        .with_max_memory_bytes(4 << 10)
        .with_when_full(when_full);
    engine_with(engine, options)
}

#[test]
fn calls_of_every_verb_are_made_by_the_cpu_and_counted() {
    let with = Operands::new();
    for engine in engines() {
        let own = bounded(engine, WhenFull::UseCpu);
        let executor = Executor::Gpu(own.clone());
        assert_eq!(own.fallbacks().calls, 0);
        assert!(own.fallbacks().last.is_none());
        for (n, (verb, call)) in CALLS.iter().enumerate() {
            let expected = call(&Executor::Reference, &with).expect(verb);
            assert_eq!(call(&executor, &with).expect(verb), expected, "{verb}");
            let fallbacks = own.fallbacks();
            assert_eq!(fallbacks.calls, n as u64 + 1, "{verb}");
            let is_full = matches!(fallbacks.last, Some(Error::GpuOutOfMemory { .. }));
            assert!(is_full, "{verb}: {:?}", fallbacks.last);
        }
        assert_eq!(own.pool_bytes(), 0, "nothing was uploaded");
        assert_eq!(engine.fallbacks().calls, 0, "it is the engine's own count");
    }
}

#[test]
fn calls_of_every_verb_fail_where_they_are_to() {
    let with = Operands::new();
    for engine in engines() {
        let own = bounded(engine, WhenFull::Fail);
        let executor = Executor::Gpu(own.clone());
        for (verb, call) in CALLS {
            let refused = call(&executor, &with);
            assert!(
                matches!(refused, Err(Error::GpuOutOfMemory { .. })),
                "{verb}: {refused:?}"
            );
        }
        assert_eq!(own.fallbacks().calls, 0);
    }
}

/// What fits is made by the device, and what is wrong is no lack of memory.
#[test]
fn other_calls_are_not_counted() {
    let with = Operands::new();
    for engine in engines() {
        let own = bounded(engine, WhenFull::UseCpu);
        let executor = Executor::Gpu(own.clone());
        let few = Tensor::new(&[2, 2], vec![1.0f32, 2.0, 3.0, 4.0]).unwrap();
        let one = Tensor::new(&[1], vec![1u32]).unwrap();
        let rows = executor.gather(OP, &RULES, &few, &one).wait().unwrap();
        assert_eq!(rows.data(), [3.0, 4.0]);
        let refused = executor.gather(Op::gather(5), &RULES, &with.table, &with.ids);
        assert!(matches!(refused.wait(), Err(Error::AxisOutOfRange { .. })));
        assert_eq!(own.fallbacks().calls, 0);
        // A call that falls back and then finds a bad index was made by the CPU all the same.
        let bad = executor.gather(OP, &Rules::ONNX, &with.table, &with.ids);
        assert!(matches!(bad.wait(), Err(Error::IndexOutOfBounds(_))));
        assert_eq!(own.fallbacks().calls, 1);
    }
}
