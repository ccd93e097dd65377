//! Types of other crates, each behind a cargo feature of its name.
//!
//! # `half` and `num-complex`
//!
//! `half::f16`, `half::bf16` and `num_complex::Complex` of `f32` and `f64` are
//! [`Element`](crate::Element)s, and [`HasDType`](crate::HasDType) names their
//! [`DType`](crate::DType)s.
//!
#![cfg_attr(all(feature = "half", feature = "num-complex"), doc = "```")]
#![cfg_attr(not(all(feature = "half", feature = "num-complex")), doc = "```ignore")]
//! use half::f16;
//! use num_complex::Complex64;
//! use wgpu_gather::{DType, Executor, HasDType, Op, Rules, Tensor};
//!
//! // Under JAX's rules, what is read for a bad index depends on the type.
//! fn take<T: HasDType>(values: [T; 2]) -> wgpu_gather::Result<Vec<T>> {
//!     let (params, ids) = (Tensor::new(&[2], values.to_vec())?, Tensor::new(&[2], vec![-1, 2])?);
//!     let rules = Rules::jax_fill(T::DTYPE);
//!     let taken = Executor::Cpu.gather(Op::gather(0), &rules, &params, &ids).wait()?;
//!     Ok(taken.into_data())
//! }
//!
//! let halves = take([f16::ZERO, f16::ONE])?;
//! assert!(halves[0] == f16::ONE && halves[1].is_nan());
//! let complex = take([Complex64::ZERO, Complex64::I])?;
//! assert!(complex[0] == Complex64::I && complex[1].re.is_nan());
//! assert_eq!((f16::DTYPE, Complex64::DTYPE), (DType::F16, DType::C128));
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! # `ndarray`
//!
//! **In.** [`TensorView::try_from`](crate::TensorView) takes an array of ndarray, of any number of
//! dims, by reference, or an `ArrayView` by value, and copies nothing. Strides may be those of any
//! order of the dims, negative (reversed) and zero (broadcast).
//!
//! **Out.** `ArrayD::try_from` takes a [`Tensor`](crate::Tensor) and keeps its data;
//! `ArrayViewD::try_from` takes a reference to one.
//!
#![cfg_attr(feature = "ndarray", doc = "```")]
#![cfg_attr(not(feature = "ndarray"), doc = "```ignore")]
//! use ndarray::{ArrayD, array, s};
//! use wgpu_gather::{Executor, Op, Rules, TensorView};
//!
//! let table = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! let ids = array![0i64, -1, 9];
//!
//! // two of three ids, and the columns of the table, last column first
//! let columns = TensorView::try_from(table.slice(s![.., ..;-1]).reversed_axes())?;
//! let ids = TensorView::try_from(ids.slice(s![..2]))?;
//! let taken = Executor::Cpu.gather(Op::gather(0), &Rules::NUMPY, &columns, &ids).wait()?;
//!
//! let taken = ArrayD::try_from(taken)?;
//! assert_eq!(taken, array![[3.0, 6.0], [1.0, 4.0]].into_dyn());
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! **Views with gaps.** A [`TensorView`](crate::TensorView) looks into one slice. For a view that
//! leaves out elements in between, such as `table.slice(s![.., ..2])`, there may be no such slice:
//! what is left out may be borrowed for writing elsewhere (`multi_slice_mut` gives such views). The
//! conversion refuses them ([`Error::ViewHasGaps`](crate::Error::ViewHasGaps)), as it does views
//! whose elements overlap otherwise than by broadcasting. There are two ways on:
//!
#![cfg_attr(
    feature = "ndarray",
    doc = "- [`TensorView::part_of`](crate::TensorView::part_of) takes the view together with the array that",
    doc = "  it is a part of, and copies nothing.",
    doc = "- [`without_gaps`] copies the view, but only if it has gaps."
)]
#![cfg_attr(
    not(feature = "ndarray"),
    doc = "- `TensorView::part_of` takes the view together with the array that it is a part of, and",
    doc = "  copies nothing.",
    doc = "- `without_gaps` copies the view, but only if it has gaps."
)]
//!
#![cfg_attr(feature = "ndarray", doc = "```")]
#![cfg_attr(not(feature = "ndarray"), doc = "```ignore")]
//! use ndarray::{array, s};
//! use wgpu_gather::{TensorView, interop};
//!
//! let table = array![[1, 2, 3], [4, 5, 6]];
//! let left = table.slice(s![.., ..2]);
//!
//! let there = TensorView::part_of(&left, &table)?;
//! assert_eq!((there.shape(), there.layout().strides()), (&[2, 2][..], &[3, 1][..]));
//!
//! let left = interop::without_gaps(left);
//! let copied = TensorView::try_from(&left)?;
//! assert_eq!(copied.data(), [1, 2, 4, 5]);
//! # Ok::<(), wgpu_gather::Error>(())
//! ```
//!
//! **To a device.** What takes a [`TensorView`](crate::TensorView) takes an array:
//!
#![cfg_attr(all(feature = "ndarray", feature = "gpu"), doc = "```no_run")]
#![cfg_attr(not(all(feature = "ndarray", feature = "gpu")), doc = "```ignore")]
//! use ndarray::{Array2, ArrayD, array};
//! use wgpu_gather::{Op, Rules, TensorView, gpu::Engine};
//!
//! # async fn look_up(engine: Engine) -> wgpu_gather::Result<()> {
//! let table = Array2::<f32>::zeros((30_522, 384));
//! let ids = array![[101i32, 2023], [2003, 102]];
//!
//! let table = engine.upload(&TensorView::try_from(table.t())?).await?;
//! let ids = engine.upload(&TensorView::try_from(&ids)?).await?;
//! let columns = engine.gather(Op::gather(1), &Rules::ONNX, &table, &ids)?;
//! let columns = ArrayD::try_from(engine.download(&columns).await?)?; // 384 × 2 × 2
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "ndarray")]
mod ndarray;

#[cfg(feature = "ndarray")]
pub use self::ndarray::without_gaps;
