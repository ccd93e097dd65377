//! Gathers from quantised tables whose output comes in chunks.

use wgpu_gather::quantized::{BlockFormat, FloatType, QuantizedTable};
use wgpu_gather::{Error, Executor, Indices, Op, Rules, Tensor};

use crate::common::executors;

/// The chunks of rows 2, 0 and `last` of three rows of one block each.
fn chunks(executor: &Executor, last: u32, most: usize) -> (Result<(), Error>, Vec<Vec<u8>>) {
    let bytes: Vec<u8> = (0..3 * 34).map(|n| n % 60).collect();
    let table = QuantizedTable::blocks(BlockFormat::Q8_0, &[3, 32], &bytes).unwrap();
    let ids = Tensor::new(&[3], vec![2, 0, last]).unwrap();
    let ids = Indices::try_from(&ids.view()).unwrap();
    let decoded = table.to_type(FloatType::F16);
    let call = executor.gather(Op::gather(0), &Rules::ONNX, &decoded, &ids);
    let mut got = Vec::new();
    let made = call.chunks(most, |chunk| {
        got.push(chunk.to_vec());
        Ok(())
    });
    (made.wait(), got)
}

#[test]
fn chunks_of_any_size_make_the_output() {
    let (made, whole) = chunks(&Executor::Reference, 1, usize::MAX);
    assert!(made.is_ok() && whole.len() == 1 && whole[0].len() == 3 * 32 * 2);
    for executor in executors() {
        let mosts: Vec<usize> = match executor {
            Executor::Gpu(_) => vec![0, 1, 6, 63, 64, 65, 191, 192, 1000],
            _ => (0..200).collect(),
        };
        for most in mosts {
            let (made, got) = chunks(&executor, 1, most);
            assert!(made.is_ok(), "{made:?}");
            assert!(got.iter().all(|c| (1..=most.max(1)).contains(&c.len())));
            assert_eq!(got.concat(), whole[0], "{most} bytes at most");
        }
    }
}

#[test]
fn a_bad_index_is_reported_before_the_first_chunk() {
    let executors = [Executor::Reference].into_iter().chain(executors());
    for executor in executors {
        let (made, got) = chunks(&executor, 3, 10);
        assert!(matches!(made, Err(Error::IndexOutOfBounds(_))), "{made:?}");
        assert_eq!(got.len(), 0, "{}", executor.describe());
    }
}
