//! Faults planted in the shaders of a scatter, which a comparison with the reference must report on
//! every adapter.

use gather_conformance::Call;
use wgpu_gather::gpu::Engine;
use wgpu_gather::{DType, Executor, IndexType, Layout, Op, Reduce, Rules};

use crate::common::engines;
use crate::planted::{Change, faulty, plant};
use gather_conformance::{Scatter, values};

/// The name of a fault, what its shader has, and which text becomes which.
type Fault = (&'static str, &'static str, &'static str, &'static str);

/// A list of faults as functions, which take nothing but the text.
macro_rules! faults {
    ($($name:literal: $part:literal $from:literal => $to:literal,)*) => {
        pub(crate) const FAULTS: &[Fault] = &[$(($name, $part, $from, $to)),*];
        const PLANTED: &[Change] = &[$(|source| plant(source, $part, $from, $to)),*];
    };
}

faults! {
    "base dropped": "fn fold_updates"
        "var sum = widen(before);" => "var sum = vec4(0u);",
    "a row not gone on with": "WORKGROUP * STEPS"
        "!goes_on | (number == 0u)" => "!goes_on",
    "sums of the pass before dropped": "fn fold_updates"
        "if (at.goes_on) {" => "if (at.goes_on & false) {",
    "the carry read where it is written": "carry["
        "carry[(1u - fold.turn) *" => "carry[fold.turn *",
    "all updates but the first lost": "fn fold_updates"
        "(n < end) & (pair.x" => "(n < first + 1u) & (pair.x",
    "the last update lost": "fn fold_updates"
        "(n < end) & (pair.x" => "(n + 1u < end) & (pair.x",
    "updates of the next keys folded, too": "fn fold_updates"
        "(pair.x == start.x); n++" => "(pair.x >= start.x); n++",
    "the order of the lookups swapped": "fn key_of"
        "pairs[geometry.output_offset + n]" => "pairs[geometry.row_count - 1u - n]",
    "the sort of a tile not stable": "sorted["
        "let pair = pairs[n];" => "let pair = pairs[tile * TILE + end - 1u - n];",
    "the last pair of a tile not counted": "found +="
        "found += one(digit_of(pair));" => "found += select(vec4(0u), one(digit_of(pair)), n + 1u < end);",
    "the last digit not counted": "found +="
        "digit < DIGITS; digit++" => "digit + 1u < DIGITS; digit++",
    "the last value of a run not added up": "fn add_sums"
        "for (var n = run * RUN; n < end; n++)" => "for (var n = run * RUN; n + 1u < end; n++)",
    "the sums of the runs before not added": "fn add_sums"
        "+= counts[sort.sums + n / RUN]" => "+= 0u * counts[sort.sums + n / RUN]",
    "the last pair of a tile not moved": "sorted["
        "let to = starts[" => "let to = select(0u, 0xffffffffu, n + 1u == end) | starts[",
    "keys that fall taken for sorted": "found +="
        "falls |= select(0u, 1u, pair.x < before);" => "",
    "keys that fall between tiles taken for sorted": "found +="
        "pairs[max(tile * TILE, 1u) - 1u]" => "pairs[tile * TILE]",
    "sorted keys left where the last digit does not end": "sorted["
        "| (sort.copies != 0u)" => "",
    "sorted keys moved by their digits all the same": "sorted["
        "select(to, n, ended)" => "to",
    "the key of the last coordinate alone": "fn key_of"
        "key = add_product(key," => "key = add_product(vec2(at.params, at.params_high),",
    "only the first coordinate checked": "fn key_of"
        "bad = true;" => "bad = k == 0u;",
    "digits that all count from the number": "rest = higher"
        "rest = higher;" => "rest = number;",
    "the carry of 64 bits lost": "fn added"
        "sum += vec4(0u, carry.x, 0u, carry.z);" => "",
    "the signs of integers lost": "fn combine"
        "return fold.sign;" => "return 0u;",
    "the way to reduce lost": "fn combine"
        "fold.reduce == MIN" => "fold.reduce == ADD",
    "halves rounded down": "fn combine"
        "(value + below_half + ((value >> shift) & vec4(1u))) >> shift" => "value >> shift",
    "halves rounded up at half": "fn combine"
        "below_half + ((value >> shift) & vec4(1u))" => "below_half + vec4(1u)",
    "bytes of neighbours changed": "fn unit_of"
        "changed << shift_of(at)" => "(changed | 0x100u) << shift_of(at)",
    "zeros of both signs alike": "fn ordered"
        "value >= sign)" => "value > sign)",
    "four words loaded from their neighbours": "array<vec4<u32>>;\n\nfn load_update"
        "return updates[at];" => "return updates[at ^ 1u];",
    "four words stored over their neighbours": "array<vec4<u32>>;\n\nfn load_update"
        "destination[at] = bits;" => "destination[at ^ 1u] = bits;",
    "each workgroup of a pair at the start of the row": "WORKGROUP * STEPS"
        "free = start + own + invocation" => "free = own + invocation",
    "each block of a row the first": "WORKGROUP * STEPS"
        "own = invocation / NEIGHBOURS * block;" => "own = 0u;",
    "the last steps of a row left out": "WORKGROUP * STEPS"
        "free < end; free += NEIGHBOURS" => "free + NEIGHBOURS < end; free += NEIGHBOURS",
}

/// Scatters in which each fault shows: several tiles and runs, equal keys far apart, all types.
fn scatters() -> Vec<Scatter> {
    let shapes: [(Op, [&[usize]; 3]); 6] = [
        (Op::gather(0), [&[30, 8], &[200], &[200, 8]]),
        (Op::gather(0), [&[40, 3], &[700], &[700, 3]]),
        (Op::gather(1), [&[2, 300, 5], &[90], &[2, 90, 5]]),
        (Op::gather_nd(), [&[7, 9, 2], &[150, 2], &[150, 2]]),
        (Op::gather_elements(0), [&[11, 13], &[70, 13], &[70, 13]]),
        (Op::gather(0), [&[9, 1300], &[20], &[20, 1300]]),
    ];
    let types = [DType::F32, DType::F16, DType::U8, DType::I16, DType::I64];
    let mut all = Vec::new();
    for (n, (op, tensors)) in shapes.into_iter().enumerate() {
        for dtype in types {
            for reduce in Reduce::ALL {
                all.push(scatter(op, tensors, dtype, reduce, n as u64));
            }
        }
    }
    // Keys in order, of one digit, two and three; and in order only within tiles. What is taken for two runs
    // of a key is rounded twice.
    let orders: [fn(u32) -> u32; 4] = [|n| n / 50, |n| n % 32, |n| n / 5, |n| n / 2];
    for (order, extent) in orders.into_iter().zip([10, 32, 100, 300]) {
        let shapes = [&[extent, 3][..], &[500], &[500, 3]];
        let mut ordered = scatter(Op::gather(0), shapes, DType::BF16, Reduce::Add, 5);
        ordered.call.indices = (0..500).flat_map(|n| order(n).to_ne_bytes()).collect();
        all.push(ordered);
    }
    // More of one key than a pass has, in sums wider than their elements.
    let long = [&[3, 2][..], &[60_000], &[60_000, 2]];
    let mut long = scatter(Op::gather(0), long, DType::BF16, Reduce::Add, 9);
    let one = half::bf16::ONE.to_ne_bytes();
    long.updates = one.repeat(long.updates.len() / 2);
    long.base.fill(0);
    all.push(long);
    // More of one row than a pass has.
    let long = [&[2, 1024][..], &[6000], &[6000, 1024]];
    all.push(scatter(Op::gather(0), long, DType::U32, Reduce::Add, 10));
    all
}

/// Indices that are bad now and then, a few of them often; each coordinate within its own extent.
pub(crate) fn scatter(
    op: Op,
    [params, indices, updates]: [&[usize]; 3],
    dtype: DType,
    reduce: Reduce,
    seed: u64,
) -> Scatter {
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    let extents = match op {
        Op::GatherNd { .. } => &params[..indices[indices.len() - 1]],
        _ => {
            let axis = op.axis().unwrap_or(0) as usize;
            &params[axis..=axis]
        }
    };
    let index = |n: usize| {
        let (value, lookup) = (
            (n as u32).wrapping_mul(2_654_435_761) >> 7,
            n / extents.len(),
        );
        let extent = extents[n % extents.len()] as u32;
        match lookup % 3 {
            0 => value % (extent + extent / 8 + 1),
            _ => value % extent.min(5),
        }
    };
    let values_of_indices: Vec<u8> = (0..count(indices))
        .flat_map(|n| index(n).to_ne_bytes())
        .collect();
    Scatter {
        call: Call {
            op,
            rules: Rules::default(),
            element_bytes: dtype.bytes(),
            params: Vec::new(),
            params_layout: Layout::contiguous(params),
            index_type: IndexType::U32,
            indices: values_of_indices,
            indices_layout: Layout::contiguous(indices),
        },
        reduce,
        dtype,
        base: values(dtype, count(params), seed),
        updates: values(dtype, count(updates), seed + 100),
        updates_layout: Layout::contiguous(updates),
    }
}

/// The first scatter that reports a fault.
fn first_report(engine: &Engine, calls: &[Scatter], fault: Change) -> Option<String> {
    let executor = Executor::Gpu(faulty(engine, engine.device().limits(), fault));
    calls.iter().find_map(|call| call.difference(&executor))
}

#[test]
fn faults_in_scatters_are_reported_on_every_adapter() {
    let calls = scatters();
    for engine in engines() {
        let label = engine.adapter().label();
        assert_eq!(first_report(engine, &calls, |s| s), None, "{label}");
        for (&(name, ..), &plant) in FAULTS.iter().zip(PLANTED) {
            let found = first_report(engine, &calls, plant);
            let why = found.unwrap_or_else(|| panic!("{label}: {name}: not reported"));
            assert!(!why.contains("wgpu refused"), "{label}: {name}: {why}");
        }
    }
}
