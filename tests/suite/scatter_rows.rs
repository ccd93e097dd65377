//! Scatters of rows that are folded four words at a time, and of rows that nearly are, on every executor
//! and in windows of small bindings.

use wgpu_gather::gpu::{Engine, Options, internals};
use wgpu_gather::{
    DType, Executor, HasDType, IndexType, Layout, Op, Reduce, Rules, ScatterLayouts, ScatterPlan,
    TensorView,
};

use crate::common::{engines, executors, fresh_device};
use crate::scatter_faults::scatter;
use crate::segments;
use gather_conformance::{Scatter, tame_values, values};

/// Rows that a workgroup shares with others, has to itself, and shares among several; and one element
/// more than fours.
const WIDTHS: [usize; 7] = [4, 60, 128, 132, 133, 512, 1300];

/// The types with arithmetic on words, and some that are moved as words.
const TYPES: [DType; 7] = [
    DType::F32,
    DType::I32,
    DType::U32,
    DType::BF16,
    DType::U8,
    DType::F64,
    DType::C128,
];

/// Rows of the updates side by side, with four elements between them, and with one before them.
fn layouts(rows: usize, width: usize) -> [(Layout, usize); 3] {
    let strided = |step: usize, offset: usize| {
        let layout = Layout::strided(&[rows, width], &[step as isize, 1], offset);
        (layout.unwrap(), offset + rows * step)
    };
    [strided(width, 0), strided(width + 4, 0), strided(width, 1)]
}

/// Scatters of so many updates into so many rows.
fn scatters(lookups: usize, rows: usize) -> Vec<Scatter> {
    let mut all = Vec::new();
    for width in WIDTHS {
        for dtype in TYPES {
            for reduce in Reduce::ALL {
                let moved_only = dtype.bytes() != 4;
                if moved_only && reduce != Reduce::None {
                    continue;
                }
                let shapes = [&[rows, width][..], &[lookups], &[lookups, width]];
                for (layout, count) in layouts(lookups, width) {
                    let seed = width as u64;
                    let mut call = scatter(Op::gather(0), shapes, dtype, reduce, seed);
                    call.updates = values(dtype, count, seed + 1);
                    call.updates_layout = layout;
                    all.push(call);
                }
            }
        }
    }
    all
}

fn check(executors: &[Executor], calls: &[Scatter], label: &str) {
    for call in calls {
        let expected = call.run(&Executor::Reference);
        for executor in executors {
            let difference = call.compare_to(expected.clone(), call.run(executor));
            let (name, shape) = (executor.describe(), call.updates_layout.shape());
            let which = || format!("{name}{label}: {:?} {} {shape:?}", call.dtype, call.reduce);
            assert_eq!(difference, None, "{}", which());
        }
    }
}

#[test]
fn rows_in_fours_on_every_executor() {
    check(&executors(), &scatters(40, 13), "");
    // Rows of 1,300 words fill most of a binding, so windows end within rows; those of longer elements take several.
    let calls = scatters(14, 5);
    let small = |engine: &Engine| {
        let (device, queue) = fresh_device(engine, segments::limits(8 << 10, 256 << 20, 4));
        let small = Engine::with_options(device, queue, Options::default()).wait();
        Executor::Gpu(small.expect("an engine"))
    };
    let small: Vec<Executor> = engines().iter().map(small).collect();
    check(&small, &calls, ", windows");
}

/// Many updates of the second of three rows, and a few of the others between them: of `u32`, or of `f32`
/// whose sums and products depend on the order.
struct Sums {
    floats: bool,
    width: usize,
    count: usize,
    reduce: Reduce,
    /// Which update goes to another row.
    others: usize,
}

impl Sums {
    fn row(&self, n: usize) -> u32 {
        match n % self.others {
            5 => (n / self.others % 2) as u32 * 2,
            _ => 1,
        }
    }

    /// A value that no other makes up for: a product of odd numbers has all of its factors, and a least or
    /// greatest value comes late in the last columns and early in the first.
    fn update(&self, n: usize, column: usize) -> u32 {
        let bits = ((n * self.width + column) as u32).wrapping_mul(2_654_435_761);
        let bits = bits ^ bits >> 15;
        if self.floats {
            return (1.0 + (bits >> 12) as f32 * f32::EPSILON / 64.0).to_bits();
        }
        let is_extreme = n == column * self.count / self.width;
        match self.reduce {
            Reduce::Mul => bits | 1,
            Reduce::Min => {
                if is_extreme {
                    bits >> 20
                } else {
                    bits | 1 << 20
                }
            }
            Reduce::Max => {
                if is_extreme {
                    bits | 0xfff0_0000
                } else {
                    bits >> 4
                }
            }
            _ => bits,
        }
    }

    fn combine(&self, sum: u32, value: u32) -> u32 {
        let [a, b] = [sum, value].map(f32::from_bits);
        match self.reduce {
            Reduce::Add if self.floats => (a + b).to_bits(),
            Reduce::Mul if self.floats => (a * b).to_bits(),
            Reduce::None => value,
            Reduce::Add => sum.wrapping_add(value),
            Reduce::Mul => sum.wrapping_mul(value),
            Reduce::Min => sum.min(value),
            Reduce::Max => sum.max(value),
            other => panic!("{other} is not known here"),
        }
    }

    /// The plan's bound on the updates of a key in one pass.
    fn most_pairs(&self) -> usize {
        let [destination, indices, updates] = [
            &[3, self.width][..],
            &[self.count],
            &[self.count, self.width],
        ]
        .map(Layout::contiguous);
        let layouts = ScatterLayouts {
            dtype: if self.floats { DType::F32 } else { DType::U32 },
            destination: &destination,
            index_type: IndexType::U32,
            indices: &indices,
            updates: &updates,
        };
        let plan = ScatterPlan::new(Op::gather(0), self.reduce, &Rules::TORCH, layouts);
        internals::most_pairs(&plan.expect("a plan")).expect("a kernel") as usize
    }

    /// Fails where `executors` make something else than a loop over the updates.
    fn check(&self, executors: &[Executor]) {
        let (width, count) = (self.width, self.count);
        let rows: Vec<u32> = (0..count).map(|n| self.row(n)).collect();
        let mut updates = Vec::with_capacity(count * width);
        let first = if self.floats {
            1f32.to_bits()
        } else {
            1 << 19 | 1
        };
        let base = vec![first; 3 * width];
        let mut expected = base.clone();
        for (n, &row) in rows.iter().enumerate() {
            for column in 0..width {
                let (at, value) = (row as usize * width + column, self.update(n, column));
                expected[at] = self.combine(expected[at], value);
                updates.push(value);
            }
        }
        let ids = TensorView::new(&[count], &rows).expect("ids");
        let what = (width, count, self.reduce, self.floats);
        for executor in executors {
            let got = match self.floats {
                true => self.scattered::<f32>(executor, &base, &ids, &updates),
                false => self.scattered::<u32>(executor, &base, &ids, &updates),
            };
            let differing = got.iter().zip(&expected).filter(|(a, b)| a != b).count();
            let name = executor.describe();
            assert_eq!(differing, 0, "{name}: {what:?} of {} elements", got.len());
        }
    }

    /// What an executor makes of `base`.
    fn scattered<T: HasDType + bytemuck::Pod>(
        &self,
        executor: &Executor,
        base: &[u32],
        ids: &TensorView<'_, u32>,
        updates: &[u32],
    ) -> Vec<u32> {
        let (width, count) = (self.width, self.count);
        let mut got: Vec<T> = bytemuck::cast_slice(base).to_vec();
        let updates = TensorView::new(&[count, width], bytemuck::cast_slice::<_, T>(updates));
        let made = executor
            .scatter_into(
                Op::gather(0),
                self.reduce,
                &Rules::TORCH,
                &[3, width],
                &mut got,
                ids,
                &updates.expect("updates"),
            )
            .wait();
        made.unwrap_or_else(|error| panic!("{}: {error}", executor.describe()));
        bytemuck::cast_slice(&got).to_vec()
    }
}

/// How many updates each width gets: about as many as a pass of some kernel has, and several times that.
const MANY: [(usize, &[usize]); 4] = [
    (3, &[12_000, 22_000]),
    (12, &[40_000]),
    (128, &[11_000, 33_105, 33_112, 70_000]),
    (260, &[11_000, 34_000]),
];

/// More updates of one row than a pass has, so that the next goes on with it: where an invocation folds one
/// element, four at once, and two fours.
#[test]
fn a_row_that_passes_go_on_with() {
    let executors = executors();
    for (width, counts) in MANY {
        let reduces = [Reduce::Add, Reduce::Mul];
        let mut goes_on = 0;
        for (&count, reduce) in counts.iter().flat_map(|n| reduces.map(|r| (n, r))) {
            let sums = Sums {
                floats: true,
                width,
                count,
                reduce,
                others: 97,
            };
            let of_one = (0..count).filter(|&n| sums.row(n) == 1).count();
            goes_on += usize::from(of_one > sums.most_pairs());
            sums.check(&executors);
        }
        assert!(goes_on >= reduces.len(), "{width}: {goes_on}");
    }
}

/// As many updates of one row, in pieces that are folded side by side, as any order gives the same bits.
#[test]
fn a_row_in_pieces() {
    let executors = executors();
    for (width, counts) in MANY {
        for (&count, reduce) in counts.iter().flat_map(|n| Reduce::ALL.map(|r| (n, r))) {
            let sums = Sums {
                floats: false,
                width,
                count,
                reduce,
                others: 97,
            };
            sums.check(&executors);
        }
    }
}

/// Rows that start and end where pieces do, one before and one behind; all bad indices; one row alone.
#[test]
fn rows_that_end_where_pieces_do() {
    // Pieces of 64 pairs.
    let runs = [
        64, 128, 63, 65, 1, 127, 192, 1, 191, 64, 2, 62, 1000, 900, 800, 436,
    ];
    let lookups: usize = runs.iter().sum();
    assert_eq!(lookups, 4096);
    let ids = runs
        .iter()
        .enumerate()
        .flat_map(|(row, &run)| vec![row as u32; run]);
    let ids = Vec::from_iter(ids);
    // In another order, as 1,001 is odd.
    let ids = Vec::from_iter((0..lookups).map(|n| ids[n * 1001 % lookups]));
    let mut calls = Vec::new();
    for extent in [runs.len(), 12, 1] {
        for dtype in [
            DType::I8,
            DType::U16,
            DType::I32,
            DType::I64,
            DType::F32,
            DType::F16,
        ] {
            for reduce in [Reduce::Add, Reduce::Mul, Reduce::Min, Reduce::Max] {
                for width in [1, 4, 132] {
                    let shapes = [&[extent, width][..], &[lookups], &[lookups, width]];
                    let mut call = scatter(Op::gather(0), shapes, dtype, reduce, width as u64);
                    // Where the row is the only one, all of them are its own.
                    let id = |&id: &u32| if extent == 1 { 0 } else { id };
                    call.call.indices = ids.iter().map(id).flat_map(u32::to_ne_bytes).collect();
                    call.base = tame_values(dtype, reduce, extent * width, 7);
                    call.updates = tame_values(dtype, reduce, lookups * width, 8);
                    calls.push(call);
                }
            }
        }
    }
    check(&executors(), &calls, "");
}
