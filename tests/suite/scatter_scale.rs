//! As many updates as no sort holds at once.

use wgpu_gather::{
    DType, Executor, IndexType, Indices, Layout, Op, Params, Reduce, Rules, ScatterCall,
};

use crate::common::block_on;

/// 10,000 times the same 10,000 ids: tensors that take no memory, so what a scatter takes is its own.
#[test]
fn a_hundred_million_updates_in_parts_on_the_host() {
    const EACH: usize = 10_000;
    const ROWS: usize = 1000;
    // Not in order, and each row as often.
    let ids: Vec<u8> = (0..EACH as u32)
        .flat_map(|n| (n * 7919 % ROWS as u32).to_ne_bytes())
        .collect();
    let repeated = |stride| Layout::strided(&[EACH, EACH], &[0, stride], 0).unwrap();
    let indices = Indices::new(&ids[..], IndexType::U32, repeated(1)).unwrap();
    let three = 3i32.to_ne_bytes();
    let updates = Params::new(&three[..], 4, repeated(0)).unwrap();
    let call = ScatterCall {
        op: Op::gather(0),
        reduce: Reduce::Add,
        rules: &Rules::default(),
        dtype: DType::I32,
        shape: &[ROWS],
        indices: &indices,
        updates: &updates,
    };
    let mut sums = vec![-1i32; ROWS];
    let bytes = bytemuck::cast_slice_mut(&mut sums);
    block_on(Executor::Cpu.scatter_bytes(call, bytes)).unwrap();
    assert!(sums.iter().all(|&sum| sum == 3 * 100_000 - 1), "{sums:?}");
}
