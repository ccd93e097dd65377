//! Tensors of floats, integers and bools: which operator of the extension gathers from them.

use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::kind::Basic;
use burn::tensor::{Bool, Float, Int};

use crate::backend::GatherBackend;
use crate::call::Call;

/// A kind of burn's tensors: `Float`, `Int` and `Bool`.
pub trait Kind: Basic + sealed::Sealed {}

impl Kind for Float {}
impl Kind for Int {}
impl Kind for Bool {}

pub(crate) mod sealed {
    use super::{Call, DispatchTensor};

    /// What only this crate implements and calls.
    pub trait Sealed {
        /// Has burn queue the gather.
        #[expect(private_interfaces, reason = "sealed: no other crate can name it")]
        fn gather(params: DispatchTensor, indices: DispatchTensor, call: Call) -> DispatchTensor;
    }
}

macro_rules! kinds {
    ($($kind:ident: $gather:ident),*) => {$(
        impl sealed::Sealed for $kind {
            #[expect(private_interfaces, reason = "sealed: no other crate can name it")]
            fn gather(params: DispatchTensor, indices: DispatchTensor, call: Call) -> DispatchTensor {
                Dispatch::$gather(params, indices, call)
            }
        }
    )*};
}

kinds!(Float: gather_float, Int: gather_int, Bool: gather_bool);
