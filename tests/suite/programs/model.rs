//! The model: tensors as vectors of elements, and calls that are executed when they are submitted.

use wgpu_gather::{BadIndices, BagMode, DType, IndexType, Op, OutOfBounds, Reduce, Rules};

use super::arithmetic::Lookups;
use super::reports::{Reports, Statuses, Written};
use super::view::{View, coordinates};

/// The data of tensors, and what is to be told about it.
#[derive(Debug, Default)]
pub(super) struct Model {
    buffers: Vec<Vec<u64>>,
    storages: Vec<Storage>,
    pub(super) statuses: Statuses,
    /// Calls that were recorded and not submitted yet.
    batch: Option<Vec<Recorded>>,
}

/// A storage: a buffer from an element on.
#[derive(Debug, Clone)]
struct Storage {
    buffer: usize,
    first: usize,
    /// All of its bytes, which a call may replace.
    bytes: u64,
    reports: Reports,
    is_written: bool,
}

/// A call, and where it counts.
#[derive(Debug, Clone)]
struct Recorded {
    call: Call,
    status: Option<usize>,
    writes: usize,
    /// What was to be told of the storage before.
    before: Reports,
}

/// What a call computes.
#[derive(Debug, Clone)]
pub(super) enum Call {
    Gather(Gather),
    Scatter(Scatter),
    Bag(Bag),
    /// Elements in row-major order.
    Copy {
        from: View,
        to: View,
    },
}

#[derive(Debug, Clone)]
pub(super) struct Gather {
    pub(super) op: Op,
    pub(super) rules: Rules,
    pub(super) params: View,
    pub(super) indices: View,
    pub(super) index_type: IndexType,
    pub(super) output: View,
    /// Entries of the first dim that are made, if not all.
    pub(super) count: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Scatter {
    pub(super) op: Op,
    pub(super) reduce: Reduce,
    pub(super) rules: Rules,
    pub(super) destination: View,
    pub(super) indices: View,
    pub(super) index_type: IndexType,
    pub(super) updates: View,
}

#[derive(Debug, Clone)]
pub(super) struct Bag {
    pub(super) mode: BagMode,
    pub(super) rules: Rules,
    /// Where each bag ends.
    pub(super) ends: Vec<usize>,
    pub(super) padding: Option<usize>,
    pub(super) params: View,
    pub(super) indices: View,
    pub(super) index_type: IndexType,
    pub(super) weights: Option<View>,
    pub(super) output: View,
}

impl Model {
    /// A tensor of its own with these elements.
    pub(super) fn upload(&mut self, dtype: DType, shape: &[usize], elements: Vec<u64>) -> View {
        let view = self.allocate(dtype, shape, elements);
        self.storages[view.storage].is_written = true;
        view
    }

    /// A tensor that a call is to write.
    pub(super) fn output(&mut self, dtype: DType, shape: &[usize]) -> View {
        self.allocate(dtype, shape, vec![0; shape.iter().product()])
    }

    fn allocate(&mut self, dtype: DType, shape: &[usize], elements: Vec<u64>) -> View {
        self.buffers.push(elements);
        let storage = Storage {
            buffer: self.buffers.len() - 1,
            first: 0,
            bytes: (shape.iter().product::<usize>() * dtype.bytes()) as u64,
            reports: Reports::default(),
            is_written: false,
        };
        self.storages.push(storage);
        View::contiguous(self.storages.len() - 1, dtype, shape)
    }

    /// The same data as that of a contiguous tensor, in a storage of its own that has `bytes` bytes.
    pub(super) fn wrap(&mut self, view: &View, bytes: u64) -> View {
        let of = &self.storages[view.storage];
        let storage = Storage {
            buffer: of.buffer,
            first: of.first + view.offset,
            bytes,
            reports: Reports::default(),
            is_written: of.is_written,
        };
        self.storages.push(storage);
        View::contiguous(self.storages.len() - 1, view.dtype, &view.shape)
    }

    pub(super) fn share(&self, a: &View, b: &View) -> bool {
        self.storages[a.storage].buffer == self.storages[b.storage].buffer
    }

    /// Whether a call on the whole of it says everything about its storage.
    pub(super) fn is_whole(&self, view: &View) -> bool {
        let bytes = (view.elements() * view.dtype.bytes()) as u64;
        let starts = view.offset == 0 && view.is_contiguous();
        starts && bytes >= self.storages[view.storage].bytes
    }

    /// Whether its data is there: what a batch makes is not, before the batch is submitted.
    pub(super) fn is_written(&self, view: &View) -> bool {
        self.storages[view.storage].is_written
    }

    pub(super) fn elements(&self, view: &View) -> Vec<u64> {
        let storage = &self.storages[view.storage];
        let places = view.places().into_iter();
        places
            .map(|at| self.buffers[storage.buffer][storage.first + at])
            .collect()
    }

    pub(super) fn element(&self, view: &View, coordinates: &[usize]) -> u64 {
        let storage = &self.storages[view.storage];
        self.buffers[storage.buffer][storage.first + view.at(coordinates)]
    }

    pub(super) fn set(&mut self, view: &View, coordinates: &[usize], bits: u64) {
        let storage = &self.storages[view.storage];
        let at = storage.first + view.at(coordinates);
        self.buffers[storage.buffer][at] = bits;
    }

    /// Writes at once.
    pub(super) fn write(&mut self, view: &View, elements: &[u64]) {
        for (c, &bits) in coordinates(&view.shape).iter().zip(elements) {
            self.set(view, c, bits);
        }
        self.storages[view.storage].is_written = true;
    }

    /// How many statuses a tensor has that may have something to report.
    pub(super) fn pending(&self, view: &View) -> usize {
        self.statuses
            .pending(&self.storages[view.storage].reports)
            .len()
    }

    pub(super) fn is_uncounted(&self, view: &View) -> bool {
        self.storages[view.storage].reports.is_uncounted()
    }

    pub(super) fn take(&mut self, view: &View) -> Option<BadIndices> {
        self.statuses.take(&self.storages[view.storage].reports)
    }

    /// A copy that a call reads in the place of a tensor, with its reports.
    pub(super) fn copy_for(&mut self, view: &View) -> View {
        let copy = self.output(view.dtype, &view.shape);
        let call = Call::Copy {
            from: view.clone(),
            to: copy.clone(),
        };
        self.record(call, &copy, &[view], false);
        copy
    }

    /// A call of the engine on a tensor, made of others.
    pub(super) fn record(&mut self, call: Call, output: &View, read: &[&View], replaces: bool) {
        let rules = call.rules().filter(|_| self.looks_up(&call));
        let written = Written {
            counts: rules.is_some_and(|rules| rules.out_of_bounds == OutOfBounds::Error),
            looks_up: rules.is_some(),
            replaces,
            in_batch: self.batch.is_some(),
            is_left: false,
        };
        let pending = read.iter().flat_map(|view| {
            let reports = &self.storages[view.storage].reports;
            self.statuses.inheritable(reports, written.in_batch)
        });
        let pending = pending.collect();
        let reports = &mut self.storages[output.storage].reports;
        let recorded = Recorded {
            call,
            before: reports.clone(),
            status: self.statuses.note(reports, pending, written),
            writes: output.storage,
        };
        match &mut self.batch {
            Some(batch) => batch.push(recorded),
            None => self.execute(recorded),
        }
    }

    /// A call that the program submits, and whether the tensor reports its bad indices; if so, where they
    /// are counted.
    pub(super) fn leave(
        &mut self,
        call: &Call,
        output: &View,
        read: &[&View],
        reports: bool,
    ) -> Option<usize> {
        let written = Written {
            counts: reports && self.counts(call),
            looks_up: self.looks_up(call),
            replaces: false,
            in_batch: false,
            is_left: true,
        };
        let pending = read.iter().flat_map(|view| {
            let reports = &self.storages[view.storage].reports;
            self.statuses.inheritable(reports, false)
        });
        let pending = pending.collect();
        let reports = &mut self.storages[output.storage].reports;
        let status = self.statuses.note(reports, pending, written)?;
        self.statuses.leave(status);
        Some(status)
    }

    /// Whether bad indices of a call are counted as its rules ask for an error.
    pub(super) fn counts(&self, call: &Call) -> bool {
        let rules = call.rules().filter(|_| self.looks_up(call));
        rules.is_some_and(|rules| rules.out_of_bounds == OutOfBounds::Error)
    }

    /// Whether a call of the batch that is being recorded writes to a tensor.
    pub(super) fn is_in_batch(&self, view: &View) -> bool {
        let mut recorded = self.batch.iter().flatten();
        recorded.any(|recorded| recorded.writes == view.storage)
    }

    /// A call that does not wait for the batch that is being recorded.
    pub(super) fn record_now(&mut self, call: Call, output: &View, read: &[&View], replaces: bool) {
        let batch = self.batch.take();
        self.record(call, output, read, replaces);
        self.batch = batch;
    }

    /// From now on, calls wait for [`Model::submit_batch`].
    pub(super) fn begin_batch(&mut self) {
        self.batch = Some(Vec::new());
    }

    /// Executes what has waited.
    pub(super) fn submit_batch(&mut self) {
        for recorded in self.batch.take().unwrap_or_default() {
            self.execute(recorded);
        }
    }

    /// Forgets what has waited, and what it said about tensors.
    pub(super) fn give_up_batch(&mut self) {
        for recorded in self.batch.take().unwrap_or_default().into_iter().rev() {
            recorded
                .status
                .iter()
                .for_each(|&s| self.statuses.give_up(s));
            self.storages[recorded.writes].reports = recorded.before;
        }
    }

    fn execute(&mut self, recorded: Recorded) {
        let bad = self.run(&recorded.call);
        self.storages[recorded.writes].is_written = true;
        if let Some(status) = recorded.status {
            self.statuses.count(status, bad);
        }
    }

    /// Whether a call looks at any index.
    pub(super) fn looks_up(&self, call: &Call) -> bool {
        match call {
            Call::Gather(g) => !g.output.is_empty() && !g.lookups().axes().is_empty(),
            Call::Scatter(s) => !s.updates.is_empty() && !s.lookups().axes().is_empty(),
            Call::Bag(bag) => {
                let row: usize = bag.params.shape[1..].iter().product();
                row > 0 && bag.ends.last().is_some_and(|&end| end > 0)
            }
            Call::Copy { .. } => false,
        }
    }
}

impl Gather {
    pub(super) fn lookups(&self) -> Lookups<'_> {
        Lookups {
            op: self.op,
            params: &self.params.shape,
            indices: &self.indices.shape,
        }
    }
}

impl Scatter {
    pub(super) fn lookups(&self) -> Lookups<'_> {
        Lookups {
            op: self.op,
            params: &self.destination.shape,
            indices: &self.indices.shape,
        }
    }
}

impl Call {
    fn rules(&self) -> Option<&Rules> {
        match self {
            Call::Gather(gather) => Some(&gather.rules),
            Call::Scatter(scatter) => Some(&scatter.rules),
            Call::Bag(bag) => Some(&bag.rules),
            Call::Copy { .. } => None,
        }
    }
}
