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
//!     let taken = Executor::Cpu.run_blocking(Op::gather(0), &rules, &params.view(), &ids.view())?;
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
