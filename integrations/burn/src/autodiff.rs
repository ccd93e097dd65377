//! Gathers and scatters in burn's autodiff: each of the gather and its transpose is the gradient of the
//! other.
//!
//! A gather is linear in params, so its gradient is the sum of the output's gradients over all places
//! that an element was read to. An index that read zeros or a fill value read no element. A scatter that
//! adds is linear in base and in updates: base has the output's gradient, and updates what a gather
//! reads of it, with zeros where an index wrote nothing.
//!
//! Other scatters and pooled lookups have no gradient here: the calls refuse tensors that are tracked.

use burn::backend::AutodiffBackend;
use burn::backend::autodiff::Autodiff;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, binary, unary};
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};

use crate::backend::GatherBackend;
use crate::queued::{QueuedBags, QueuedGather, QueuedScatter};

/// The operator whose gradient is asked for.
#[derive(Debug)]
struct Gather;

/// [`Gather`] transposed.
#[derive(Debug)]
struct Gradient;

/// A scatter that adds.
#[derive(Debug)]
struct ScatterAdd;

impl<B: GatherBackend> Backward<B, 1> for Gather {
    type State = (IntTensor<B>, QueuedGather);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (indices, call) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::gather_gradient(grad, indices, call)
        });
    }
}

impl<B: GatherBackend> Backward<B, 1> for Gradient {
    type State = (IntTensor<B>, QueuedGather);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (indices, call) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::gather_float(grad, indices, call.with_zeros())
        });
    }
}

impl<B: GatherBackend> Backward<B, 2> for ScatterAdd {
    type State = (IntTensor<B>, QueuedGather);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let (indices, gather) = ops.state;
        binary::<B, _, _>(
            ops.parents,
            ops.node,
            grads,
            |grad| grad,
            |grad| B::gather_float(grad, indices, gather.with_zeros()),
        );
    }
}

impl<B: GatherBackend, C: CheckpointStrategy> GatherBackend for Autodiff<B, C> {
    fn gather_float(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
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
        call: QueuedGather,
    ) -> IntTensor<Self> {
        B::gather_int(params, indices, call)
    }

    fn gather_bool(
        params: BoolTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
    ) -> BoolTensor<Self> {
        B::gather_bool(params, indices, call)
    }

    fn gather_gradient(
        gradient: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedGather,
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

    fn scatter_float(
        base: FloatTensor<Self>,
        indices: IntTensor<Self>,
        updates: FloatTensor<Self>,
        call: QueuedScatter,
    ) -> FloatTensor<Self> {
        let prepared = ScatterAdd
            .prepare::<C>([base.node(), updates.node()])
            .compute_bound()
            .stateful();
        let gather = call.gather.clone();
        let output = B::scatter_float(
            base.into_primitive(),
            indices.clone(),
            updates.into_primitive(),
            call,
        );
        match prepared {
            OpsKind::Tracked(prepared) => prepared.finish((indices, gather), output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        }
    }

    fn scatter_int(
        base: IntTensor<Self>,
        indices: IntTensor<Self>,
        updates: IntTensor<Self>,
        call: QueuedScatter,
    ) -> IntTensor<Self> {
        B::scatter_int(base, indices, updates, call)
    }

    fn scatter_bool(
        base: BoolTensor<Self>,
        indices: IntTensor<Self>,
        updates: BoolTensor<Self>,
        call: QueuedScatter,
    ) -> BoolTensor<Self> {
        B::scatter_bool(base, indices, updates, call)
    }

    fn bags_float(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedBags,
    ) -> FloatTensor<Self> {
        Self::from_inner(B::bags_float(params.into_primitive(), indices, call))
    }

    fn bags_int(
        params: IntTensor<Self>,
        indices: IntTensor<Self>,
        call: QueuedBags,
    ) -> IntTensor<Self> {
        B::bags_int(params, indices, call)
    }

    fn bags_weighted(
        params: FloatTensor<Self>,
        indices: IntTensor<Self>,
        weights: FloatTensor<Self>,
        call: QueuedBags,
    ) -> FloatTensor<Self> {
        Self::from_inner(B::bags_weighted(
            params.into_primitive(),
            indices,
            weights.into_primitive(),
            call,
        ))
    }
}
