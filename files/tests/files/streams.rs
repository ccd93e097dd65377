//! `.npy` files that come through streams, and tensors that lie in no file.

use std::io::Read;

use wgpu_gather::{AnyTensor, DType};
use wgpu_gather_files::{Stored, StoredTensor, TensorFile};

use crate::make::*;

/// The text of the error of reading `stream`.
fn complaint(stream: &[u8]) -> String {
    TensorFile::read_npy("-", stream).unwrap_err().to_string()
}

#[test]
fn a_stream_is_read_up_to_the_end_of_its_array() {
    // Larger than a header can be, so that it takes a second read.
    let long: Vec<u8> = (0..20_000u32).map(|n| n as u8).collect();
    for data in [&[7, 8, 9][..], &long] {
        let array = npy("|u1", &format!("({},)", data.len()), data);
        let mut stream = &[&array[..], &[1; 20_000]].concat()[..];
        let file = TensorFile::read_npy("-", &mut stream).unwrap();
        assert_eq!(file.tensors().unwrap()[0].shape(), [data.len()]);
        let tensor = file.tensor("").unwrap();
        assert_eq!((tensor.bytes(), tensor.mapped_bytes()), (data, 0));
    }
}

#[test]
fn a_stream_that_does_not_end_is_read_no_further_than_its_header() {
    assert_eq!(
        TensorFile::read_npy("-", std::io::repeat(0))
            .unwrap_err()
            .to_string(),
        "-: not a .npy file: it does not start with \\x93NUMPY"
    );
    let start = npy("<f4", "(2,)", &[]);
    let endless = start.chain(std::io::repeat(0));
    let tensor = TensorFile::read_npy("-", endless)
        .unwrap()
        .tensor("")
        .unwrap();
    assert_eq!(tensor.bytes(), [0; 8]);
}

#[test]
fn a_stream_that_ends_early_is_an_error_whatever_it_announces() {
    assert_eq!(
        complaint(&npy("<f4", "(3, 2)", &[0; 23])),
        "-: truncated: shape [3, 2] of f32 needs 24 bytes of data, the file has 23"
    );
    assert_eq!(
        complaint(&npy("|u1", "(1152921504606846976,)", &[0; 5])),
        "-: truncated: shape [1152921504606846976] of u8 needs 1152921504606846976 bytes of data, \
         the file has 5"
    );
    assert_eq!(
        complaint(b"\x93NUMPY"),
        "-: truncated: 6 bytes end within the .npy header"
    );
}

#[test]
fn a_tensor_in_memory_is_what_it_was_made_of() {
    let typed = AnyTensor::new(&[2, 1], DType::I16, vec![1, 0, 2, 0]).unwrap();
    let typed = StoredTensor::in_memory("typed", typed);
    assert_eq!(
        (typed.stored(), typed.shape()),
        (Stored::Typed(DType::I16), &[2, 1][..])
    );
    assert_eq!(typed.indices().unwrap().bytes(), [1, 0, 0, 0, 2, 0, 0, 0]);
    let raw = AnyTensor::new(&[1], 3, vec![1, 2, 3]).unwrap();
    let raw = StoredTensor::in_memory("raw", raw);
    assert_eq!(
        (raw.stored(), raw.bytes()),
        (Stored::Raw(3), &[1, 2, 3][..])
    );
    assert_eq!(
        raw.indices().unwrap_err().to_string(),
        "raw: elements of type V3 cannot index (allowed: i8, u8, i16, u16, i32, u32, i64, u64)"
    );
}
