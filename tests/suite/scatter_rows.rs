//! Scatters of rows that are folded four words at a time, and of rows that nearly are, on every executor
//! and in windows of small bindings.

use wgpu_gather::gpu::{Engine, Options, internals};
use wgpu_gather::{
    DType, Executor, IndexType, Layout, Op, Reduce, Rules, ScatterLayouts, ScatterPlan, TensorView,
};

use crate::common::{executors, fresh_device};
use crate::scatter_faults::scatter;
use crate::segments;
use gather_conformance::{Scatter, values};

/// Rows that a workgroup shares with others, has to itself, and shares among several; and one element
/// more than fours.
const WIDTHS: [usize; 7] = [4, 60, 128, 132, 133, 1024, 1300];

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

fn scatters() -> Vec<Scatter> {
    let mut all = Vec::new();
    for width in WIDTHS {
        for dtype in TYPES {
            for reduce in Reduce::ALL {
                let moved_only = dtype.bytes() != 4;
                if moved_only && reduce != Reduce::None {
                    continue;
                }
                let shapes = [&[13, width][..], &[40], &[40, width]];
                for (layout, count) in layouts(40, width) {
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

fn check(executor: &Executor, calls: &[Scatter], label: &str) {
    for call in calls {
        let shape = call.updates_layout.shape();
        let which = || format!("{label}: {:?} {} {shape:?}", call.dtype, call.reduce);
        assert_eq!(call.difference(executor), None, "{}", which());
    }
}

#[test]
fn rows_in_fours_on_every_executor() {
    let calls = scatters();
    for executor in executors() {
        check(&executor, &calls, &executor.describe());
        let Executor::Gpu(engine) = &executor else {
            continue;
        };
        // Rows of 1,300 words fill most of a binding, so that windows end within rows.
        let (device, queue) = fresh_device(engine, segments::limits(8 << 10, 256 << 20, 4));
        let small = Engine::with_options(device, queue, Options::default()).wait();
        let small = Executor::Gpu(small.expect("an engine"));
        check(&small, &calls, &format!("{}, windows", executor.describe()));
    }
}

/// Many updates of the second of three rows, and a few of the others between them.
struct Sums {
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
        match self.reduce {
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
            dtype: DType::U32,
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
        let base = vec![1u32 << 19 | 1; 3 * width];
        let mut expected = base.clone();
        for (n, &row) in rows.iter().enumerate() {
            for column in 0..width {
                let (at, value) = (row as usize * width + column, self.update(n, column));
                expected[at] = self.combine(expected[at], value);
                updates.push(value);
            }
        }
        let ids = TensorView::new(&[count], &rows).expect("ids");
        let updates = TensorView::new(&[count, width], &updates).expect("updates");
        for executor in executors {
            let mut got = base.clone();
            let (op, rules) = (Op::gather(0), &Rules::TORCH);
            let made = executor
                .scatter_into(
                    op,
                    self.reduce,
                    rules,
                    &[3, width],
                    &mut got,
                    &ids,
                    &updates,
                )
                .wait();
            made.unwrap_or_else(|error| panic!("{}: {error}", executor.describe()));
            let differing = got.iter().zip(&expected).filter(|(a, b)| a != b).count();
            let what = (executor.describe(), width, count, self.reduce);
            assert_eq!(differing, 0, "{what:?} of {} elements", got.len());
        }
    }
}

/// More updates of one row than a pass has, so that the next goes on with it: where an invocation folds one
/// element, four at once, and several fours one after the other.
#[test]
fn a_row_that_passes_go_on_with() {
    let executors = executors();
    for (width, counts) in [
        (3, &[12_000, 22_000][..]),
        (12, &[40_000]),
        (128, &[8_189, 8_191, 11_000, 22_000, 40_000]),
        (1_024, &[8_189, 8_191, 11_000, 22_000]),
    ] {
        let mut goes_on = 0;
        for (&count, reduce) in counts.iter().flat_map(|n| Reduce::ALL.map(|r| (n, r))) {
            let sums = Sums {
                width,
                count,
                reduce,
                others: 97,
            };
            let of_one = (0..count).filter(|&n| sums.row(n) == 1).count();
            goes_on += usize::from(of_one > sums.most_pairs());
            sums.check(&executors);
        }
        // No pass goes on where the last update replaces the others.
        assert!(goes_on >= Reduce::ALL.len() - 1, "{width}: {goes_on}");
    }
}
