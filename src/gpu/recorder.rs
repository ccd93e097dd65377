//! A plan's dispatches: kernels, uniform blocks and bind groups.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result, Role};
use crate::gpu::counted;
use crate::gpu::engine::Engine;
use crate::gpu::launch::{Dispatch, Launch};
use crate::gpu::pipeline::{INDICES, OUTPUT, PARAMS, STATUS};
use crate::gpu::shader::{Specialisation, Stage, segment_binding};
use crate::gpu::status::Status;
use crate::gpu::storage::Located;
use crate::plan::{CheckPass, Kernel, Limited, Parts, Pass, Plan, Starts, check_passes, passes};
use crate::shape::Layout;

/// How many sets of launches a recorder keeps: slices of a tensor start at that many different
/// places within an alignment of 256 bytes.
const KEPT: usize = 64;

/// Where the tensors of one recording lie.
#[derive(Debug, Clone)]
pub(super) struct Placed<'a> {
    pub(super) params: Located<'a>,
    pub(super) indices: Located<'a>,
    pub(super) output: Located<'a>,
    pub(super) status: Option<&'a Status>,
    /// How many entries of indices there are: a word of a buffer.
    pub(super) count: Option<(&'a wgpu::Buffer, u64)>,
}

impl Placed<'_> {
    /// Refuses an output in a buffer that is read: wgpu cannot bind it for both.
    pub(super) fn check_apart(&self, plan: &Plan) -> Result<()> {
        let params = (Role::Params, &self.params, plan.params_layout());
        let indices = (Role::Indices, &self.indices, plan.indices_layout());
        for (role, read, layout) in [params, indices] {
            if read.shares(&self.output) && !layout.is_empty() && !plan.is_empty() {
                let op = plan.op();
                return Err(Error::SameBuffer { op, role });
            }
        }
        Ok(())
    }
}

/// Makes dispatches of one plan. Knows no engine, so that an engine can keep it.
#[derive(Debug)]
pub(super) struct Recorder {
    plan: Plan,
    output: Layout,
    /// Launches of the whole plan in one pass.
    launches: Mutex<Vec<(Starts, Launch)>>,
}

impl Recorder {
    /// Compiles what the plan needs.
    pub(super) fn new(engine: &Engine, plan: Plan) -> Result<Self> {
        if !plan.is_empty() {
            let mut stages = Vec::new();
            match Kernel::copy(&plan, Starts::default(), engine.binding_limits().workgroups) {
                Ok(kernel) => stages.push(Specialisation::of(
                    &plan,
                    &kernel,
                    1,
                    engine.binding_limits(),
                )),
                // It takes several passes, which depend on where the tensors lie.
                Err(Error::TooMany { .. }) => {}
                Err(error) => return Err(error),
            }
            if plan.counts_bad_indices() {
                stages.push(Specialisation::new(Stage::Count, &plan));
                stages.push(Specialisation::new(Stage::Locate, &plan));
            }
            for stage in stages {
                engine.pipelines().get(engine.device(), stage)?;
            }
        }
        Ok(Recorder {
            output: Layout::contiguous(plan.output_shape()),
            plan,
            launches: Mutex::default(),
        })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The dispatches of one recording: none for an empty output.
    pub(super) fn dispatches(&self, engine: &Engine, placed: &Placed<'_>) -> Result<Vec<Dispatch>> {
        let plan = &self.plan;
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        self.check(placed)?;
        let parts = Parts {
            params: &placed.params.parts,
            indices: &placed.indices.parts,
            output: &placed.output.parts,
        };
        let mut dispatches = Vec::new();
        for pass in passes(plan, parts, engine.binding_limits())? {
            dispatches.extend(self.copy(engine, placed, &pass)?);
        }
        if let Some(status) = placed.status
            && plan.counts_bad_indices()
        {
            for pass in check_passes(plan, parts.indices, engine.binding_limits())? {
                dispatches.extend(self.count(engine, placed, status, &pass)?);
            }
        }
        Ok(dispatches)
    }

    /// Checks that the buffers hold what the plan reaches.
    fn check(&self, placed: &Placed<'_>) -> Result<()> {
        let (plan, op) = (&self.plan, self.plan.op());
        let width = plan.element_bytes();
        let index_bytes = plan.index_type().bytes();
        let (params, indices) = (plan.params_layout(), plan.indices_layout());
        placed.params.check(op, Role::Params, params, width)?;
        placed
            .indices
            .check(op, Role::Indices, indices, index_bytes)?;
        placed.output.check(op, Role::Output, &self.output, width)
    }

    /// The dispatch of a pass, after one that fits it to a count if there is one.
    pub(super) fn copy(
        &self,
        engine: &Engine,
        placed: &Placed<'_>,
        pass: &Pass,
    ) -> Result<Vec<Dispatch>> {
        let Some(count) = placed.count else {
            let launch = self.launch(engine, pass)?;
            return Ok(vec![self.bind(engine, placed, pass, &launch)?]);
        };
        let plan = self.plan.part(pass);
        let kernel = Kernel::of_pass(&plan, pass, true, engine.binding_limits().workgroups)?;
        let limited = self.limited(pass, &kernel)?;
        let segments = pass.params.len();
        let stage = Specialisation::of(&plan, &kernel, segments, engine.binding_limits());
        let (limit, launch) = counted::launch(engine, stage, &kernel.block, &limited, count)?;
        Ok(vec![limit, self.bind(engine, placed, pass, &launch)?])
    }

    /// Where a pass lies among the entries of indices.
    fn limited<'k>(&self, pass: &Pass, kernel: &'k Kernel) -> Result<Limited<'k>> {
        let per_entry = self.plan.elements_per_entry()?;
        let entry = pass.elements.start / per_entry;
        let (first_row, rows_per_entry) = if (pass.elements.end - 1) / per_entry == entry {
            // Within one entry, and maybe a part of a row: all of it is made, or nothing.
            let rows = u64::from(kernel.work.rows);
            (entry as u64 * rows, rows)
        } else {
            let slice = pass.geometry.slice();
            (
                (pass.elements.start / slice) as u64,
                (per_entry / slice) as u64,
            )
        };
        Ok(Limited {
            work: &kernel.work,
            workgroups: kernel.workgroups,
            first_row,
            rows_per_entry,
        })
    }

    /// Binds what a pass reads and writes.
    fn bind(
        &self,
        engine: &Engine,
        placed: &Placed<'_>,
        pass: &Pass,
        launch: &Launch,
    ) -> Result<Dispatch> {
        let nothing = || engine.nothing().as_entire_binding();
        let indices = pass.indices.as_ref();
        let indices = indices.map_or_else(nothing, |s| placed.indices.binding(s));
        let output = placed.output.binding(&pass.output);
        let mut bindings = vec![(INDICES, indices), (OUTPUT, output)];
        let segments = launch.pipeline.segments.max(1);
        bindings.extend((0..segments).map(|n| {
            let segment = pass.params.get(n as usize);
            let params = segment.map_or_else(nothing, |s| placed.params.binding(s));
            let binding = if n == 0 { PARAMS } else { segment_binding(n) };
            (binding, params)
        }));
        let bound = launch.bind(engine, &bindings)?;
        Ok(bound.making((pass.elements.len() * self.plan.element_bytes()) as u64))
    }

    /// What a pass launches: kept, if the pass is the whole plan.
    fn launch(&self, engine: &Engine, pass: &Pass) -> Result<Launch> {
        let starts = pass.starts();
        let whole = pass.is_alone() && pass.geometry == *self.plan.geometry();
        let kept = || self.launches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept().iter().find(|(at, _)| *at == starts && whole) {
            return Ok(found.clone());
        }
        let plan = self.plan.part(pass);
        let kernel = Kernel::of_pass(&plan, pass, false, engine.binding_limits().workgroups)?;
        let segments = pass.params.len();
        let stage = Specialisation::of(&plan, &kernel, segments, engine.binding_limits());
        let made = Launch::new(engine, stage, &kernel.block, kernel.workgroups)?;
        if whole {
            let mut kept = kept();
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push((starts, made.clone()));
        }
        Ok(made)
    }

    /// The dispatches that count the bad indices of a pass and locate the first.
    pub(super) fn count(
        &self,
        engine: &Engine,
        placed: &Placed<'_>,
        status: &Status,
        pass: &CheckPass,
    ) -> Result<Vec<Dispatch>> {
        let (workgroups, work, block) =
            Kernel::check(&self.plan, pass, engine.binding_limits().workgroups)?;
        let bindings = [
            (INDICES, placed.indices.binding(&pass.indices)),
            (STATUS, status.buffer().as_entire_binding()),
        ];
        let mut dispatches = Vec::new();
        let stage = Specialisation::new(Stage::Count, &self.plan);
        let launch = match placed.count {
            None => Launch::new(engine, stage, &block, workgroups)?,
            Some(count) => {
                let limited = Limited {
                    work: &work,
                    workgroups,
                    first_row: pass.lookups.start as u64,
                    rows_per_entry: self.plan.lookups_per_entry()? as u64,
                };
                let (limit, launch) = counted::launch(engine, stage, &block, &limited, count)?;
                dispatches.push(limit);
                launch
            }
        };
        dispatches.push(launch.bind(engine, &bindings)?);
        let stage = Specialisation::new(Stage::Locate, &self.plan);
        let locate = Launch::new(engine, stage, &block, [1, 1, 1])?;
        dispatches.push(locate.bind(engine, &bindings)?);
        Ok(dispatches)
    }

    /// Records the gather into `encoder`, in compute passes of its own. Of long work, all but the
    /// last part is submitted on the way.
    pub(super) fn record(
        &self,
        engine: &Engine,
        encoder: &mut wgpu::CommandEncoder,
        placed: &Placed<'_>,
    ) -> Result<()> {
        let dispatches = self.dispatches(engine, placed)?;
        if let Some(status) = placed.status {
            encoder.clear_buffer(status.buffer(), 0, None);
            status.note_recording();
        }
        let mut bytes = 0;
        let parts = dispatches.chunk_by(|before, _| {
            bytes += before.output_bytes();
            let goes_on = bytes < engine.binding_limits().pass_bytes;
            bytes *= u64::from(goes_on);
            goes_on
        });
        for (n, part) in parts.enumerate() {
            engine.scoped("a dispatch", || {
                if n > 0 {
                    let next = engine.device().create_command_encoder(&Default::default());
                    let full = std::mem::replace(encoder, next);
                    engine.queue().submit([full.finish()]);
                }
                let mut pass = encoder.begin_compute_pass(&Default::default());
                part.iter().for_each(|d| d.record(&mut pass));
            })?;
        }
        Ok(())
    }
}

/// How many recorders an engine keeps for the plans that it met last.
const RECORDERS: usize = 16;

/// The recorders of the plans that an engine met last.
#[derive(Debug, Default)]
pub(super) struct Recorders(Mutex<VecDeque<Arc<Recorder>>>);

impl Recorders {
    pub(super) fn get(&self, engine: &Engine, plan: Plan) -> Result<Arc<Recorder>> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept().iter().find(|r| *r.plan() == plan) {
            return Ok(Arc::clone(found));
        }
        // Made outside the lock: two threads may do so at once.
        let made = Arc::new(Recorder::new(engine, plan)?);
        let mut kept = kept();
        if kept.len() == RECORDERS {
            kept.pop_front();
        }
        kept.push_back(Arc::clone(&made));
        Ok(made)
    }
}
