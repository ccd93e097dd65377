//! Tensors beyond 2 GiB and 4 GiB on a real device: byte positions and element numbers beyond 32
//! bits. Software Vulkan, or a GPU with the memory.

use wgpu_gather::gpu::Engine;
use wgpu_gather::{Layout, Op, OutOfBounds, Rules, Tensor, TensorView};

use crate::common::{block_on, engines};

/// An engine of its own, whose memory is free when the test is done. Mesa's GL takes twice the
/// memory for buffers so large.
fn own_engine() -> Option<Engine> {
    let Some(engine) = engines()
        .iter()
        .find(|e| e.adapter().api != wgpu_gather::wgpu::Backend::Gl)
    else {
        println!("SKIPPED: tensors beyond 2 GiB, as this machine has an adapter for GL only");
        return None;
    };
    let label = engine.adapter().label();
    Some(block_on(Engine::headless(Some(&label))).expect("an engine"))
}

/// Zeros that take no memory until they are written.
fn zeros<T: bytemuck::Zeroable>(count: usize) -> Vec<T> {
    bytemuck::zeroed_vec(count)
}

#[test]
fn rows_beyond_2_gib() {
    let Some(engine) = own_engine() else { return };
    let rows = (9 << 18) + 77; // of 1 KiB: 2.25 GiB
    let marked = [
        0,
        1,
        131_071,
        131_072,
        2_097_151,
        2_097_152,
        2_097_153,
        rows - 1,
    ];
    let mut table = zeros::<u32>(rows * 256);
    for row in marked {
        for (column, value) in table[row * 256..][..256].iter_mut().enumerate() {
            *value = (row * 256 + column) as u32;
        }
    }
    let view = TensorView::new(&[rows, 256], &table).unwrap();
    let there = engine.upload_blocking(&view).unwrap();
    drop(table);
    let mut ids: Vec<i64> = marked.iter().map(|&row| row as i64).collect();
    ids.extend([rows as i64, -1, i64::MAX]);
    let ids = Tensor::new(&[ids.len()], ids).unwrap();
    let ids = engine.upload_blocking(&ids.view()).unwrap();
    let found = engine.gather(Op::gather(0), &Rules::default(), &there, &ids);
    let found = engine.download_blocking(&found.unwrap()).unwrap();
    for (n, row) in found.data().chunks(256).enumerate() {
        let expected = |column: usize| match marked.get(n) {
            Some(row) => (row * 256 + column) as u32,
            None => 0,
        };
        assert!(
            row.iter().enumerate().all(|(c, &v)| v == expected(c)),
            "row {n}"
        );
    }
}

#[test]
fn bytes_beyond_4_gib() {
    let Some(engine) = own_engine() else { return };
    let count = (1usize << 32) + 12_345;
    let mut params = zeros::<u8>(count);
    let marked = [
        (0, 1u8),
        ((1 << 31) - 1, 2),
        (1 << 31, 3),
        ((1 << 32) - 1, 4),
        (1 << 32, 5),
        ((1 << 32) + 1, 6),
        (count - 1, 7),
    ];
    for (at, value) in marked {
        params[at] = value;
    }
    let view = TensorView::strided(Layout::contiguous(&[count]), &params).unwrap();
    let there = engine.upload_blocking(&view).unwrap();
    drop(params);
    let mut ids: Vec<i64> = marked.iter().map(|&(at, _)| at as i64).collect();
    // Two that 32 bits would take for others, one beyond the end, and the last from the end.
    ids.extend([(1 << 32) + 2, (1 << 33), count as i64, -1]);
    let ids = Tensor::new(&[ids.len()], ids).unwrap();
    let ids = engine.upload_blocking(&ids.view()).unwrap();
    let gather = |rules: Rules| {
        let found = engine.gather(Op::gather(0), &rules, &there, &ids).unwrap();
        engine.download_blocking(&found).unwrap().into_data()
    };
    assert_eq!(gather(Rules::default()), [1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0]);
    let moved = |out_of_bounds| Rules::ONNX.with_out_of_bounds(out_of_bounds);
    assert_eq!(
        gather(moved(OutOfBounds::Clip)),
        [1, 2, 3, 4, 5, 6, 7, 0, 7, 7, 7]
    );
    // 2^33 modulo the extent is 2^33 - 2^32 - 12,345, which lies below 2^32 and holds nothing.
    assert_eq!(
        gather(moved(OutOfBounds::Wrap)),
        [1, 2, 3, 4, 5, 6, 7, 0, 0, 1, 7]
    );
    // The same bytes as rows, through a view.
    let rows = there
        .slice(0, 0..1 << 32)
        .unwrap()
        .reshape(&[1 << 20, 1 << 12]);
    let last = Tensor::new(&[1], vec![(1u32 << 20) - 1]).unwrap();
    let last = engine.upload_blocking(&last.view()).unwrap();
    let row = engine.gather(Op::gather(0), &Rules::default(), &rows.unwrap(), &last);
    let row = engine.download_blocking(&row.unwrap()).unwrap();
    assert_eq!((row.data()[4095], row.data()[4094]), (4, 0));
}
