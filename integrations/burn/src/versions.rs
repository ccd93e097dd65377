//! Which burn goes with which wgpu, and the compile error where an application has another.
//!
//! Two versions of burn in a program have each their own `Tensor`. The traits here are implemented for
//! the one that this crate is built with; the compiler prints their words for any other.

use burn::tensor::Tensor;
use burn::tensor::wgpu::{WgpuOptions, WgpuSetup};

use crate::kind::Kind;

/// The words of the compile errors: the table in the documentation of the crate.
macro_rules! fits {
    ($(#[$doc:meta])* $vis:vis trait $name:ident $(<$(const $n:ident: usize, $k:ident)?>)? { $($body:tt)* }) => {
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = "`{Self}` is not of the burn that wgpu-gather-burn 0.1 is built with",
            label = "of another version of burn, or no such type of burn",
            note = "wgpu-gather-burn 0.1 goes with burn 0.22, wgpu 30 and wgpu-gather 0.1",
            note = "`cargo tree --invert burn` lists the versions of burn in this program and who asks for them"
        )]
        $vis trait $name $(<$(const $n: usize, $k)?>)? { $($body)* }
    };
}

fits! {
    /// A tensor of the burn that this crate is built with: [`Tensor`].
    pub trait BurnTensor<const D: usize, K> {
        #[doc(hidden)]
        fn tensor(self) -> Tensor<D, K> where K: Kind;
    }
}

fits! {
    /// Options of the burn that this crate is built with: [`WgpuOptions`].
    pub trait BurnOptions {
        #[doc(hidden)]
        fn options(self) -> WgpuOptions;
    }
}

fits! {
    /// A setup of the burn that this crate is built with: [`WgpuSetup`].
    pub trait BurnSetup {
        #[doc(hidden)]
        fn setup(self) -> WgpuSetup;
    }
}

impl<const D: usize, K: Kind> BurnTensor<D, K> for Tensor<D, K> {
    fn tensor(self) -> Tensor<D, K> {
        self
    }
}

impl BurnOptions for WgpuOptions {
    fn options(self) -> WgpuOptions {
        self
    }
}

impl BurnSetup for WgpuSetup {
    fn setup(self) -> WgpuSetup {
        self
    }
}
