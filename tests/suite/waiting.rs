//! Small gathers wait to be submitted together, and nobody can see that they do.
//!
//! Every test holds gathers back and then does something that would show it: wrong data, or memory
//! that stays taken. Expected values come from the tables here, never from a gather.

mod callbacks;
mod limits;
mod order;
mod threads;
mod verbs;

use wgpu_gather::gpu::internals::waiting_gathers;
use wgpu_gather::gpu::{DeviceTensor, Engine, Options};
use wgpu_gather::{Op, Rules, Tensor};

use crate::common::engine_with;

/// Elements of the tensors: 256 bytes, the smallest buffer that the pool has.
const N: usize = 64;

/// What the table of a test holds.
fn values() -> Vec<u32> {
    (0..N as u32).map(|n| 1000 + n).collect()
}

/// Indices that reverse it.
fn reversed() -> Vec<u32> {
    (0..N as u32).rev().collect()
}

/// Values to overwrite either with.
fn others() -> Vec<u32> {
    vec![7; N]
}

/// The reversed table.
fn expected() -> Vec<u32> {
    (0..N as u32).map(|n| 1063 - n).collect()
}

fn upload(engine: &Engine, values: Vec<u32>) -> DeviceTensor<u32> {
    let tensor = Tensor::new(&[values.len()], values).expect("a tensor");
    engine.upload(&tensor).wait().expect("an upload")
}

fn download(engine: &Engine, tensor: &DeviceTensor<u32>) -> Vec<u32> {
    let tensor = engine.download(tensor).wait().expect("a download");
    tensor.data().to_vec()
}

fn gather(
    engine: &Engine,
    table: &DeviceTensor<u32>,
    ids: &DeviceTensor<u32>,
) -> DeviceTensor<u32> {
    let (op, rules) = (Op::gather(0), Rules::default());
    engine.gather(op, &rules, table, ids).expect("a gather")
}

/// A gather that waits, on an engine of its own for each adapter.
struct Held {
    engine: Engine,
    table: DeviceTensor<u32>,
    ids: DeviceTensor<u32>,
    rows: DeviceTensor<u32>,
}

impl Held {
    fn on(engine: &Engine) -> Held {
        let engine = engine_with(engine, Options::default());
        let table = upload(&engine, values());
        let ids = upload(&engine, reversed());
        let rows = gather(&engine, &table, &ids);
        assert_eq!(waiting_gathers(&engine), 1);
        Held {
            engine,
            table,
            ids,
            rows,
        }
    }
}
