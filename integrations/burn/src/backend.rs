//! The gathers as an extension of burn's backends: what burn queues, fuses around and differentiates.
//!
//! burn's macro routes a call to the backend of its tensors. Under fusion, it queues the call in burn's
//! order and runs it when its inputs are made. `launch` then executes it on tensors of cubecl.

use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Backend, backend_extension};
use burn_cubecl::CubeBackend;

use crate::call::Call;
use crate::launch::launch;

/// The operators that burn's backends get from this crate.
#[diagnostic::on_unimplemented(
    message = "burn has a feature that wgpu-gather-burn has not",
    note = "turn on `fusion` and `autodiff` of wgpu-gather-burn where they are on in burn"
)]
#[backend_extension(Cube, Fusion: cfg(feature = "fusion"), Autodiff: cfg(feature = "autodiff"))]
pub(crate) trait GatherBackend: Backend {
    #[fusion(meta = |params, _indices, call| with_shape(params, call))]
    fn gather_float(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> FloatTensor<Self>;

    #[fusion(meta = |params, _indices, call| with_shape(params, call))]
    fn gather_int(params: IntTensor<Self>, indices: IntTensor<Self>, call: Call)
    -> IntTensor<Self>;

    #[fusion(meta = |params, _indices, call| with_shape(params, call))]
    fn gather_bool(
        params: BoolTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> BoolTensor<Self>;

    /// What params get from the gradient of a gather's output: its transpose.
    #[cfg(feature = "autodiff")]
    #[fusion(meta = |gradient, _indices, call| gradient_of(gradient, call))]
    fn gather_gradient(
        gradient: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> FloatTensor<Self>;
}

/// The output has the elements of params.
#[cfg(feature = "fusion")]
fn with_shape(
    params: &burn::backend::fusion::custom::TensorSpec,
    call: &Call,
) -> burn::backend::fusion::custom::TensorSpec {
    burn::backend::fusion::custom::TensorSpec::new(call.output(), params.dtype)
}

/// The gradient has the shape of params.
#[cfg(all(feature = "fusion", feature = "autodiff"))]
fn gradient_of(
    gradient: &burn::backend::fusion::custom::TensorSpec,
    call: &Call,
) -> burn::backend::fusion::custom::TensorSpec {
    burn::backend::fusion::custom::TensorSpec::new(call.params(), gradient.dtype)
}

impl GatherBackend for CubeBackend {
    fn gather_float(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> FloatTensor<Self> {
        launch(params, indices, &call)
    }

    fn gather_int(
        params: IntTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> IntTensor<Self> {
        launch(params, indices, &call)
    }

    fn gather_bool(
        params: BoolTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> BoolTensor<Self> {
        launch(params, indices, &call)
    }

    #[cfg(feature = "autodiff")]
    fn gather_gradient(
        gradient: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> FloatTensor<Self> {
        crate::gradient::launch_gradient(gradient, indices, &call)
    }
}
