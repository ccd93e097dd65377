//! How many bytes a call has to move: the model that a measured speed is held against.
//!
//! Memory is read in sectors. A gather that reads single elements far apart moves a whole sector
//! for each of them, so the limit of such a gather is far below that of a copy of its output, and
//! the model says by how much. A sector that several lookups share counts once.

use std::collections::HashMap;

use anyhow::{Result, ensure};
use wgpu_gather::plan::{Geometry, Loop};
use wgpu_gather::{Indices, Plan};

/// Bytes of a sector: the smallest piece of memory that NVIDIA's GPUs read. Others read larger ones,
/// and so do CPUs.
pub(crate) const SECTOR_BYTES: u64 = 32;

/// The bytes that one call moves between memory and the processor, each byte once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Bytes of different elements of params that are read.
    pub(crate) params: u64,
    /// Bytes of the sectors of params in which those elements lie.
    pub(crate) params_sectors: u64,
    /// Bytes of indices that are read.
    pub(crate) indices: u64,
    /// Bytes of the output, which are written.
    pub(crate) output: u64,
    /// Bytes of updates that are read.
    pub(crate) updates: u64,
}

impl Traffic {
    /// What to expect of uniformly random indices that are all good, for contiguous tensors.
    ///
    /// Of `D` slices, `M` lookups read `D * (1 - (1 - 1/D)^M)` different ones.
    pub(crate) fn uniform(plan: &Plan) -> Traffic {
        if plan.is_empty() {
            return Traffic::without_params(plan);
        }
        let shape = Shape::of(plan.geometry());
        let slice_bytes = (plan.geometry().slice() * plan.element_bytes()) as f64;
        let slices = shape.regions as f64 * shape.slices as f64;
        let hit = |sharing: f64| {
            let misses = shape.lookups as f64 * sharing * (-1.0 / shape.slices as f64).ln_1p();
            -misses.exp_m1()
        };
        let sectors = slices * slice_bytes / SECTOR_BYTES as f64;
        let read = sectors * mean_over_whole(slices_in_sector(slice_bytes), hit);
        Traffic {
            params: (slices * slice_bytes * hit(1.0)).round() as u64,
            params_sectors: SECTOR_BYTES * read.ceil() as u64,
            ..Traffic::without_params(plan)
        }
    }

    /// The same reads of params, with indices and output of `plan`.
    pub(crate) fn moving(self, plan: &Plan) -> Traffic {
        Traffic {
            params: self.params,
            params_sectors: self.params_sectors,
            ..Traffic::without_params(plan)
        }
    }

    /// What these `indices` of `plan` make it read, counted one by one, where params starts at a
    /// sector; nothing for a bad index. Loops over params alone count as many times what they
    /// count at their first step.
    pub(crate) fn counted(plan: &Plan, indices: &Indices<'_>) -> Result<Traffic> {
        ensure!(
            (indices.layout(), indices.index_type()) == (plan.indices_layout(), plan.index_type()),
            "the indices are not those of the plan"
        );
        let geometry = plan.geometry();
        let (mut slices, mut sectors) = (Seen::default(), Seen::default());
        let slice = geometry.slice();
        let (slice_bytes, mut found) = ((slice * plan.element_bytes()) as u64, 0);
        if plan.is_empty() {
            return Ok(Traffic::without_params(plan));
        }
        each_lookup(geometry, |params, at| {
            let Some(start) = source(plan, indices, params, at) else {
                return;
            };
            // Where slices overlap (in a view), each start is a slice of its own.
            if slices.is_new(start as u64) {
                let first = start as u64 * plan.element_bytes() as u64;
                let last = first + slice_bytes - 1;
                let sector = first / SECTOR_BYTES..=last / SECTOR_BYTES;
                found += sector.filter(|&s| sectors.is_new(s)).count() as u64;
            }
        });
        let times = Shape::of(geometry).repeats;
        Ok(Traffic {
            params: slices.count * slice_bytes * times,
            params_sectors: found * SECTOR_BYTES * times,
            ..Traffic::without_params(plan)
        })
    }

    fn without_params(plan: &Plan) -> Traffic {
        let loops = plan.lookups().elements() * plan.lookups().coordinates.len();
        let lookups = if plan.is_empty() { 0 } else { loops };
        Traffic {
            params: 0,
            params_sectors: 0,
            indices: (lookups * plan.index_type().bytes()) as u64,
            output: plan.output_bytes() as u64,
            updates: 0,
        }
    }

    /// All of it: sectors of params, indices, updates and output.
    pub(crate) fn total(&self) -> u64 {
        self.params_sectors + self.indices + self.updates + self.output
    }
}

/// What the loops are for.
struct Shape {
    /// Parts of params that are looked up in separately.
    regions: u64,
    /// Lookups in each region.
    lookups: u64,
    /// Slices of a region, of which each lookup selects one.
    slices: u64,
    /// How many regions each lookup serves.
    repeats: u64,
}

impl Shape {
    fn of(geometry: &Geometry) -> Shape {
        let product = |wanted: fn(&Loop) -> bool| -> u64 {
            let loops = geometry.row_loops().iter().filter(|l| wanted(l));
            loops.map(|l| l.extent as u64).product()
        };
        let repeats = product(|l| l.params_stride != 0 && l.indices_stride == 0);
        let coordinates = geometry.coordinates.iter();
        Shape {
            regions: repeats * product(|l| l.params_stride != 0 && l.indices_stride != 0),
            lookups: product(|l| l.params_stride == 0 && l.indices_stride != 0),
            slices: coordinates.map(|c| c.extent.max(1) as u64).product(),
            repeats,
        }
    }
}

/// How many slices of `slice_bytes` bytes lie in one sector, wholly or in part, on average.
fn slices_in_sector(slice_bytes: f64) -> f64 {
    let sector = SECTOR_BYTES as f64;
    if slice_bytes % sector == 0.0 {
        1.0
    } else if sector % slice_bytes == 0.0 {
        sector / slice_bytes
    } else {
        (sector + slice_bytes - 1.0) / slice_bytes
    }
}

/// The mean of `f` over whole numbers around `x`, whose own mean is `x`.
fn mean_over_whole(x: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (below, part) = (x.floor(), x.fract());
    f(below) * (1.0 - part) + f(below + 1.0) * part
}

/// Calls `found` with the positions in params (before the lookup) and in indices of each lookup:
/// the loops over params alone stay at their first step.
fn each_lookup(geometry: &Geometry, mut found: impl FnMut(usize, usize)) {
    let loops = geometry.row_loops().iter();
    let loops: Vec<&Loop> = loops.filter(|l| l.indices_stride != 0).collect();
    let mut steps = vec![0; loops.len()];
    let (mut params, mut indices) = (geometry.params_offset, geometry.indices_offset);
    loop {
        found(params, indices);
        let mut inner = loops.len();
        loop {
            if inner == 0 {
                return;
            }
            inner -= 1;
            let l = loops[inner];
            steps[inner] += 1;
            if steps[inner] < l.extent {
                params = params.wrapping_add_signed(l.params_stride);
                indices = indices.wrapping_add_signed(l.indices_stride);
                break;
            }
            let back = -(l.extent as isize - 1);
            params = params.wrapping_add_signed(back.wrapping_mul(l.params_stride));
            indices = indices.wrapping_add_signed(back.wrapping_mul(l.indices_stride));
            steps[inner] = 0;
        }
    }
}

/// Where the slice of a lookup starts in params, in elements; `None` where an index is bad.
fn source(plan: &Plan, indices: &Indices<'_>, params: usize, at: usize) -> Option<usize> {
    let geometry = plan.geometry();
    let index_type = indices.index_type();
    let mut place = params;
    for (k, c) in geometry.coordinates.iter().enumerate() {
        let at = at.wrapping_add_signed(geometry.index_step.wrapping_mul(k as isize));
        let mut values = index_type.values(&indices.bytes()[at * index_type.bytes()..]);
        let coordinate = plan.rules().resolve(values.next()?, c.extent)?;
        place = place.wrapping_add_signed((coordinate as isize).wrapping_mul(c.stride));
    }
    Some(place)
}

/// A set of numbers, as bits in pages that are made when one of their numbers comes: numbers may
/// lie far apart in a view.
#[derive(Default)]
struct Seen {
    pages: HashMap<u64, Box<[u64; PAGE]>>,
    count: u64,
}

/// Words of a page of [`Seen`].
const PAGE: usize = 4096;

impl Seen {
    /// Adds `number`; whether it was not there.
    fn is_new(&mut self, number: u64) -> bool {
        let (word, bit) = (number / 64, 1 << (number % 64));
        let page = self.pages.entry(word / PAGE as u64);
        let words = page.or_insert_with(|| Box::new([0; PAGE]));
        let word = &mut words[(word % PAGE as u64) as usize];
        let new = *word & bit == 0;
        *word |= bit;
        self.count += u64::from(new);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu_gather::IndexType::{I32, I64};
    use wgpu_gather::{IndexType, Layout, Op, Rules};

    fn plan(op: Op, width: usize, params: &[usize], index: IndexType, indices: &[usize]) -> Plan {
        let (params, indices) = (Layout::contiguous(params), Layout::contiguous(indices));
        Plan::new(op, &Rules::default(), width, &params, index, &indices).unwrap()
    }

    /// Megabytes: output, indices, elements of params, and all with whole sectors.
    fn megabytes(t: Traffic) -> [f64; 4] {
        [t.output, t.indices, t.params, t.total()].map(|b| (b as f64 / 1e5).round() / 10.0)
    }

    #[test]
    fn the_model_gives_the_figures_worked_out_by_hand() {
        let batched = Op::Gather {
            axis: None,
            batch_dims: 1,
        };
        let m = 1 << 20;
        #[rustfmt::skip]
        let cases = [
            (plan(Op::gather(0), 2, &[128_256, 4096], I32, &[16_384]), [134.2, 0.1, 126.0, 260.3]),
            (plan(Op::gather(0), 4, &[10_000_000, 64], I32, &[2 * m]), [536.9, 8.4, 484.3, 1029.6]),
            (plan(batched, 2, &[64, 8, 262_144], I32, &[64, 8]), [268.4, 0.0, 176.2, 444.7]),
            (plan(Op::gather_elements(1), 4, &[4096, 32_000], I64, &[4096, 64]), [1.0, 2.1, 1.0, 11.5]),
            (plan(Op::gather_elements(1), 4, &[8192, 8192], I32, &[8192, 8192]), [268.4, 268.4, 169.7, 805.2]),
            (plan(Op::gather_elements(0), 4, &[8192, 8192], I32, &[8192, 8192]), [268.4, 268.4, 169.7, 805.2]),
            (plan(Op::gather_nd(), 4, &[512, 512, 512], I32, &[2 * m, 3]), [8.4, 25.2, 8.3, 96.6]),
            (plan(Op::gather(0), 4, &[64 * m], I32, &[16 * m]), [67.1, 67.1, 59.4, 366.3]),
            (plan(Op::gather(0), 1, &[m, 384], I32, &[m]), [402.7, 4.2, 254.5, 661.4]),
            (plan(Op::gather(1), 4, &[8192, 16_384], I32, &[4096]), [134.2, 0.0, 118.8, 598.4]),
        ];
        for (plan, expected) in cases {
            let got = megabytes(Traffic::uniform(&plan));
            let close = got.iter().zip(expected).all(|(g, e)| (g - e).abs() < 0.11);
            assert!(close, "{:?}: {got:?}, not {expected:?}", plan.op());
        }
    }

    /// 16 M single floats, at random, out of 64 M.
    #[test]
    fn sectors_cost_more_than_what_is_asked_for() {
        let t = Traffic::uniform(&plan(Op::gather(0), 4, &[64 << 20], I32, &[16 << 20]));
        assert_eq!((t.output, t.indices), (64 << 20, 64 << 20));
        assert_eq!(t.params / 1_000_000, 59);
        assert_eq!(t.params_sectors / 1_000_000, 232);
    }

    #[test]
    fn counted_indices_count_what_differs_and_nothing_for_bad_ones() {
        let counted = |plan: &Plan, values: &[i32]| {
            let indices = Indices::new(
                bytemuck::cast_slice(values).to_vec(),
                I32,
                plan.indices_layout().clone(),
            );
            Traffic::counted(plan, &indices.unwrap()).unwrap()
        };
        // Rows of 12 bytes: row 2 (24..36) lies in two sectors, row 0 in the first of them.
        let rows = plan(Op::gather(0), 4, &[9, 3], I32, &[5]);
        let t = counted(&rows, &[2, 0, 2, 9, -1]);
        assert_eq!((t.params, t.params_sectors), (24, 64));
        assert_eq!((t.indices, t.output), (20, 60));
        assert_eq!(t.total(), 144);
        // The same column of 4 rows of 64 bytes each, twice.
        let columns = plan(Op::gather(1), 4, &[4, 16], I32, &[2]);
        let t = counted(&columns, &[7, 7]);
        assert_eq!((t.params, t.params_sectors), (16, 128));
        // One element in each column, in a different row of 32 bytes each.
        let elements = plan(Op::gather_elements(0), 4, &[4, 8], I32, &[1, 8]);
        let t = counted(&elements, &[0, 1, 2, 3, 0, 1, 2, 3]);
        assert_eq!((t.params, t.params_sectors), (32, 128));
        let pairs = plan(Op::gather_nd(), 4, &[3, 8, 2], I32, &[3, 2]);
        let t = counted(&pairs, &[0, 0, 2, 7, 0, 8]);
        assert_eq!((t.params, t.params_sectors), (16, 64));
    }

    #[test]
    fn counting_random_indices_gives_what_the_model_expects() {
        // A plain generator: what matters is that the draws are uniform.
        let mut state = 7_u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((u64::from(state) * u64::from(below)) >> 32) as i32
        };
        let shapes: [(Op, &[usize], &[usize]); 4] = [
            (Op::gather(0), &[5000, 33], &[4000]),
            (Op::gather(0), &[100_000], &[30_000]),
            (Op::gather(1), &[16, 4096], &[2048]),
            (Op::gather_elements(1), &[64, 1000], &[64, 300]),
        ];
        for (op, params, indices) in shapes {
            let plan = plan(op, 4, params, I32, indices);
            let extent = plan.geometry().coordinates[0].extent as u32;
            let values: Vec<i32> = (0..indices.iter().product())
                .map(|_| draw(extent))
                .collect();
            let bytes: Vec<u8> = bytemuck::cast_slice(&values).to_vec();
            let indices = Indices::new(bytes, I32, plan.indices_layout().clone()).unwrap();
            let counted = Traffic::counted(&plan, &indices).unwrap();
            let expected = Traffic::uniform(&plan);
            let ratio = counted.total() as f64 / expected.total() as f64;
            assert!(
                (0.98..1.02).contains(&ratio),
                "{op:?}: {counted:?}, {expected:?}"
            );
            let ratio = counted.params as f64 / expected.params as f64;
            assert!(
                (0.98..1.02).contains(&ratio),
                "{op:?}: {counted:?}, {expected:?}"
            );
        }
    }

    #[test]
    fn nothing_is_read_for_an_empty_output() {
        let empty = plan(Op::gather(0), 4, &[9, 0], I32, &[5]);
        assert_eq!(Traffic::uniform(&empty).total(), 0);
        let indices = Indices::new(vec![0; 20], I32, Layout::contiguous(&[5])).unwrap();
        assert_eq!(Traffic::counted(&empty, &indices).unwrap().total(), 0);
        let other = Indices::new(vec![0; 16], I32, Layout::contiguous(&[4])).unwrap();
        assert!(Traffic::counted(&empty, &other).is_err());
    }
}
