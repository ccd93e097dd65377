//! Calls for the pipelines that random calls seldom reach: halves of quantised tables, long rows of scatters
//! under every reduction, and tables in several bindings.

use gather_conformance::{
    Bag, Call, FOLDED, Laid, Outcome, QuantizedGather, Scatter, SplitMix, check_call, tame_values,
};
use pollster::block_on;
use wgpu_gather::quantized::{CodeType, Format};
use wgpu_gather::{BagMode, DType, IndexType, Layout, Op, Reduce, Rules};

use crate::bench::{Bench, Tally};
use crate::sliced;

/// Random gathers from quantised tables: each format has halves of whole words in each nest among them.
const QUANTIZED: u64 = 900;

/// Columns of rows that fill fours, and workgroups.
const FOURS: [usize; 2] = [4, 512];

/// Lookups and rows of scatters that are sorted in several tiles, and in several groups of them.
const SORTS: [(usize, usize); 2] = [(20_000, 40_000), (140_000, 700)];

/// Lookups and rows of scatters with long runs of a key, which are looked for by several workgroups.
const RUNS: [usize; 2] = [20_000, 3];

/// Elements of a row: parts of words and of vectors, whole ones, and more.
const ROWS: [usize; 10] = [1, 2, 3, 4, 5, 6, 8, 16, 19, 24];

/// More than one binding of the small ones holds, and less than all of a shader.
const TABLE_BYTES: usize = 5000;

/// Runs them; gathers from several bindings unless each holds a `whole` table.
pub(crate) fn run(bench: &Bench, tally: &mut Tally, whole: bool) {
    if whole {
        decoders(bench, tally);
        folds(bench, tally);
        sorts(bench, tally);
        runs(bench, tally);
        nests(bench, tally);
    } else {
        gathers(bench, tally);
    }
    bags(bench, tally);
}

fn decoders(bench: &Bench, tally: &mut Tally) {
    let random = (0..QUANTIZED).map(QuantizedGather::random);
    let more = (QUANTIZED..12 * QUANTIZED).map(QuantizedGather::random);
    for case in random.chain(more.filter(is_e4m3)) {
        bench.run(tally, &format!("{case:?}"), |bench| {
            outcome(block_on(case.difference(&bench.executor())))
        });
    }
}

/// Whether the table is of codes that few random ones have.
fn is_e4m3(case: &QuantizedGather) -> bool {
    matches!(case.format, Format::Split(split) if split.codes == CodeType::E4M3)
}

fn folds(bench: &Bench, tally: &mut Tally) {
    let mut random = SplitMix(29);
    for dtype in FOLDED.into_iter().filter(|dtype| dtype.bytes() == 4) {
        for (reduce, columns) in product(&Reduce::ALL, &FOURS) {
            let scatter = scatter(&mut random, dtype, reduce, [7, 5, columns]);
            let name = format!("a scatter of rows: {scatter:?}");
            bench.run(tally, &name, |bench| {
                outcome(scatter.difference(&bench.executor()))
            });
        }
    }
}

/// Sorts of several tiles, and of several groups of them.
fn sorts(bench: &Bench, tally: &mut Tally) {
    let mut random = SplitMix(31);
    for (lookups, rows) in SORTS {
        let scatter = scatter(&mut random, DType::U32, Reduce::Add, [lookups, rows, 1]);
        let name = format!("a scatter of {lookups} lookups into {rows}");
        bench.run(tally, &name, |bench| {
            outcome(scatter.difference(&bench.executor()))
        });
    }
}

/// Long runs whose order counts: of floats.
fn runs(bench: &Bench, tally: &mut Tally) {
    let mut random = SplitMix(33);
    let [lookups, rows] = RUNS;
    for (dtype, columns) in product(&[DType::F32, DType::F16, DType::BF16], &[1, 4]) {
        let scatter = scatter(&mut random, dtype, Reduce::Add, [lookups, rows, columns]);
        let name = format!("a scatter of {lookups} rows of {columns} {dtype} into {rows}");
        bench.run(tally, &name, |bench| {
            outcome(scatter.difference(&bench.executor()))
        });
    }
}

/// Rows that are looked up.
fn scatter(
    random: &mut SplitMix,
    dtype: DType,
    reduce: Reduce,
    [lookups, rows, columns]: [usize; 3],
) -> Scatter {
    let call = Call {
        op: Op::gather(0),
        rules: Rules::TORCH,
        element_bytes: dtype.bytes(),
        params: Vec::new(),
        params_layout: Layout::contiguous(&[rows, columns]),
        index_type: IndexType::U32,
        indices: ids(random, IndexType::U32, lookups, rows),
        indices_layout: Layout::contiguous(&[lookups]),
    };
    Scatter {
        call,
        reduce,
        dtype,
        base: tame_values(dtype, reduce, rows * columns, 1),
        updates: tame_values(dtype, reduce, lookups * columns, 2),
        updates_layout: Layout::contiguous(&[lookups, columns]),
    }
}

/// Rows between others: more loops than two. Rows at many coordinates.
fn nests(bench: &Bench, tally: &mut Tally) {
    let mut random = SplitMix(30);
    let types = product(&[1, 2, 4, 8, 16], &[IndexType::U32, IndexType::I64]);
    let rows = product(&[15, 16], &[1, 2, 3, 4, 19]);
    for (types, (lookups, elements)) in product(&types, &rows) {
        let shape = [3, 2, 9, elements];
        let op = Op::Gather {
            axis: Some(2),
            batch_dims: 1,
        };
        let call = gather(&mut random, op, &shape, &[3, lookups], types);
        gathered(bench, tally, &call);
        // Tuples of as many coordinates as a nest of a bounded size holds, and of more.
        for depth in [3, 4] {
            let shape = [&[3, 3, 3, 3][..depth], &[elements]].concat();
            let call = gather(
                &mut random,
                Op::gather_nd(),
                &shape,
                &[lookups, depth],
                types,
            );
            gathered(bench, tally, &call);
        }
    }
}

fn gathers(bench: &Bench, tally: &mut Tally) {
    let mut random = SplitMix(31);
    for (types, elements) in product(
        &product(&[1, 2, 4, 8, 16], &[IndexType::U32, IndexType::I64]),
        &ROWS,
    ) {
        let rows = TABLE_BYTES / (types.0 * elements);
        let table = [rows, elements];
        for count in [64, 5] {
            let call = gather(&mut random, Op::gather(0), &table, &[count], types);
            gathered(bench, tally, &call);
        }
        // Elements, and rows, at two coordinates.
        for table in [&table[..], &[rows.div_ceil(3), 3, elements]] {
            let call = gather(&mut random, Op::gather_nd(), table, &[9, 2], types);
            gathered(bench, tally, &call);
        }
    }
}

fn gather(
    random: &mut SplitMix,
    op: Op,
    table: &[usize],
    indices: &[usize],
    (element_bytes, index_type): (usize, IndexType),
) -> Call {
    let bytes = table.iter().product::<usize>() * element_bytes;
    let count = indices.iter().product();
    let below = match op {
        Op::Gather {
            axis: Some(axis), ..
        } => table[axis as usize],
        _ => table[..2].iter().copied().min().unwrap_or(1),
    };
    Call {
        op,
        rules: Rules::TENSORFLOW_GPU,
        element_bytes,
        params: (0..bytes).map(|_| random.draw() as u8).collect(),
        params_layout: Layout::contiguous(table),
        index_type,
        indices: ids(random, index_type, count, below),
        indices_layout: Layout::contiguous(indices),
    }
}

/// By a host call and in slices.
fn gathered(bench: &Bench, tally: &mut Tally, call: &Call) {
    let name = format!("a gather by a host call: {call:?}");
    bench.run(tally, &name, |bench| {
        block_on(check_call(call, &bench.executor()))
    });
    let name = format!("a gather in slices: {call:?}");
    bench.run(tally, &name, |bench| sliced::gather(bench, call, 0, None));
}

fn bags(bench: &Bench, tally: &mut Tally) {
    let mut random = SplitMix(32);
    for (dtype, columns) in product(&FOLDED, &ROWS) {
        let bag = bag(&mut random, dtype, columns);
        let name = format!("bags of {dtype} in rows of {columns}");
        bench.run(tally, &name, |bench| {
            outcome(bag.difference(&bench.executor()))
        });
    }
}

/// The greatest of the rows of five bags.
fn bag(random: &mut SplitMix, dtype: DType, columns: usize) -> Bag {
    let rows = TABLE_BYTES / (dtype.bytes() * columns);
    Bag {
        mode: BagMode::Max,
        offsets: Some((vec![0, 4, 4, 9, 11], false)),
        padding: None,
        rules: Rules::TORCH,
        dtype,
        params: Laid {
            bytes: tame_values(dtype, Reduce::Max, rows * columns, 3),
            layout: Layout::contiguous(&[rows, columns]),
        },
        index_type: IndexType::U32,
        indices: Laid {
            bytes: ids(random, IndexType::U32, 16, rows),
            layout: Layout::contiguous(&[16]),
        },
        weights: None,
    }
}

/// Indices below `below`, which is small.
fn ids(random: &mut SplitMix, index_type: IndexType, count: usize, below: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        let id = (random.draw() % below as u64).to_le_bytes();
        bytes.extend(&id[..index_type.bytes()]);
    }
    bytes
}

fn outcome(difference: Option<String>) -> Outcome {
    difference.map_or(Outcome::Passed, Outcome::Failed)
}

/// Each of `a` with each of `b`.
fn product<A: Copy, B: Copy>(a: &[A], b: &[B]) -> Vec<(A, B)> {
    let of = |&a: &A| b.iter().map(move |&b| (a, b));
    a.iter().flat_map(of).collect()
}
