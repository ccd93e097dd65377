//! The operators as an extension of burn's backends: what burn queues, fuses around and differentiates.
//!
//! burn's macro routes a call to the backend of its tensors. Under fusion, it queues the call in burn's
//! order and runs it when its inputs are made. `launch` then executes it on tensors of cubecl.

use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Backend, backend_extension};
use burn_cubecl::CubeBackend;

use crate::bag::launch_bags;
use crate::gather::launch_gather;
use crate::queued::{QueuedBags, QueuedGather, QueuedScatter};
use crate::scatter::launch_scatter;

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
        call: QueuedGather,
    ) -> FloatTensor<Self>;

    #[fusion(meta = |params, _indices, call| with_shape(params, call))]
    fn gather_int(
        params: IntTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
    ) -> IntTensor<Self>;

    #[fusion(meta = |params, _indices, call| with_shape(params, call))]
    fn gather_bool(
        params: BoolTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
    ) -> BoolTensor<Self>;

    /// What params get from the gradient of a gather's output: its transpose.
    #[cfg(feature = "autodiff")]
    #[fusion(meta = |gradient, _indices, call| gradient_of(gradient, call))]
    fn gather_gradient(
        gradient: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
    ) -> FloatTensor<Self>;

    #[fusion(meta = |base, _indices, _updates, _call| base.clone())]
    fn scatter_float(
        base: FloatTensor<Self>,
        indices: IntTensor<Self>,
        updates: FloatTensor<Self>,
        call: QueuedScatter,
    ) -> FloatTensor<Self>;

    #[fusion(meta = |base, _indices, _updates, _call| base.clone())]
    fn scatter_int(
        base: IntTensor<Self>,
        indices: IntTensor<Self>,
        updates: IntTensor<Self>,
        call: QueuedScatter,
    ) -> IntTensor<Self>;

    #[fusion(meta = |base, _indices, _updates, _call| base.clone())]
    fn scatter_bool(
        base: BoolTensor<Self>,
        indices: IntTensor<Self>,
        updates: BoolTensor<Self>,
        call: QueuedScatter,
    ) -> BoolTensor<Self>;

    #[fusion(meta = |params, _indices, call| of_bags(params, call))]
    fn bags_float(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedBags,
    ) -> FloatTensor<Self>;

    #[fusion(meta = |params, _indices, call| of_bags(params, call))]
    fn bags_int(
        params: IntTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedBags,
    ) -> IntTensor<Self>;

    #[fusion(meta = |params, _indices, _weights, call| of_bags(params, call))]
    fn bags_weighted(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        weights: FloatTensor<Self>,
        call: QueuedBags,
    ) -> FloatTensor<Self>;
}

/// The output has the elements of params.
#[cfg(feature = "fusion")]
fn with_shape(
    params: &burn::backend::fusion::custom::TensorSpec,
    call: &QueuedGather,
) -> burn::backend::fusion::custom::TensorSpec {
    burn::backend::fusion::custom::TensorSpec::new(call.output(), params.dtype)
}

/// The output has a row for each bag, of the elements of params.
#[cfg(feature = "fusion")]
fn of_bags(
    params: &burn::backend::fusion::custom::TensorSpec,
    call: &QueuedBags,
) -> burn::backend::fusion::custom::TensorSpec {
    burn::backend::fusion::custom::TensorSpec::new(call.output(), params.dtype)
}

/// The gradient has the shape of params.
#[cfg(all(feature = "fusion", feature = "autodiff"))]
fn gradient_of(
    gradient: &burn::backend::fusion::custom::TensorSpec,
    call: &QueuedGather,
) -> burn::backend::fusion::custom::TensorSpec {
    burn::backend::fusion::custom::TensorSpec::new(call.params(), gradient.dtype)
}

impl GatherBackend for CubeBackend {
    fn gather_float(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
    ) -> FloatTensor<Self> {
        launch_gather(params, indices, &call)
    }

    fn gather_int(
        params: IntTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
    ) -> IntTensor<Self> {
        launch_gather(params, indices, &call)
    }

    fn gather_bool(
        params: BoolTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
    ) -> BoolTensor<Self> {
        launch_gather(params, indices, &call)
    }

    #[cfg(feature = "autodiff")]
    fn gather_gradient(
        gradient: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
    ) -> FloatTensor<Self> {
        crate::gradient::launch_gradient(gradient, indices, &call)
    }

    fn scatter_float(
        base: FloatTensor<Self>,
        indices: IntTensor<Self>,
        updates: FloatTensor<Self>,
        call: QueuedScatter,
    ) -> FloatTensor<Self> {
        launch_scatter(base, indices, updates, &call)
    }

    fn scatter_int(
        base: IntTensor<Self>,
        indices: IntTensor<Self>,
        updates: IntTensor<Self>,
        call: QueuedScatter,
    ) -> IntTensor<Self> {
        launch_scatter(base, indices, updates, &call)
    }

    fn scatter_bool(
        base: BoolTensor<Self>,
        indices: IntTensor<Self>,
        updates: BoolTensor<Self>,
        call: QueuedScatter,
    ) -> BoolTensor<Self> {
        launch_scatter(base, indices, updates, &call)
    }

    fn bags_float(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedBags,
    ) -> FloatTensor<Self> {
        launch_bags(params, indices, None, &call)
    }

    fn bags_int(
        params: IntTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedBags,
    ) -> IntTensor<Self> {
        launch_bags(params, indices, None, &call)
    }

    fn bags_weighted(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        weights: FloatTensor<Self>,
        call: QueuedBags,
    ) -> FloatTensor<Self> {
        launch_bags(params, indices, Some(weights), &call)
    }
}
