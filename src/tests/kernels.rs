//! The kernels that the planner chooses are the pipelines that are tested.

use std::collections::{BTreeMap, BTreeSet};

use gather_conformance::{builtin, call_from};

use crate::gpu::pipeline::shader::{PipelineKey, Stage};
use crate::plan::{
    BindingLimits, CheckPass, Explanation, Kernel, KernelKind, NestSize, Origins, Part, Parts,
    Plan, Segment, passes,
};
use crate::quantized::Decoder;
use crate::tests::calls;
use crate::{Fill, IndexType, Layout, Negative, Op, OutOfBounds, Rules};

#[test]
fn each_kernel_is_compiled_to_the_pipelines_that_it_has_a_use_for() {
    let list = PipelineKey::all(6);
    let all: BTreeSet<_> = list.iter().copied().collect();
    assert_eq!(all.len(), list.len(), "one is listed twice");
    let (mut copies, mut decoders) = (BTreeMap::new(), BTreeMap::new());
    for key in &all {
        match key.stage {
            Stage::Copy(kind, bytes, _) => *copies.entry((kind, bytes)).or_insert(0) += 1,
            Stage::Decode(decoder, ..) => *decoders.entry(decoder).or_insert(0) += 1,
            _ => {}
        }
    }
    // For each width of an index, nests of three sizes, fast kernels of two. For any width, params in segments;
    // but for fast ones, any nest with one segment and with several.
    for ((kind, bytes), count) in copies {
        let expected = if kind.is_fast() { 2 * 2 + 1 } else { 3 * 2 + 3 };
        assert_eq!(count, expected, "{kind:?} {bytes}");
    }
    // Rows and elements, in two nests each.
    assert!(decoders.values().all(|&count| count == 4), "{decoders:?}");
    assert_eq!(decoders.len(), Decoder::all().count());
    for nest in NestSize::ALL {
        for kind in KernelKind::ALL {
            let there = all
                .iter()
                .any(|s| matches!(s.stage, Stage::Copy(k, _, n) if (k, n) == (kind, nest)));
            assert_eq!(
                there,
                !kind.is_fast() || nest.depth == Some(1),
                "{kind:?} {nest:?}"
            );
        }
    }
}

/// Every kernel is chosen by calls that the other tests make, and only those that are tested are.
#[test]
fn the_calls_of_the_tests_use_every_kernel() {
    let all: BTreeSet<_> = PipelineKey::all(6).into_iter().collect();
    let mut chosen = BTreeSet::new();
    let random = (0..20_000u32).map(|n| {
        let mix = |at: u32| {
            (n * 1009 + at)
                .wrapping_mul(2_654_435_761)
                .rotate_left(at % 31)
        };
        call_from(&(0..90).map(mix).collect::<Vec<_>>())
    });
    for call in builtin().into_iter().chain(random) {
        let Ok(plan) = calls::plan(&call) else {
            continue;
        };
        if plan.is_empty() {
            continue;
        }
        let kernels = [0, 1, 3].into_iter().filter_map(|output| {
            let origins = Origins {
                output: -(output * plan.element_bytes() as i64),
                ..Origins::default()
            };
            Kernel::copy(&plan, origins, 65_535).ok()
        });
        let params_bytes = [64, 128, 256].into_iter();
        let in_segments = params_bytes.flat_map(|bytes| in_segments(&plan, bytes));
        for kernel in kernels.chain(in_segments) {
            let key = PipelineKey::of(&plan, &kernel, &limits(0));
            assert!(all.contains(&key), "{key:?}");
            chosen.insert(key);
        }
    }
    let copies = all
        .into_iter()
        .filter(|s| matches!(s.stage, Stage::Copy(..)));
    let unused: Vec<_> = copies.filter(|s| !chosen.contains(s)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// A device that binds six segments of params of so many bytes.
fn limits(params_bytes: u64) -> BindingLimits {
    BindingLimits {
        params_bytes,
        indices_bytes: 1 << 20,
        output_bytes: 1 << 20,
        segments: 6,
        alignment: 16,
        pass_bytes: 1 << 20,
        workgroups: 65_535,
    }
}

/// The kernels of a plan's first passes over tensors in one buffer each, where bindings of params
/// hold so few bytes.
fn in_segments(plan: &Plan, params_bytes: u64) -> Vec<Kernel> {
    let buffer = |bytes| {
        [Part {
            origin: 0,
            offset: 0,
            bytes,
        }]
    };
    let parts = Parts {
        params: &buffer(1 << 12),
        indices: &buffer(1 << 20),
        output: &buffer(1 << 20),
    };
    let passes = passes(plan, parts, &limits(params_bytes)).unwrap_or_default();
    let kernels = passes
        .iter()
        .take(4)
        .filter_map(|pass| Kernel::of_pass(&plan.part(pass), pass, false, 65_535).ok());
    kernels.collect()
}

/// The kernels for any shapes, strides and starts are sound, or there is an error; nothing
/// overflows.
#[test]
fn absurd_plans_have_sound_kernels_or_an_error() {
    let mut random = Numbers(1);
    let (mut sound, mut refused) = (0, 0);
    for n in 0..20_000 {
        let Some(plan) = absurd_plan(&mut random) else {
            continue;
        };
        // Passes take longer to find than a kernel.
        if n < 400 {
            explained(&plan);
        }
        let origins = Origins {
            params: random.signed() as i64,
            indices: random.signed() as i64,
            output: random.signed() as i64,
        };
        let most = random.size() as u32;
        let in_grid = |groups: [u32; 3]| groups.iter().all(|n| (1..=most.max(1)).contains(n));
        match Kernel::copy(&plan, origins, most) {
            Ok(kernel) => {
                let access = kernel.access_bytes;
                assert!(access.is_power_of_two() && access <= 16, "{plan:?}");
                assert_eq!(plan.output_bytes() % access, 0, "{plan:?}");
                assert_eq!(origins.output % access as i64, 0, "{plan:?}");
                assert!(in_grid(kernel.workgroups), "{plan:?}");
                sound += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
        let pass = CheckPass {
            geometry: plan.lookups().clone(),
            lookups: 0..plan.lookups().elements(),
            indices: Segment {
                part: 0,
                offset: 0,
                size: 16,
                origin: origins.indices,
                owned_from: 0,
            },
            flagged: None,
        };
        if let Ok((workgroups, ..)) = Kernel::check(&plan, &pass, most) {
            assert!(in_grid(workgroups), "{plan:?}");
        }
    }
    assert!(
        sound > 500 && refused > 500,
        "{sound} sound, {refused} refused"
    );
}

/// What is explained is sound, too.
fn explained(plan: &Plan) {
    let Ok(explanation) = Explanation::new(plan, &limits(1 << 20)) else {
        return;
    };
    let passes: usize = explanation.dispatches.iter().map(|d| d.count).sum();
    assert!(
        passes >= explanation.boxes && explanation.boxes > 0,
        "{plan:?}"
    );
    for dispatches in &explanation.dispatches {
        let groups = dispatches.workgroups();
        assert!(groups.iter().all(|n| (1..=65_535).contains(n)), "{plan:?}");
    }
}

/// A plan that is not empty, of small and of huge extents, strides and offsets.
fn absurd_plan(random: &mut Numbers) -> Option<Plan> {
    let params = absurd_layout(random, &[]);
    let shared = random.below(params.rank() as u64 + 1) as usize;
    let indices = absurd_layout(random, &params.shape()[..shared]);
    let op = random.of(&Op::ALL);
    let op = op.with_axis(random.below(4) as isize).unwrap_or(op);
    let batch_dims = random.below(shared as u64 + 1) as isize;
    let op = op.with_batch_dims(batch_dims).unwrap_or(op);
    let widths = [1, 2, 4, 8, 16, 3, 5, 6, 12, 20, 256, 257];
    let width = random.of(&widths);
    let out_of_bounds = random.of(&OutOfBounds::all(Fill::from_bytes(&vec![0xb7; width])));
    let rules = Rules::new(random.of(&Negative::ALL), out_of_bounds);
    let index_type = random.of(&IndexType::ALL);
    let plan = Plan::new(op, &rules, width, &params, index_type, &indices).ok()?;
    (!plan.is_empty()).then_some(plan)
}

fn absurd_layout(random: &mut Numbers, shared: &[usize]) -> Layout {
    let mut shape = shared.to_vec();
    for _ in 0..random.below(4) {
        shape.push(random.size());
    }
    if random.below(2) == 0 {
        return Layout::contiguous(&shape);
    }
    let strides: Vec<isize> = shape.iter().map(|_| random.signed()).collect();
    Layout::strided(&shape, &strides, random.size()).unwrap()
}

/// A plain generator: numbers that are mostly small, else at an edge, or anything.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 ^ (self.0 >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }

    fn size(&mut self) -> usize {
        const EDGES: [u64; 9] = [
            1 << 15,
            1 << 16,
            (1 << 31) - 1,
            1 << 31,
            1 << 32,
            (1 << 32) + 1,
            i64::MAX as u64,
            1 << 63,
            u64::MAX,
        ];
        match self.below(16) {
            0 => self.of(&EDGES) as usize,
            1 => self.next() as usize,
            2 => self.below(1 << 16) as usize,
            3..=5 => self.below(21) as usize,
            _ => 1 + self.below(5) as usize,
        }
    }

    fn signed(&mut self) -> isize {
        let size = self.size() as isize;
        match self.below(3) {
            0 => size.wrapping_neg(),
            _ => size,
        }
    }
}
