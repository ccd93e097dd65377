//! Gathers from device tensor to device tensor: into new tensors, or into those of the caller.

use std::sync::Arc;

use crate::element::Element;
use crate::error::{Error, Result, Role};
use crate::gpu::counted::{self, Count};
use crate::gpu::engine::Engine;
use crate::gpu::pool::Owned;
use crate::gpu::recorder::Placed;
use crate::gpu::status::Status;
use crate::gpu::tensor::DeviceTensor;
use crate::index::Index;
use crate::op::Op;
use crate::plan::Plan;
use crate::rules::Rules;
use crate::shape::Layout;

/// Gathers that are submitted together: see [`Engine::batch`].
#[derive(Debug)]
pub struct Batch<'e> {
    engine: &'e Engine,
    encoder: &'e mut wgpu::CommandEncoder,
    /// What must not serve other tensors before the batch is submitted.
    kept: &'e mut Vec<Arc<Owned>>,
}

impl Engine {
    /// Gathers into a new tensor. Submits, and waits for nothing.
    ///
    /// `params` and `indices` may be views of any strides, and outputs of earlier gathers. The new
    /// tensor's buffer comes from dropped tensors, if there are any of its size.
    ///
    /// Under [`OutOfBounds::Error`](crate::OutOfBounds::Error) a bad index is reported when the
    /// tensor, or one that is gathered from or by it, is downloaded or [checked](Engine::check).
    /// A long chain of such gathers should be checked from time to time: each keeps a count of a
    /// few bytes on the device until then.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`]; [`Error::TensorTooLarge`], [`Error::TooComplex`] and [`Error::TooMany`]
    /// for what the device cannot hold; the errors of the device.
    pub fn gather<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
    ) -> Result<DeviceTensor<T>> {
        self.batch(|batch| batch.gather(op, rules, params, indices))
    }

    /// Gathers into a tensor of the caller, which must be contiguous. Submits, and waits for
    /// nothing; makes no tensor.
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// fn frame(
    ///     engine: &Engine,
    ///     table: &DeviceTensor<f32>,
    ///     ids: &DeviceTensor<u32>,
    ///     rows: &mut DeviceTensor<f32>,
    /// ) -> Result<()> {
    ///     engine.gather_into(Op::gather(0), &Rules::default(), table, ids, rows)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`]; [`Error::OutputShape`], [`Error::OutputStrided`], and
    /// [`Error::SameBuffer`] if `output` lies in a buffer that is read.
    pub fn gather_into<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        self.batch(|batch| batch.gather_into(op, rules, params, indices, output))
    }

    /// [`Engine::gather_into`] for an output that shares its buffer with `params` or `indices`:
    /// what is read from there is first copied to scratch memory.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_into`] without [`Error::SameBuffer`]; [`Error::MissingUsage`] if a
    /// shared buffer of the caller lacks `COPY_SRC`.
    pub fn gather_in_place<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        self.batch(|batch| batch.gather_in_place(op, rules, params, indices, output))
    }

    /// [`Engine::gather_into`], for as many indices as a `u32` at the start of `count` says: an
    /// earlier dispatch may have written it. It counts entries of the first dim of indices, which
    /// must be the first dim of the output. Output beyond them keeps its value, and indices beyond
    /// them are not looked at.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_into`]; [`Error::CountPlace`], [`Error::CountElsewhere`].
    pub fn gather_counted<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
        count: wgpu::BufferSlice<'_>,
    ) -> Result<()> {
        self.batch(|batch| batch.gather_counted(op, rules, params, indices, output, count))
    }

    /// Gathers from several tables with the same indices, in one submission.
    ///
    /// For tables of several types, use [`Engine::batch`].
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`]; then nothing is submitted.
    pub fn gather_tables<T: Element, I: Index<Wide = I>>(
        &self,
        op: Op,
        rules: &Rules,
        tables: &[&DeviceTensor<T>],
        indices: &DeviceTensor<I>,
    ) -> Result<Vec<DeviceTensor<T>>> {
        self.batch(|batch| {
            let gather = |&table| batch.gather(op, rules, table, indices);
            tables.iter().map(gather).collect()
        })
    }

    /// Records any number of gathers, which may read what earlier ones wrote, and submits them
    /// together when `record` returns `Ok`. Else nothing is submitted. (Except that of a gather of
    /// more than [`Options::max_pass_bytes`](crate::gpu::Options::max_pass_bytes), what is
    /// recorded so far goes ahead.)
    ///
    /// ```no_run
    /// use wgpu_gather::gpu::{DeviceTensor, Engine};
    /// use wgpu_gather::{Op, Result, Rules};
    ///
    /// /// Names and prices of the products that other products point to.
    /// fn look_up(
    ///     engine: &Engine,
    ///     successors: &DeviceTensor<u32>,
    ///     ids: &DeviceTensor<i64>,
    ///     names: &DeviceTensor<[u8; 32]>,
    ///     prices: &DeviceTensor<f64>,
    /// ) -> Result<(DeviceTensor<[u8; 32]>, DeviceTensor<f64>)> {
    ///     engine.batch(|batch| {
    ///         let next = batch.gather(Op::gather(0), &Rules::default(), successors, ids)?;
    ///         Ok((
    ///             batch.gather(Op::gather(0), &Rules::default(), names, &next)?,
    ///             batch.gather(Op::gather(0), &Rules::default(), prices, &next)?,
    ///         ))
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// What `record` returns, and the errors of the device.
    pub fn batch<R>(&self, record: impl FnOnce(&mut Batch<'_>) -> Result<R>) -> Result<R> {
        let mut kept = Vec::new();
        self.submit(|encoder| {
            record(&mut Batch {
                engine: self,
                encoder,
                kept: &mut kept,
            })
        })
    }

    /// Submits what `record` records, if it returns `Ok`.
    pub(super) fn submit<R>(
        &self,
        record: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<R>,
    ) -> Result<R> {
        self.check_alive()?;
        self.late().together(self.device(), "a gather", || {
            let mut encoder = self.scoped("an encoder", || {
                self.device().create_command_encoder(&Default::default())
            })?;
            let result = record(&mut encoder)?;
            self.scoped("a dispatch", || {
                self.queue().submit([encoder.finish()]);
            })?;
            Ok(result)
        })
    }
}

impl Batch<'_> {
    /// As [`Engine::gather`]; submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather`].
    pub fn gather<T: Element, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
    ) -> Result<DeviceTensor<T>> {
        let plan = plan(op, rules, params, indices)?;
        let layout = Layout::contiguous(plan.output_shape());
        let row_bytes = plan.geometry().slice() * plan.element_bytes();
        let bytes = plan.output_bytes() as u64;
        let storage = self
            .engine
            .allocate("output", bytes, &[row_bytes, plan.element_bytes()])?;
        let mut output = DeviceTensor::new(storage, layout);
        self.record(plan, params, indices, &mut output, None)?;
        Ok(output)
    }

    /// As [`Engine::gather_into`]; submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_into`].
    pub fn gather_into<T: Element, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        let plan = plan(op, rules, params, indices)?;
        check_output(&plan, output)?;
        self.record(plan, params, indices, output, None)
    }

    /// As [`Engine::gather_in_place`]; submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_in_place`].
    pub fn gather_in_place<T: Element, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
    ) -> Result<()> {
        let plan = plan(op, rules, params, indices)?;
        check_output(&plan, output)?;
        output.storage().check_engine(self.engine, Role::Output)?;
        let params = self.apart(&plan, Role::Params, params, output)?;
        let indices = self.apart(&plan, Role::Indices, indices, output)?;
        self.record(plan, &params, &indices, output, None)
    }

    /// As [`Engine::gather_counted`]; submitted with the batch.
    ///
    /// # Errors
    ///
    /// As [`Engine::gather_counted`].
    pub fn gather_counted<T: Element, I: Index<Wide = I>>(
        &mut self,
        op: Op,
        rules: &Rules,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
        count: wgpu::BufferSlice<'_>,
    ) -> Result<()> {
        let plan = plan(op, rules, params, indices)?;
        check_output(&plan, output)?;
        let count = (count.buffer(), count.offset());
        self.record(plan, params, indices, output, Some(count))
    }

    /// `tensor`, or a copy of what it reaches if it shares its buffer with the output.
    fn apart<T: Element, O: Element>(
        &mut self,
        plan: &Plan,
        role: Role,
        tensor: &DeviceTensor<T>,
        output: &DeviceTensor<O>,
    ) -> Result<DeviceTensor<T>> {
        let (Some((first, last)), true) = (
            tensor.layout().reached(),
            tensor.storage().shares(output.storage()),
        ) else {
            return Ok(tensor.clone());
        };
        let usage = wgpu::BufferUsages::COPY_SRC;
        if !tensor.storage().has_usage(usage) {
            return Err(Error::MissingUsage {
                op: Some(plan.op()),
                role,
                usage: "COPY_SRC",
            });
        }
        let byte = |position: usize| (position * size_of::<T>()) as i64;
        let storage = tensor.storage();
        let copy = storage.copy(self.engine, self.encoder, byte(first)..byte(last + 1))?;
        let mut copy = DeviceTensor::new(copy, tensor.layout().clone());
        copy.set_statuses(tensor.statuses().to_vec());
        Ok(copy)
    }

    fn record<T: Element, I: Index>(
        &mut self,
        plan: Plan,
        params: &DeviceTensor<T>,
        indices: &DeviceTensor<I>,
        output: &mut DeviceTensor<T>,
        count: Option<Count<'_>>,
    ) -> Result<()> {
        let engine = self.engine;
        params.storage().check_engine(engine, Role::Params)?;
        indices.storage().check_engine(engine, Role::Indices)?;
        output.storage().check_engine(engine, Role::Output)?;
        let recorder = engine.recorders().get(engine, plan)?;
        let plan = recorder.plan();
        let status = match plan.reports_bad_indices() && !plan.is_empty() {
            true => Some(Status::new(engine, plan)?),
            false => None,
        };
        let placed = Placed {
            params: params.reached().1,
            indices: indices.reached().1,
            output: output.reached().1,
            status: status.as_ref(),
            count,
        };
        if let Some(count) = count {
            counted::check(plan.op(), count)?;
            plan.elements_per_entry()?;
        }
        placed.check_apart(plan)?;
        recorder.record(engine, self.encoder, &placed)?;

        self.kept
            .extend(status.iter().map(|s| Arc::clone(s.owned())));
        let tensors = [params.storage(), indices.storage(), output.storage()];
        self.kept
            .extend(tensors.iter().flat_map(|s| s.owned()).cloned());
        let earlier = params.statuses().iter().chain(indices.statuses());
        let earlier = earlier.filter(|s| !s.is_clean()).cloned();
        output.set_statuses(earlier.chain(status).collect());
        Ok(())
    }
}

fn plan<T: Element, I: Index>(
    op: Op,
    rules: &Rules,
    params: &DeviceTensor<T>,
    indices: &DeviceTensor<I>,
) -> Result<Plan> {
    // Slices of one tensor have the same plan: where they start is not a part of it.
    let (params, indices) = (params.reached().0, indices.reached().0);
    Plan::new(op, rules, size_of::<T>(), &params, I::TYPE, &indices)
}

fn check_output<T: Element>(plan: &Plan, output: &DeviceTensor<T>) -> Result<()> {
    let (op, layout) = (plan.op(), output.layout());
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
