//! Scatters from device tensors to a device tensor, as a batch's methods.
//!
//! Checks tensors against each other and keeps their buffers from serving others meanwhile;
//! `scatter` makes the dispatches.

use crate::element::{DType, HasDType};
use crate::error::{Error, Result, Role};
use crate::fold::Reduce;
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::batch::{Batch, check_indices, check_width};
use crate::gpu::commands::Command;
use crate::gpu::scatter::{PlacedScatter, check_destination, dispatches};
use crate::gpu::tensor::DeviceTensor;
use crate::index::{Index, IndexType};
use crate::op::Op;
use crate::rules::Rules;
use crate::scatter::{FoldKernel, ScatterLayouts, ScatterPlan};
use crate::shape::{Layout, elements};

impl Batch<'_> {
    /// As [`Engine::scatter`](crate::gpu::Engine::scatter); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter`](crate::gpu::Engine::scatter).
    pub fn scatter<T: HasDType, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        base: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        updates: &DeviceTensor<T>,
    ) -> Result<DeviceTensor<T>> {
        let (indices, updates) = ((indices.as_ref(), I::TYPE), (updates.as_ref(), T::DTYPE));
        self.scatter_any(op, reduce, rules, base.as_ref(), indices, updates)
            .map(DeviceTensor::of)
    }

    /// As [`Engine::scatter_any`](crate::gpu::Engine::scatter_any); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter_any`](crate::gpu::Engine::scatter_any).
    pub fn scatter_any(
        &mut self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        base: &AnyDeviceTensor,
        indices: (&AnyDeviceTensor, IndexType),
        updates: (&AnyDeviceTensor, DType),
    ) -> Result<AnyDeviceTensor> {
        FoldKernel::of(op.transposed_kind(), reduce, updates.1)?;
        check_width(op.transposed_kind(), Role::Params, base, updates.1.bytes())?;
        self.call(|batch| {
            let made = batch.copied(base)?;
            batch.scatter_to(op, reduce, rules, &made, indices, updates)?;
            Ok(made)
        })
    }

    /// As [`Engine::scatter_into`](crate::gpu::Engine::scatter_into); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter_into`](crate::gpu::Engine::scatter_into).
    pub fn scatter_into<T: HasDType, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        destination: &mut DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        updates: &DeviceTensor<T>,
    ) -> Result<()> {
        let (indices, updates) = ((indices.as_ref(), I::TYPE), (updates.as_ref(), T::DTYPE));
        self.scatter_any_into(op, reduce, rules, destination.any_mut(), indices, updates)
    }

    /// As [`Engine::scatter_any_into`](crate::gpu::Engine::scatter_any_into); submitted with the
    /// batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::scatter_any_into`](crate::gpu::Engine::scatter_any_into).
    pub fn scatter_any_into(
        &mut self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        destination: &mut AnyDeviceTensor,
        indices: (&AnyDeviceTensor, IndexType),
        updates: (&AnyDeviceTensor, DType),
    ) -> Result<()> {
        self.call(|batch| batch.scatter_to(op, reduce, rules, destination, indices, updates))
    }

    fn scatter_to(
        &mut self,
        op: Op,
        reduce: Reduce,
        rules: &Rules,
        destination: &AnyDeviceTensor,
        (indices, index_type): (&AnyDeviceTensor, IndexType),
        (updates, dtype): (&AnyDeviceTensor, DType),
    ) -> Result<()> {
        let kind = op.transposed_kind();
        check_width(kind, Role::Params, destination, dtype.bytes())?;
        check_width(kind, Role::Updates, updates, dtype.bytes())?;
        check_indices(kind, indices, index_type)?;
        for (role, tensor) in [(Role::Params, destination), (Role::Updates, updates)] {
            check_units(kind, role, tensor)?;
        }
        let tensors = ScatterLayouts {
            dtype,
            destination: &destination.reached().0,
            index_type,
            indices: &indices.reached().0,
            updates: &updates.reached().0,
        };
        let plan = ScatterPlan::new(op, reduce, rules, tensors)?;
        check_destination(&plan)?;
        self.record_scatter(&plan, destination, indices, updates)
    }

    fn record_scatter(
        &mut self,
        plan: &ScatterPlan,
        destination: &AnyDeviceTensor,
        indices: &AnyDeviceTensor,
        updates: &AnyDeviceTensor,
    ) -> Result<()> {
        let context = self.context;
        let tensors = [
            (destination.storage(), Role::Params),
            (indices.storage(), Role::Indices),
            (updates.storage(), Role::Updates),
        ];
        for (storage, role) in tensors {
            storage.check_readable(context, role)?;
        }
        let lookups = self.lookups(plan.keys.as_ref(), destination, false)?;
        let placed = PlacedScatter {
            indices: indices.reached().1,
            updates: updates.reached().1,
            destination: destination.reached().1,
            status: lookups.status(),
        };
        placed.check_apart(plan)?;
        let made = dispatches(context, plan, &placed)?;
        self.recording
            .call(context, made.dispatches, lookups.counting.as_ref());
        let owned = tensors.into_iter().flat_map(|(s, _)| s.owned());
        owned.for_each(|owned| self.recording.keep(owned));
        made.scratch.iter().for_each(|s| self.recording.keep(s));
        self.wrote(destination, &[indices, updates], &lookups, false);
        Ok(())
    }

    /// As [`Engine::gather_gradient`](crate::gpu::Engine::gather_gradient); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_gradient`](crate::gpu::Engine::gather_gradient).
    pub fn gather_gradient<T: HasDType, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: &DeviceTensor<I>,
        grad_output: &DeviceTensor<T>,
    ) -> Result<DeviceTensor<T>> {
        let indices = (indices.as_ref(), I::TYPE);
        let grad_output = (grad_output.as_ref(), T::DTYPE);
        self.gather_gradient_any(op, rules, params_shape, indices, grad_output)
            .map(DeviceTensor::of)
    }

    /// As [`Engine::gather_gradient_any`](crate::gpu::Engine::gather_gradient_any); submitted with
    /// the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_gradient_any`](crate::gpu::Engine::gather_gradient_any).
    pub fn gather_gradient_any(
        &mut self,
        op: Op,
        rules: &Rules,
        params_shape: &[usize],
        indices: (&AnyDeviceTensor, IndexType),
        grad_output: (&AnyDeviceTensor, DType),
    ) -> Result<AnyDeviceTensor> {
        let kind = op.transposed_kind();
        FoldKernel::of(kind, Reduce::Add, grad_output.1)?;
        let width = grad_output.1.bytes();
        let bytes = elements(Role::Params, params_shape, width)? * width;
        let storage = self.context.allocate("gradient", bytes as u64, &[width])?;
        let layout = Layout::contiguous(params_shape);
        let made = AnyDeviceTensor::new(storage, layout, width);
        self.call(|batch| {
            for owned in made.storage().owned() {
                let clear = Command::Clear(owned.buffer().clone());
                batch.recording.push(vec![clear]);
                batch.recording.keep(owned);
            }
            batch.scatter_to(op, Reduce::Add, rules, &made, indices, grad_output)
        })?;
        Ok(made)
    }

    /// A contiguous copy of a tensor.
    fn copied(&mut self, base: &AnyDeviceTensor) -> Result<AnyDeviceTensor> {
        let (storage, layout) = (base.storage(), base.layout());
        storage.check_readable(self.context, Role::Params)?;
        let can_be_copied = storage.has_usage(wgpu::BufferUsages::COPY_SRC);
        if can_be_copied && layout.is_contiguous() && !layout.is_empty() {
            return self.copy_of(base);
        }
        let shape = base.shape().to_vec();
        let from = match shape.is_empty() {
            true => base.reshape(&[1])?,
            false => base.clone(),
        };
        // An index tuple of no coordinates selects the whole tensor.
        let (nothing, none) = (self.context.nothing.slice(..), Layout::contiguous(&[0]));
        let nothing = AnyDeviceTensor::wrap(nothing, IndexType::I32.bytes(), none)?;
        let (op, rules) = (Op::gather_nd(), Rules::default());
        self.gather_any(op, &rules, &from, &nothing, IndexType::I32)?
            .reshape(&shape)
    }
}

/// Refuses elements that do not start at whole units of their buffer.
fn check_units(op: crate::OpKind, role: Role, tensor: &AnyDeviceTensor) -> Result<()> {
    let alignment = tensor.element_bytes().min(8);
    match tensor.storage().misaligned(alignment as u64) {
        None => Ok(()),
        Some(offset) => Err(Error::Misaligned {
            op: Some(op),
            role,
            offset,
            alignment,
        }),
    }
}
