//! Tensors with a dim of 0 have no elements, however large their other dims are: products of those, which
//! do not fit an address, are never made.

use wgpu_gather::quantized::{
    CodeType, Format, QuantizedTable, ScaleType, SplitFormat, ZeroPoints,
};
use wgpu_gather::{Executor, Layout, Op, Rules, Tensor, TensorView};

use crate::common::{engines, executors};

/// Two dims of this size have more elements than can be counted.
const BIG: usize = 1 << 33;

#[test]
fn gathers_of_nothing() {
    let mut executors = executors();
    executors.push(Executor::Reference);
    let table = TensorView::<f32>::new(&[3, BIG, 0], &[]).unwrap();
    // The index 1, `BIG` times.
    let ids = TensorView::strided(Layout::strided(&[BIG], &[0], 0).unwrap(), &[1i64]).unwrap();
    for executor in &executors {
        let rules = Rules::TORCH;
        let call = || executor.gather(Op::gather(0), &rules, &table, &ids);
        let name = executor.describe();
        assert_eq!(call().wait().expect(&name).shape(), [BIG, BIG, 0], "{name}");
        call().into(&mut []).wait().expect(&name);
        let chunks = call().chunks(1 << 20, |chunk| -> wgpu_gather::Result<()> {
            panic!("{name}: a chunk of {} bytes", chunk.len())
        });
        chunks.wait().expect(&name);
    }
}

#[test]
fn tensors_on_the_device() {
    let nothing = TensorView::<f32>::new(&[BIG, BIG, 0], &[]).unwrap();
    for engine in engines() {
        let mut made = engine.zeros::<f32>(&[BIG, BIG, 0]).unwrap();
        engine.write(&mut made, &nothing).wait().unwrap();
        let back = engine.download(&made).wait().unwrap();
        assert_eq!(back, Tensor::new(&[BIG, BIG, 0], Vec::new()).unwrap());
        engine.download_bytes(&made, &mut []).wait().unwrap();
    }
}

#[test]
fn quantized_tables() {
    let format = Format::Split(SplitFormat {
        codes: CodeType::U4,
        scales: ScaleType::F32,
        zero_points: ZeroPoints::Middle,
        block_size: 16,
        axis: 0,
    });
    let table = QuantizedTable::new(format, &[0, BIG, BIG], &[], &[], &[]).unwrap();
    assert_eq!((table.elements(), table.bytes()), (0, 0));
    table.decode(0, &mut []).unwrap();
    for engine in engines() {
        let there = engine.upload(&table).wait().unwrap();
        assert_eq!(there.shape(), [0, BIG, BIG]);
    }
}
