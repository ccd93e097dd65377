//! Gathers in burn's autodiff: each of the gather and its transpose is the gradient of the other.
//!
//! A gather is linear in params, so its gradient is the sum of the output's gradients over all places
//! that an element was read to. An index that read zeros or a fill value read no element.

use burn::backend::autodiff::Autodiff;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};

use crate::backend::GatherBackend;
use crate::call::Call;

/// The operator whose gradient is asked for.
#[derive(Debug)]
struct Gather;

/// [`Gather`] transposed.
#[derive(Debug)]
struct Gradient;

impl<B: GatherBackend> Backward<B, 1> for Gather {
    type State = (IntTensor<B>, Call);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (indices, call) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::gather_gradient(grad, indices, call)
        });
    }
}

impl<B: GatherBackend> Backward<B, 1> for Gradient {
    type State = (IntTensor<B>, Call);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (indices, call) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::gather_float(grad, indices, call)
        });
    }
}

impl<B: GatherBackend, C: CheckpointStrategy> GatherBackend for Autodiff<B, C> {
    fn gather_float(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> FloatTensor<Self> {
        let prepared = Gather
            .prepare::<C>([params.node()])
            .compute_bound()
            .stateful();
        let output = B::gather_float(params.into_primitive(), indices.clone(), call.clone());
        match prepared {
            OpsKind::Tracked(prepared) => prepared.finish((indices, call), output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }

    fn gather_int(
        params: IntTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> IntTensor<Self> {
        B::gather_int(params, indices, call)
    }

    fn gather_bool(
        params: BoolTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> BoolTensor<Self> {
        B::gather_bool(params, indices, call)
    }

    fn gather_gradient(
        gradient: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: Call,
    ) -> FloatTensor<Self> {
        let prepared = Gradient
            .prepare::<C>([gradient.node()])
            .compute_bound()
            .stateful();
        let output = B::gather_gradient(gradient.into_primitive(), indices.clone(), call.clone());
        match prepared {
            OpsKind::Tracked(prepared) => prepared.finish((indices, call), output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }
}
