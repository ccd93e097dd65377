//! An engine whose dispatches record what they touch.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wgpu_gather::gpu::internals::{Watch, Watched};
use wgpu_gather::wgpu;

use crate::memory::{BufferId, Memory};
use crate::rewrite::{Traced, Workgroup, rewrite};
use crate::trace::{MOST_DISPATCHES, Most, Record, Trace};

/// A change to the text of a shader.
pub(crate) type Fault = fn(String) -> String;

/// A pipeline: the text of its shader, and the entry point.
pub(crate) type Pipelines = HashMap<String, (String, &'static str)>;

/// What is told by an engine, and read of its dispatches.
#[derive(Debug)]
pub(crate) struct Recorder {
    trace: Trace,
    limits: wgpu::Limits,
    pipelines: Pipelines,
    fault: Option<Fault>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    shaders: HashMap<String, Arc<Traced>>,
    memory: HashMap<BufferId, Memory>,
    dispatches: Vec<Dispatch>,
}

/// A dispatch: what it ran and what it was given.
#[derive(Debug, Clone)]
pub(crate) struct Dispatch {
    pub(crate) pipeline: String,
    pub(crate) shader: Arc<Traced>,
    pub(crate) workgroup: Workgroup,
    pub(crate) bindings: BTreeMap<u32, Bound>,
}

/// A binding.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub(crate) buffer: BufferId,
    /// Where it starts in the buffer, and how much is bound.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// What of the buffer is the call's; `None`, if nobody said.
    pub(crate) memory: Option<Memory>,
}

/// What a dispatch did.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    pub(crate) dispatch: Dispatch,
    /// What an invocation did at most; `None`, if there was none.
    pub(crate) most: Option<Most>,
    /// Those of an invocation are in order.
    pub(crate) records: Vec<Record>,
}

impl Recorder {
    /// A recorder for an engine that plans with these limits.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        limits: wgpu::Limits,
        pipelines: Pipelines,
        fault: Option<Fault>,
    ) -> Self {
        Recorder {
            trace: Trace::new(device, queue),
            limits,
            pipelines,
            fault,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only these bytes of a buffer are the call's.
    pub(crate) fn give(&self, buffer: &wgpu::Buffer, memory: Memory) {
        self.state().memory.insert(BufferId::of(buffer), memory);
    }

    /// Has what is submitted from now on record accesses, or steps only.
    pub(crate) fn record_accesses(&self, records: bool) {
        self.trace.record_accesses(records);
    }

    /// What was dispatched and submitted since the last time.
    ///
    /// # Errors
    ///
    /// Records that found no room: what is missing may be what is wrong.
    pub(crate) fn take(&self) -> Result<Vec<Recorded>, String> {
        let dispatches = std::mem::take(&mut self.state().dispatches);
        let (most, records) = self.trace.take(dispatches.len())?;
        let mut all: Vec<Recorded> = dispatches
            .into_iter()
            .zip(most)
            .map(|(dispatch, most)| Recorded {
                dispatch,
                most,
                records: Vec::new(),
            })
            .collect();
        for record in records {
            let of = all.get_mut(record.dispatch());
            of.ok_or("a record of no dispatch")?.records.push(record);
        }
        Ok(all)
    }

    /// The binding, with what of it is the call's by now.
    fn bound(state: &State, resource: &wgpu::BindingResource<'_>) -> Bound {
        let wgpu::BindingResource::Buffer(binding) = resource else {
            panic!("a shader binds {resource:?}");
        };
        let buffer = BufferId::of(binding.buffer);
        let rest = binding.buffer.size() - binding.offset;
        Bound {
            buffer,
            offset: binding.offset,
            bytes: binding.size.map_or(rest, u64::from),
            memory: state.memory.get(&buffer).cloned(),
        }
    }
}

impl Watch for Recorder {
    fn shader(&self, source: String) -> String {
        let changed = match self.fault {
            Some(fault) => fault(source.clone()),
            None => source.clone(),
        };
        let traced = rewrite(&changed).unwrap_or_else(|error| panic!("{error}\n{changed}"));
        let text = traced.text.clone();
        self.state().shaders.insert(source, Arc::new(traced));
        text
    }

    fn limits(&self, _: wgpu::Limits) -> wgpu::Limits {
        self.limits.clone()
    }

    fn layout(&self) -> Option<&wgpu::BindGroupLayout> {
        Some(self.trace.layout())
    }

    fn memory(&self, buffer: &wgpu::Buffer, bytes: u64, room: u64) {
        self.give(buffer, Memory::new(bytes, room));
    }

    fn dispatch(&self, dispatch: &Watched<'_>) -> Option<wgpu::BindGroup> {
        let name = &dispatch.pipeline;
        let known = self.pipelines.get(name);
        let (source, entry_point) = known.unwrap_or_else(|| panic!("an unknown pipeline: {name}"));
        let mut state = self.state();
        let shader = Arc::clone(&state.shaders[source]);
        let bindings = dispatch.entries.iter();
        let bindings = bindings.map(|e| (e.binding, Self::bound(&state, &e.resource)));
        let made = Dispatch {
            pipeline: name.clone(),
            workgroup: shader.workgroups[*entry_point],
            bindings: bindings.collect(),
            shader,
        };
        state.dispatches.push(made);
        let number = state.dispatches.len() - 1;
        assert!(number < MOST_DISPATCHES, "too many dispatches at a time");
        Some(self.trace.bind(number as u32))
    }
}
