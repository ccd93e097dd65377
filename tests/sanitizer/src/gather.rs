//! A gather of the traffic table: its shapes, and which bytes of params its ids name.

use gather_conformance::{Call, Outcome, SplitMix, check_call};
use pollster::block_on;
use wgpu_gather::plan::Geometry;
use wgpu_gather::{Executor, IndexType, Layout, Op, Plan, Rules};

/// A gather that waits for its ids: one for each lookup, its coordinates in one number.
#[derive(Debug, Clone)]
pub(crate) struct Gather {
    op: Op,
    params: Vec<usize>,
    indices: Vec<usize>,
    /// Bytes of an element.
    width: usize,
    rules: &'static Rules,
    index_type: IndexType,
    /// A quarter of the ids are out of bounds.
    bad: bool,
}

impl Gather {
    /// Zeros for bad indices, of which there are none.
    pub(crate) fn new(op: Op, params: &[usize], indices: &[usize], width: usize) -> Self {
        Gather {
            op,
            params: params.to_vec(),
            indices: indices.to_vec(),
            width,
            rules: &Rules::TENSORFLOW_GPU,
            index_type: IndexType::U32,
            bad: false,
        }
    }

    pub(crate) fn under(self, rules: &'static Rules) -> Self {
        Gather { rules, ..self }
    }

    pub(crate) fn i64(self) -> Self {
        let index_type = IndexType::I64;
        Gather { index_type, ..self }
    }

    pub(crate) fn bad(self) -> Self {
        Gather { bad: true, ..self }
    }

    /// How many lookups there are.
    pub(crate) fn lookups(&self) -> usize {
        self.indices.iter().product::<usize>() / self.extents().len()
    }

    /// How many slices an id selects from.
    pub(crate) fn slices(&self) -> usize {
        self.extents().iter().product()
    }

    /// How many lookups go into the same part of params, and how far apart they lie.
    pub(crate) fn run(&self) -> (usize, usize) {
        let geometry = self.geometry();
        let mut loops = geometry.row_loops().iter();
        let positions = loops.find(|l| l.params_stride == 0 && l.indices_stride != 0);
        positions.map_or((1, 1), |l| {
            let step = l.indices_stride.unsigned_abs() / geometry.coordinates.len();
            (l.extent, step)
        })
    }

    /// These ids, or with a quarter of them out of bounds.
    pub(crate) fn spoil(&self, ids: &mut [u32]) {
        let (mut random, slices) = (SplitMix(34), self.slices() as u32);
        if self.bad {
            let spoilt = ids.iter_mut().filter(|_| random.draw().is_multiple_of(4));
            spoilt.for_each(|id| *id += slices);
        }
    }

    /// What is wrong with what the executor makes of it with these ids; nothing, if that is what the reference
    /// makes.
    pub(crate) fn difference(&self, executor: &Executor, ids: &[u32]) -> Option<String> {
        let bytes = self.params.iter().product::<usize>() * self.width;
        let params = (0..bytes).map(|n| (n * 31 + n / 251) as u8).collect();
        match block_on(check_call(&self.call(self.width, params, ids), executor)) {
            Outcome::Failed(why) => Some(why),
            _ => None,
        }
    }

    /// The first and the last byte of params of each slice that the ids select: those that the reference reads,
    /// of a table whose elements are their own positions.
    pub(crate) fn slice_bytes(&self, ids: &[u32]) -> Vec<(u64, u64)> {
        // From 1 on, as zeros are what it makes of bad ids.
        let positions = 1..=self.params.iter().product::<usize>() as u32;
        let positions = positions.flat_map(u32::to_ne_bytes).collect();
        let call = self.call(size_of::<u32>(), positions, ids);
        let output = block_on(call.output(&Executor::Reference)).expect("a call that is right");
        let output: Vec<u32> = bytemuck::pod_collect_to_vec(&output);
        let (slice, width) = (self.geometry().slice(), self.width as u64);
        let starts = output.into_iter().step_by(slice).filter(|&start| start > 0);
        let start = starts.map(|start| u64::from(start - 1) * width);
        start
            .map(|start| (start, start + slice as u64 * width))
            .collect()
    }

    fn call(&self, width: usize, params: Vec<u8>, ids: &[u32]) -> Call {
        Call {
            op: self.op,
            rules: self.rules.clone(),
            element_bytes: width,
            params,
            params_layout: Layout::contiguous(&self.params),
            index_type: self.index_type,
            indices: self.coordinates(ids),
            indices_layout: Layout::contiguous(&self.indices),
        }
    }

    /// The coordinates of the ids. The first is out of bounds where an id is.
    fn coordinates(&self, ids: &[u32]) -> Vec<u8> {
        let extents = self.extents();
        let tuple = |&id: &u32| {
            let (mut rest, mut tuple) = (id as usize, vec![0; extents.len()]);
            for (k, &extent) in extents.iter().enumerate().skip(1).rev() {
                (rest, tuple[k]) = (rest / extent, rest % extent);
            }
            tuple[0] = rest;
            tuple.into_iter()
        };
        let width = self.index_type.bytes();
        let coordinates = ids.iter().flat_map(tuple);
        let bytes = coordinates.flat_map(|c| (c as u64).to_le_bytes().into_iter().take(width));
        bytes.collect()
    }

    /// Of the coordinates.
    fn extents(&self) -> Vec<usize> {
        let coordinates = self.geometry().coordinates.into_iter();
        coordinates.map(|c| c.extent).collect()
    }

    fn geometry(&self) -> Geometry {
        let [params, indices] = [&self.params, &self.indices].map(|dims| Layout::contiguous(dims));
        let (op, rules) = (self.op, self.rules);
        let plan = Plan::new(op, rules, self.width, &params, self.index_type, &indices);
        plan.expect("shapes that fit").geometry().clone()
    }
}
