//! Tensors beyond 2 GiB and 4 GiB on a real device: byte positions and element numbers beyond 32
//! bits. Software Vulkan, or a GPU with the memory.

use std::sync::MutexGuard;

use wgpu_gather::gpu::{DeviceTensor, Engine};
use wgpu_gather::wgpu::Backend;
use wgpu_gather::{Element, Error, Layout, Op, OutOfBounds, Rules, Tensor, TensorView};

use crate::common::{engines, turn_of_gigabytes};

/// What each test takes of the host's memory, and of the device's: the larger of the two tables, and a
/// quarter of a GiB for the rest.
const NEEDED: u64 = (4 << 30) + (256 << 20);

/// An engine of its own, whose memory is free when the test is done, and the right to use it.
struct Alone {
    engine: Engine,
    _turn: MutexGuard<'static, ()>,
}

/// Mesa's GL takes twice the memory for buffers so large.
fn own_engine() -> Option<Alone> {
    let turn = turn_of_gigabytes();
    let Some(engine) = engines().iter().find(|e| e.adapter().api != Backend::Gl) else {
        println!("SKIPPED: tensors beyond 2 GiB, as this machine has no adapter but for GL");
        return None;
    };
    if let Some(free) = free_memory().filter(|&free| free < NEEDED) {
        println!("SKIPPED: tensors beyond 2 GiB, which need {NEEDED} bytes of memory, not {free}");
        return None;
    }
    let label = engine.adapter().label();
    let engine = Engine::headless(Some(&label)).wait().expect("an engine");
    Some(Alone {
        engine,
        _turn: turn,
    })
}

/// Bytes of the host's memory that can be had, where the system tells.
fn free_memory() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}

/// The table on the device; nothing, if a GPU has no memory for it.
fn uploaded<T: Element>(engine: &Engine, table: &TensorView<'_, T>) -> Option<DeviceTensor<T>> {
    match engine.upload(table).wait() {
        Err(Error::GpuOutOfMemory { what }) if !engine.adapter().is_software() => {
            println!("SKIPPED: tensors beyond 2 GiB: the GPU has no memory for {what}");
            None
        }
        there => Some(there.expect("an upload")),
    }
}

/// Zeros that take no memory until they are written.
fn zeros<T: bytemuck::Zeroable>(count: usize) -> Vec<T> {
    bytemuck::zeroed_vec(count)
}

#[test]
fn rows_beyond_2_gib() {
    let Some(alone) = own_engine() else { return };
    let engine = &alone.engine;
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
    let Some(there) = uploaded(engine, &view) else {
        return;
    };
    drop(table);
    let mut ids: Vec<i64> = marked.iter().map(|&row| row as i64).collect();
    ids.extend([rows as i64, -1, i64::MAX]);
    let ids = Tensor::new(&[ids.len()], ids).unwrap();
    let ids = engine.upload(&ids).wait().unwrap();
    let found = engine.gather(Op::gather(0), &Rules::default(), &there, &ids);
    let found = engine.download(&found.unwrap()).wait().unwrap();
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
    let Some(alone) = own_engine() else { return };
    let engine = &alone.engine;
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
    let Some(there) = uploaded(engine, &view) else {
        return;
    };
    drop(params);
    let mut ids: Vec<i64> = marked.iter().map(|&(at, _)| at as i64).collect();
    // Two that 32 bits would take for others, one beyond the end, and the last from the end.
    ids.extend([(1 << 32) + 2, (1 << 33), count as i64, -1]);
    let ids = Tensor::new(&[ids.len()], ids).unwrap();
    let ids = engine.upload(&ids).wait().unwrap();
    let gather = |rules: Rules| {
        let found = engine.gather(Op::gather(0), &rules, &there, &ids).unwrap();
        engine.download(&found).wait().unwrap().into_data()
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
    let last = engine.upload(&last).wait().unwrap();
    let row = engine.gather(Op::gather(0), &Rules::default(), &rows.unwrap(), &last);
    let row = engine.download(&row.unwrap()).wait().unwrap();
    assert_eq!((row.data()[4095], row.data()[4094]), (4, 0));
}
