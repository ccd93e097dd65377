//! Tensors of floats, integers and bools: which operator of the extension takes them.

use burn::backend::{Dispatch, DispatchTensor};
use burn::tensor::kind::Basic;
use burn::tensor::{Bool, Float, Int, Tensor};

use crate::backend::GatherBackend;
use crate::queued::{QueuedBags, QueuedGather, QueuedScatter};

/// A kind of burn's tensors: `Float`, `Int` and `Bool`.
pub trait Kind: Basic + sealed::Sealed {}

impl Kind for Float {}
impl Kind for Int {}
impl Kind for Bool {}

/// A kind of burn's tensors that has sums: `Float` and `Int`.
pub trait Number: Kind + sealed::Pools {}

impl Number for Float {}
impl Number for Int {}

pub(crate) mod sealed {
    use burn::tensor::Tensor;
    use burn::tensor::kind::Basic;

    use super::{DispatchTensor, QueuedBags, QueuedGather, QueuedScatter};

    /// What only this crate implements and calls.
    pub trait Sealed: Basic {
        /// Has burn queue the gather.
        #[expect(private_interfaces, reason = "sealed: no other crate can name it")]
        fn gather(
            params: DispatchTensor,
            indices: DispatchTensor,
            call: QueuedGather,
        ) -> DispatchTensor;

        /// Has burn queue the scatter.
        #[expect(private_interfaces, reason = "sealed: no other crate can name it")]
        fn scatter(
            base: DispatchTensor,
            indices: DispatchTensor,
            updates: DispatchTensor,
            call: QueuedScatter,
        ) -> DispatchTensor;

        /// Whether burn's autodiff tracks the tensor.
        fn is_tracked<const D: usize>(tensor: &Tensor<D, Self>) -> bool;
    }

    /// What only this crate implements and calls, of kinds that have sums.
    pub trait Pools {
        /// Has burn queue the pooled lookup.
        #[expect(private_interfaces, reason = "sealed: no other crate can name it")]
        fn pool(
            params: DispatchTensor,
            indices: DispatchTensor,
            call: QueuedBags,
        ) -> DispatchTensor;
    }
}

macro_rules! kinds {
    ($($kind:ident: $gather:ident, $scatter:ident, $is_tracked:expr;)*) => {$(
        impl sealed::Sealed for $kind {
            #[expect(private_interfaces, reason = "sealed: no other crate can name it")]
            fn gather(params: DispatchTensor, indices: DispatchTensor, call: QueuedGather) -> DispatchTensor {
                Dispatch::$gather(params, indices, call)
            }

            #[expect(private_interfaces, reason = "sealed: no other crate can name it")]
            fn scatter(
                base: DispatchTensor,
                indices: DispatchTensor,
                updates: DispatchTensor,
                call: QueuedScatter,
            ) -> DispatchTensor {
                Dispatch::$scatter(base, indices, updates, call)
            }

            fn is_tracked<const D: usize>(tensor: &Tensor<D, $kind>) -> bool {
                let is_tracked: fn(&Tensor<D, $kind>) -> bool = $is_tracked;
                is_tracked(tensor)
            }
        }
    )*};
}

#[cfg(feature = "autodiff")]
fn is_tracked<const D: usize>(tensor: &Tensor<D>) -> bool {
    tensor.is_tracked()
}

#[cfg(not(feature = "autodiff"))]
fn is_tracked<const D: usize>(_: &Tensor<D>) -> bool {
    false
}

kinds! {
    Float: gather_float, scatter_float, is_tracked;
    Int: gather_int, scatter_int, |_| false;
    Bool: gather_bool, scatter_bool, |_| false;
}

macro_rules! numbers {
    ($($kind:ident: $pool:ident;)*) => {$(
        impl sealed::Pools for $kind {
            #[expect(private_interfaces, reason = "sealed: no other crate can name it")]
            fn pool(params: DispatchTensor, indices: DispatchTensor, call: QueuedBags) -> DispatchTensor {
                Dispatch::$pool(params, indices, call)
            }
        }
    )*};
}

numbers! {
    Float: bags_float;
    Int: bags_int;
}
