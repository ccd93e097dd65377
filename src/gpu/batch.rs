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
use crate::gpu::reports::Written;
use crate::gpu::status::{Counting, Status};
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
        let output = AnyDeviceTensor::new(storage, layout, width);
        self.call(|batch| batch.record(plan, params, indices, &output, None, flag))?;
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
        self.call(|batch| batch.record(plan, params, indices, output, None, false))
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
        let output = output.as_ref();
        check_output(&plan, output)?;
        output.storage().check_owner(self.context, Role::Output)?;
        self.call(|batch| {
            let params = batch.apart(plan.op(), Role::Params, params, output)?;
            let indices = batch.apart(plan.op(), Role::Indices, indices, output)?;
            batch.record(plan, &params, &indices, output, None, false)
        })
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
        let output = output.as_ref();
        check_output(&plan, output)?;
        self.call(|batch| batch.record(plan, params, indices, output, Some(count), false))
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

    /// A copy of what a tensor reaches, with the same strides. Its buffers have `COPY_SRC`.
    pub(super) fn copy_of(&mut self, tensor: &AnyDeviceTensor) -> Result<AnyDeviceTensor> {
        let (storage, width) = (tensor.storage(), tensor.element_bytes());
        let (layout, bytes) = tensor.layout().trimmed(width);
        let bytes = bytes.start as i64..bytes.end as i64;
        let (copy, commands) = storage.copy(self.context, bytes)?;
        self.recording.push(commands);
        storage.owned().for_each(|owned| self.recording.keep(owned));
        let copy = AnyDeviceTensor::new(copy, layout, width);
        let nothing = Lookups {
            counting: None,
            looks_up: false,
        };
        self.wrote(&copy, &[tensor], &nothing, false);
        Ok(copy)
    }

    /// Runs a call. If it fails, nothing of it stays recorded.
    pub(super) fn call<R>(&mut self, call: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let mark = self.recording.mark();
        let done = call(self);
        if done.is_err() {
            self.recording.rewind(mark);
        }
        done
    }

    /// How a call of `plan` that writes to a tensor counts bad indices. If it `replaces` all data of the
    /// tensor, earlier reports say nothing about it any more.
    pub(super) fn lookups(
        &self,
        plan: Option<&Plan>,
        output: &AnyDeviceTensor,
        replaces: bool,
    ) -> Result<Lookups> {
        let plan = plan.filter(|plan| plan.looks_up());
        let counted = plan.filter(|plan| plan.reports_bad_indices());
        let reports = output.storage().reports();
        let here = self.recording.counted();
        let counting = counted.map(|plan| reports.counting(self.context, here, plan, replaces));
        Ok(Lookups {
            counting: counting.transpose()?,
            looks_up: plan.is_some(),
        })
    }

    /// Notes that a call wrote to a tensor what it made of others.
    pub(super) fn wrote(
        &mut self,
        output: &AnyDeviceTensor,
        read: &[&AnyDeviceTensor],
        lookups: &Lookups,
        replaces: bool,
    ) {
        let reports = read.iter().map(|tensor| tensor.storage().reports());
        let written = Written {
            inherited: reports
                .flat_map(|reports| reports.inheritable(self.recording.counted()))
                .collect(),
            counting: lookups.counting.as_ref(),
            looks_up: lookups.looks_up,
            replaces,
        };
        self.recording.note(output.storage().reports(), written);
    }

    fn record(
        &mut self,
        plan: Plan,
        params: &AnyDeviceTensor,
        indices: &AnyDeviceTensor,
        output: &AnyDeviceTensor,
        count: Option<wgpu::BufferSlice<'_>>,
        flag: bool,
    ) -> Result<()> {
        let context = self.context;
        params.storage().check_readable(context, Role::Params)?;
        indices.storage().check_readable(context, Role::Indices)?;
        output.storage().check_owner(context, Role::Output)?;
        let recorder = Recorder::kept(self.recorders, context, plan)?;
        let plan = recorder.plan();
        // Where a count cuts it short, a part of the old data stays.
        let replaces = output.is_whole() && count.is_none();
        let lookups = self.lookups(Some(plan), output, replaces)?;
        let placed = Placed {
            params: params.reached().1,
            indices: indices.reached().1,
            output: output.reached().1,
            status: lookups.status(),
            flag,
            count,
        };
        if let Some(count) = count {
            indirect::check(plan.op(), count)?;
            plan.elements_per_entry()?;
        }
        placed.check_apart(plan)?;
        let counting = lookups.counting.as_ref();
        self.recording
            .gather(context, &recorder, &placed, counting)?;

        let tensors = [params.storage(), indices.storage(), output.storage()];
        let owned = tensors.into_iter().flat_map(|s| s.owned());
        owned.for_each(|owned| self.recording.keep(owned));
        self.wrote(output, &[params, indices], &lookups, replaces);
        Ok(())
    }
}

/// What a call looks up.
#[derive(Debug)]
pub(super) struct Lookups {
    /// Where it counts bad indices, if its rules ask for that.
    pub(super) counting: Option<Counting>,
    /// Whether it looks at any index.
    looks_up: bool,
}

impl Lookups {
    pub(super) fn status(&self) -> Option<&Status> {
        self.counting.as_ref().map(|counting| &counting.status)
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

pub(super) fn check_output(plan: &Plan, output: &AnyDeviceTensor) -> Result<()> {
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
