//! As many updates as no sort holds at once.

use wgpu_gather::{DType, Executor, IndexType, Indices, Layout, Op, Params, Reduce, Rules};

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
    let updates = Params::new(&three[..], DType::I32, repeated(0)).unwrap();
    let (op, reduce, rules) = (Op::gather(0), Reduce::Add, Rules::default());
    let mut sums = vec![-1i32; ROWS];
    let bytes = bytemuck::cast_slice_mut(&mut sums);
    Executor::Cpu
        .scatter_into(op, reduce, &rules, &[ROWS], bytes, &indices, &updates)
        .wait()
        .unwrap();
    assert!(sums.iter().all(|&sum| sum == 3 * 100_000 - 1), "{sums:?}");
}
