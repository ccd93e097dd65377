//! Scatters on the device, and of host tensors, as an engine's methods.

use crate::element::{DType, HasDType};
use crate::error::{Error, Result};
use crate::fold::Reduce;
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::engine::Engine;
use crate::gpu::scatter::{PlacedScatter, dispatches};
use crate::gpu::scatter_pipeline::ScatterPipeline;
use crate::gpu::status::{Counting, Status};
use crate::gpu::storage::Storage;
use crate::gpu::tensor::DeviceTensor;
use crate::gpu::wait::PollMode;
use crate::index::{Index, IndexType};
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::rules::Rules;
use crate::scatter::{FoldKernel, ScatterPlan};

impl Engine {
    /// Scatters `updates` over a copy of `base`, without waiting for the device: see
    /// [`Executor::scatter`](crate::Executor::scatter) for what that means.
    ///
    /// Tensors may be views of any strides. Under
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error) a bad index writes nothing, and is reported
    /// when the new tensor is downloaded or [checked](Engine::check), as that of a gather.
    ///
    /// The lookups are sorted by destination, stably, and each destination is folded by one
    /// invocation in the order of the indices: no atomic sum, and the same bits each time. That
    /// takes scratch memory of 18 bytes for each lookup, of up to 4 million at a time.
    ///
    /// # Errors
    ///
    /// As [`Executor::scatter_bytes`](crate::Executor::scatter_bytes);
    /// [`Error::CpuOnly`] for f64 and complex numbers, unless they are only moved
    /// ([`Reduce::None`]). For what the device cannot hold:
    /// [`Error::TensorTooLarge`] if updates take several bindings and are of 16-bit floats, or not
    /// in the order of their lookups in memory; [`Error::TooComplex`]; [`Error::TooMany`] for 2^31
    /// lookups or destinations. The errors of the device.
    pub fn scatter<T: HasDType, I: Index<Wide = I>>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        base: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        updates: &DeviceTensor<T>,
    ) -> Result<DeviceTensor<T>> {
        self.batch(|batch| batch.scatter(op, reduce, rules, base, indices, updates))
    }

    /// Scatters in place: into a tensor of the device, which may be a view, such as a part of a
    /// cache. Makes no tensor and waits for nothing.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Reduce, Result, Rules};
    ///
    /// /// Writes the keys of new tokens to their places.
    /// fn step(
    ///     engine: &Engine,
    ///     cache: &mut DeviceTensor<f32>,
    ///     places: &DeviceTensor<u32>,
    ///     keys: &DeviceTensor<f32>,
    /// ) -> Result<()> {
    ///     engine.scatter_into(Op::gather(0), Reduce::None, &Rules::ONNX, cache, places, keys)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter`]; [`Error::OverlappingDestination`] for a view in which two elements may
    /// lie in one place; [`Error::SameBuffer`] if the destination lies in a buffer that is read.
    pub fn scatter_into<T: HasDType, I: Index<Wide = I>>(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        destination: &mut DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        updates: &DeviceTensor<T>,
    ) -> Result<()> {
        self.batch(|batch| batch.scatter_into(op, reduce, rules, destination, indices, updates))
    }

    /// [`Engine::scatter`] for tensors whose elements are known at run time.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter`]; [`Error::ElementWidth`] and [`Error::Misaligned`] if a tensor does not
    /// have such elements, or does not start at a multiple of their width.
    pub fn scatter_any(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        base: &AnyDeviceTensor,
        indices: (&AnyDeviceTensor, IndexType),
        updates: (&AnyDeviceTensor, DType),
    ) -> Result<AnyDeviceTensor> {
        self.batch(|batch| batch.scatter_any(op, reduce, rules, base, indices, updates))
    }

    /// [`Engine::scatter_into`] for tensors whose elements are known at run time.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter_into`]; [`Error::ElementWidth`] and [`Error::Misaligned`] if a tensor does
    /// not have such elements, or does not start at a multiple of their width.
    pub fn scatter_any_into(
        &self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        destination: &mut AnyDeviceTensor,
        indices: (&AnyDeviceTensor, IndexType),
        updates: (&AnyDeviceTensor, DType),
    ) -> Result<()> {
        self.batch(|batch| batch.scatter_any_into(op, reduce, rules, destination, indices, updates))
    }

    /// The gradient of a gather with respect to its params, without waiting for the device: see
    /// [`Executor::gather_gradient`](crate::Executor::gather_gradient).
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter`].
    pub fn gather_gradient<T: HasDType, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: &DeviceTensor<I>,
        grad_output: &DeviceTensor<T>,
    ) -> Result<DeviceTensor<T>> {
        self.batch(|batch| batch.gather_gradient(op, rules, params_shape, indices, grad_output))
    }

    /// [`Engine::gather_gradient`] for tensors whose elements are known at run time.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter_any`].
    pub fn gather_gradient_any(
        &self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: (&AnyDeviceTensor, IndexType),
        grad_output: (&AnyDeviceTensor, DType),
    ) -> Result<AnyDeviceTensor> {
        self.batch(|batch| batch.gather_gradient_any(op, rules, params_shape, indices, grad_output))
    }

    /// The scatter of `plan`, to be recorded into encoders of yours. Its pipelines are compiled when
    /// buffers are bound.
    ///
    /// # Errors
    ///
    /// [`Error::OverlappingDestination`], and the errors of the device.
    pub fn scatter_pipeline(&self, plan: &ScatterPlan) -> Result<ScatterPipeline> {
        self.context().check_alive()?;
        ScatterPipeline::new(self.context(), plan.clone())
    }

    /// Scatters host tensors into a new tensor on the device, over a copy of `destination`. Nothing
    /// of the host is written, so a call that fails may be made otherwise.
    pub(crate) async fn scatter_from_host(
        &self,
        plan: &ScatterPlan,
        indices: &Indices<'_>,
        updates: &Params<'_>,
        destination: &[u8],
        poll_mode: PollMode,
    ) -> Result<ScatteredHost> {
        let context = self.context();
        FoldKernel::of(plan.op, plan.reduce, plan.dtype)?;
        let width = plan.dtype.bytes();
        let (_, updates_at) = updates.layout().trimmed(width);
        let (_, indices_at) = indices.layout().trimmed(indices.index_type().bytes());
        let (updates, indices) = (
            &updates.bytes()[updates_at.clone()],
            &indices.bytes()[indices_at.clone()],
        );
        let bytes = [destination, updates, indices].map(|b| b.len() as u64);
        if bytes.iter().sum::<u64>() > self.max_memory() {
            return Err(Error::GpuOutOfMemory {
                what: format!("more than {} bytes of tensors", self.max_memory()),
            });
        }
        let silent = &mut |_, _| ();
        let mut storages = Vec::new();
        for (label, data) in [
            ("destination", destination),
            ("updates", updates),
            ("indices", indices),
        ] {
            let storage = context.allocate(label, data.len() as u64, &[width])?;
            context.write(&storage, data, poll_mode, silent).await?;
            storages.push(storage);
        }
        let counting = match &plan.keys {
            Some(keys) => Counting::of_call(context, keys)?,
            None => None,
        };
        let placed = PlacedScatter {
            destination: storages[0].placement(),
            updates: storages[1]
                .placement()
                .with_origin(-(updates_at.start as i64)),
            indices: storages[2]
                .placement()
                .with_origin(-(indices_at.start as i64)),
            status: counting.as_ref().map(|counting| &counting.status),
        };
        let made = dispatches(context, plan, &placed)?;
        context.submit(|recording| {
            recording.call(context, made.dispatches, counting.as_ref());
            Ok(())
        })?;
        context.settle().await?;
        Ok(ScatteredHost {
            destination: storages.swap_remove(0),
            status: counting.map(|counting| counting.status),
        })
    }

    /// Downloads what was scattered, and reports a bad index.
    pub(crate) async fn scatter_to_host(
        &self,
        made: ScatteredHost,
        destination: &mut [u8],
        poll_mode: PollMode,
    ) -> Result<()> {
        let placement = made.destination.placement();
        self.context()
            .read(placement, destination, poll_mode, &mut |_, _| ())
            .await?;
        match &made.status {
            Some(status) => status.read_once(poll_mode).await,
            None => Ok(()),
        }
    }
}

/// What a scatter of host tensors has made, on the device.
#[derive(Debug)]
pub(crate) struct ScatteredHost {
    destination: Storage,
    status: Option<Status>,
}
