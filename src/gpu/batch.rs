//! Gathers from device tensor to device tensor, submitted together.
//!
//! Made by an engine, whose gathers are batches of one. Checks tensors against each other and keeps
//! their buffers from serving others meanwhile; `recorder` makes the dispatches.

mod quantized;

use std::sync::Arc;

use crate::element::Element;
use crate::error::{Error, OpKind, Result, Role};
use crate::gpu::any_tensor::AnyDeviceTensor;
use crate::gpu::context::Context;
use crate::gpu::indirect;
use crate::gpu::placed::Placed;
use crate::gpu::quantized::DecodeRecorders;
use crate::gpu::recorder::{Recorder, Recorders};
use crate::gpu::recording::Recording;
use crate::gpu::status::Status;
use crate::gpu::tensor::DeviceTensor;
use crate::index::{Index, IndexType};
use crate::op::Op;
use crate::plan::Plan;
use crate::rules::Rules;
use crate::shape::Layout;

/// Gathers that are submitted together: see [`Engine::batch`](crate::gpu::Engine::batch).
#[derive(Debug)]
pub struct Batch<'b> {
    pub(super) context: &'b Arc<Context>,
    pub(super) recorders: &'b Recorders,
    pub(super) decoders: &'b DecodeRecorders,
    pub(super) recording: &'b mut Recording,
}

impl Batch<'_> {
    /// As [`Engine::gather`](crate::gpu::Engine::gather); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`](crate::gpu::Engine::gather).
    pub fn gather<T: Element, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
    ) -> Result<DeviceTensor<T>> {
        let made = self.gather_any(op, rules, params.as_ref(), indices.as_ref(), I::TYPE);
        made.map(DeviceTensor::of)
    }

    /// As [`Engine::gather_any`](crate::gpu::Engine::gather_any); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_any`](crate::gpu::Engine::gather_any).
    pub fn gather_any(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &AnyDeviceTensor,
        indices: &AnyDeviceTensor,
        index_type: IndexType,
    ) -> Result<AnyDeviceTensor> {
        let plan = plan(op, rules, params, indices, index_type)?;
        let layout = Layout::contiguous(plan.output_shape());
        let width = plan.element_bytes();
        let (storage, flag) = self.context.allocate_output(&plan)?;
        let mut output = AnyDeviceTensor::new(storage, layout, width);
        self.record(plan, params, indices, &mut output, None, flag)?;
        Ok(output)
    }

    /// As [`Engine::gather_into`](crate::gpu::Engine::gather_into); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_into`](crate::gpu::Engine::gather_into).
    pub fn gather_into<T: Element, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        let (params, indices) = (params.as_ref(), indices.as_ref());
        self.gather_any_into(op, rules, params, indices, I::TYPE, output.any_mut())
    }

    /// As [`Engine::gather_any_into`](crate::gpu::Engine::gather_any_into); submitted with the
    /// batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_any_into`](crate::gpu::Engine::gather_any_into).
    pub fn gather_any_into(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &AnyDeviceTensor,
        indices: &AnyDeviceTensor,
        index_type: IndexType,
        output: &mut AnyDeviceTensor,
    ) -> Result<()> {
        let plan = plan(op, rules, params, indices, index_type)?;
        check_output(&plan, output)?;
        self.record(plan, params, indices, output, None, false)
    }

    /// As [`Engine::gather_in_place`](crate::gpu::Engine::gather_in_place); submitted with the
    /// batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_in_place`](crate::gpu::Engine::gather_in_place).
    pub fn gather_in_place<T: Element, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        let (params, indices) = (params.as_ref(), indices.as_ref());
        let plan = plan(op, rules, params, indices, I::TYPE)?;
        let output = output.any_mut();
        check_output(&plan, output)?;
        output.storage().check_owner(self.context, Role::Output)?;
        let params = self.apart(plan.op(), Role::Params, params, output)?;
        let indices = self.apart(plan.op(), Role::Indices, indices, output)?;
        self.record(plan, &params, &indices, output, None, false)
    }

    /// As [`Engine::gather_counted`](crate::gpu::Engine::gather_counted); submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_counted`](crate::gpu::Engine::gather_counted).
    pub fn gather_counted<T: Element, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
        count: wgpu::BufferSlice<'_>,
    ) -> Result<()> {
        let (params, indices) = (params.as_ref(), indices.as_ref());
        let plan = plan(op, rules, params, indices, I::TYPE)?;
        let output = output.any_mut();
        check_output(&plan, output)?;
        self.record(plan, params, indices, output, Some(count), false)
    }

    /// `tensor`, or a copy of what it reaches if it shares its buffer with the output.
    fn apart(
        &mut self,
        op: OpKind,
        role: Role,
        tensor: &AnyDeviceTensor,
        output: &AnyDeviceTensor,
    ) -> Result<AnyDeviceTensor> {
        let storage = tensor.storage();
        if tensor.layout().is_empty() || !storage.shares(output.storage()) {
            return Ok(tensor.clone());
        }
        if !storage.has_usage(wgpu::BufferUsages::COPY_SRC) {
            let usage = "COPY_SRC";
            return Err(Error::MissingUsage {
                op: Some(op),
                role,
                usage,
            });
        }
        self.copy_of(tensor)
    }

    /// A copy of what a tensor reaches, in the same layout. Its buffers have `COPY_SRC`.
    pub(super) fn copy_of(&mut self, tensor: &AnyDeviceTensor) -> Result<AnyDeviceTensor> {
        let (storage, layout) = (tensor.storage(), tensor.layout());
        let width = tensor.element_bytes();
        let bytes = layout.reached().map_or(0..0, |(first, last)| {
            (first * width) as i64..((last + 1) * width) as i64
        });
        let (copy, commands) = storage.copy(self.context, bytes)?;
        self.recording.push(commands);
        storage.owned().for_each(|owned| self.recording.keep(owned));
        let mut copy = AnyDeviceTensor::new(copy, layout.clone(), width);
        copy.set_statuses(tensor.statuses().to_vec());
        Ok(copy)
    }

    fn record(
        &mut self,
        plan: Plan,
        params: &AnyDeviceTensor,
        indices: &AnyDeviceTensor,
        output: &mut AnyDeviceTensor,
        count: Option<wgpu::BufferSlice<'_>>,
        flag: bool,
    ) -> Result<()> {
        let context = self.context;
        params.storage().check_owner(context, Role::Params)?;
        indices.storage().check_owner(context, Role::Indices)?;
        output.storage().check_owner(context, Role::Output)?;
        let recorder = Recorder::kept(self.recorders, context, plan)?;
        let plan = recorder.plan();
        let status = match plan.reports_bad_indices() && !plan.is_empty() {
            true => Some(Status::new(context, plan)?),
            false => None,
        };
        let placed = Placed {
            params: params.reached().1,
            indices: indices.reached().1,
            output: output.reached().1,
            status: status.as_ref(),
            flag,
            count,
        };
        if let Some(count) = count {
            indirect::check(plan.op(), count)?;
            plan.elements_per_entry()?;
        }
        placed.check_apart(plan)?;
        self.recording.gather(context, &recorder, &placed)?;

        let tensors = [params.storage(), indices.storage(), output.storage()];
        let owned = tensors.into_iter().flat_map(|s| s.owned());
        owned.for_each(|owned| self.recording.keep(owned));
        let earlier = params.statuses().iter().chain(indices.statuses());
        let earlier = earlier.filter(|s| !s.is_clean()).cloned();
        output.set_statuses(earlier.chain(status).collect());
        Ok(())
    }
}

fn plan(
    op: Op,
    rules: &Rules,
    params: &AnyDeviceTensor,
    indices: &AnyDeviceTensor,
    index_type: IndexType,
) -> Result<Plan> {
    let width = params.element_bytes();
    check_indices(op.kind(), indices, index_type)?;
    // Slices of one tensor have the same plan: where they start is not a part of it.
    let (params, indices) = (params.reached().0, indices.reached().0);
    Plan::new(op, rules, width, &params, index_type, &indices)
}

/// Refuses indices that are not whole indices of their type.
pub(super) fn check_indices(
    op: OpKind,
    indices: &AnyDeviceTensor,
    index_type: IndexType,
) -> Result<()> {
    let alignment = index_type.bytes();
    check_width(op, Role::Indices, indices, alignment)?;
    match indices.storage().misaligned(alignment as u64) {
        None => Ok(()),
        Some(offset) => Err(Error::Misaligned {
            op: Some(op),
            role: Role::Indices,
            offset,
            alignment,
        }),
    }
}

pub(super) fn check_width(
    op: OpKind,
    role: Role,
    tensor: &AnyDeviceTensor,
    expected: usize,
) -> Result<()> {
    match tensor.element_bytes() {
        got if got == expected => Ok(()),
        got => Err(Error::ElementWidth {
            op,
            role,
            expected,
            got,
        }),
    }
}

fn check_output(plan: &Plan, output: &AnyDeviceTensor) -> Result<()> {
    let (op, layout) = (plan.op(), output.layout());
    check_width(op, Role::Output, output, plan.element_bytes())?;
    if layout.shape() != plan.output_shape() {
        return Err(Error::OutputShape {
            op,
            expected: plan.output_shape().to_vec(),
            got: layout.shape().to_vec(),
        });
    }
    if !layout.is_contiguous() {
        return Err(Error::OutputStrided {
            op,
            shape: layout.shape().to_vec(),
            strides: layout.strides().to_vec(),
        });
    }
    Ok(())
}
