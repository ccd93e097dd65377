//! Tensors of `.npy`, `.npz`, `.safetensors` and `.gguf` files, as what `wgpu_gather` takes: params,
//! indices and quantized tables that are views of the mapped file.
//!
//! [`TensorFile`] opens a file and lists its tensors; [`StoredTensor`] is one of them.
//!
//! ```
//! use wgpu_gather::{Executor, Op, Rules, Tensor};
//! use wgpu_gather_files::TensorFile;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("model.gguf");
//! # let mut bytes = b"GGUF\x03\0\0\0".to_vec();
//! # bytes.extend([1u64, 0, 17].map(u64::to_le_bytes).concat());
//! # bytes.extend(b"token_embd.weight\x02\0\0\0");
//! # bytes.extend([32u64, 3].map(u64::to_le_bytes).concat());
//! # bytes.extend(8u32.to_le_bytes());
//! # bytes.extend(0u64.to_le_bytes());
//! # bytes.resize(bytes.len().next_multiple_of(32), 0);
//! # for row in 0..3u8 { bytes.extend([&[0, 0x38][..], &[row; 32]].concat()); }
//! # std::fs::write(&path, bytes)?;
//! let file = TensorFile::open(&path)?;
//! let words = file.tensor("token_embd.weight")?;
//! assert_eq!((words.stored().to_string(), words.shape()), ("Q8_0".to_owned(), &[3, 32][..]));
//!
//! // The third row and the first, decoded.
//! let ids = Tensor::new(&[2], vec![2i64, 0])?;
//! let table = words.quantized_table()?;
//! let rows = Executor::Cpu.gather(Op::gather(0), &Rules::ONNX, &table.to::<f32>(), &ids).wait()?;
//! assert_eq!((rows.shape(), rows.data()[0]), (&[2, 32][..], 1.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A table of f16 (or bf16) in a `.safetensors` file, decoded to f32 as its rows are gathered, and as it is:
//!
//! ```
//! use wgpu_gather::{DType, Executor, Op, Rules, Tensor};
//! use wgpu_gather_files::TensorFile;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("model.safetensors");
//! # let header = r#"{"words":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]}}"#;
//! # let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
//! # bytes.extend(header.as_bytes());
//! # bytes.extend([0x00, 0x3c, 0x00, 0xc0, 0x00, 0x38, 0x00, 0x00]);
//! # std::fs::write(&path, bytes)?;
//! let words = TensorFile::open(&path)?.tensor("words")?;
//! let ids = Tensor::from([1]);
//!
//! let table = words.quantized_table()?;
//! let rows = Executor::Cpu.gather(Op::gather(0), &Rules::ONNX, &table.to::<f32>(), &ids).wait()?;
//! assert_eq!(rows.data(), [0.5, 0.0]);
//!
//! let halves = Executor::Cpu.gather(Op::gather(0), &Rules::ONNX, &words.params()?, &ids).wait()?;
//! assert_eq!((halves.element_type(), halves.bytes()), (DType::F16.into(), &[0, 0x38, 0, 0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files are not trusted
//!
//! Whatever a file holds, the answer is a tensor within it or an [`Error`]: sizes are checked before
//! anything is read or reserved. What another program must not do is change a file while it is mapped:
//! elements may then change under a gather, and a file that is cut short ends the process with a bus
//! error, as in every program that maps files.
//!
//! Files are little-endian and read without conversion, so this crate does not build for big-endian
//! machines.

mod error;
mod file;
mod format;
mod gguf;
mod info;
mod literal;
mod names;
mod npy;
mod npz;
mod problem;
mod safetensors;
mod source;
mod storage;
mod stored;
mod tensor;

#[cfg(target_endian = "big")]
compile_error!("the files are little-endian and are read without conversion");

pub use error::{Error, Result};
pub use file::TensorFile;
pub use format::FileFormat;
pub use info::TensorInfo;
pub use names::{npy_name, safetensors_name};
pub use problem::Problem;
pub use source::Source;
pub use stored::Stored;
pub use tensor::StoredTensor;
