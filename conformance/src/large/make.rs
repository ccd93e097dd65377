//! Large calls from choices: how much of what, how the lookups are spread over the keys, which data.

use wgpu_gather::{
    BagMode, DType, Fill, IndexType, Layout, Negative, Op, OutOfBounds, Reduce, Rules,
};

use crate::bag_call::{Bag, Laid};
use crate::builtin::SplitMix;
use crate::call::Call;
use crate::choices::Choices;
use crate::random::encode;
use crate::scatter_call::Scatter;
use crate::values::tame_values;

const LOOKUPS: [usize; 8] = [100, 1000, 3000, 10_000, 9000, 30_000, 100_000, 1];
const ROWS: [usize; 20] = [
    1, 2, 3, 4, 8, 16, 17, 64, 100, 128, 256, 300, 900, 1024, 1300, 2048, 2680, 4096, 7000, 10_000,
];
const LONG_RUNS: [usize; 4] = [36_000, 34_000, 40_000, 44_000];
const KEYS: [usize; 7] = [3, 1, 2, 10, 100, 1000, 50_000];

/// How the lookups are spread over the keys.
#[derive(Debug, Clone, Copy)]
enum Spread {
    Equal,
    Few,
    Zipf,
    Even,
    Sorted,
    SortedZipf,
}

/// How much of what.
pub(super) struct Size {
    dtype: DType,
    lookups: usize,
    row: usize,
    keys: usize,
    /// Which numbers the data are made of.
    seed: u64,
}

impl Size {
    /// Few calls take megabytes, so that thousands of calls take minutes on a software adapter.
    pub(super) fn of(choices: &mut Choices<'_>, dtypes: &[DType]) -> Size {
        let dtype = choices.of(dtypes);
        // In words, which is what the reference takes its time for.
        let words: usize = match choices.below(32) {
            0..=25 => 64 << 10,
            26..=29 => 1 << 20,
            _ => 10 << 20,
        };
        let budget = words * 4 / dtype.bytes().max(4);
        let (mut lookups, mut row) = (choices.of(&LOOKUPS), choices.of(&ROWS));
        match choices.below(4) {
            0 | 1 => lookups = lookups.min(budget / row).max(1),
            2 => row = row.min(budget / lookups).max(1),
            // Long rows of long runs, which are folded in fours.
            _ => {
                lookups = choices.of(&LONG_RUNS).min(budget / 4);
                row = (budget / lookups) & !3;
            }
        }
        let keys = choices.of(&KEYS).min(budget / row).max(1);
        Size {
            dtype,
            lookups,
            row,
            keys,
            seed: u64::from(choices.next()),
        }
    }
}

/// A scatter to one of four layouts of `size.keys` rows.
pub(super) fn scatter(choices: &mut Choices<'_>, size: &Size, reduce: Option<Reduce>) -> Scatter {
    let reduce = reduce.unwrap_or_else(|| match size.dtype {
        DType::Bool => Reduce::None,
        // Complex numbers have no order.
        DType::C64 | DType::C128 => choices.of(&[Reduce::Add, Reduce::Mul, Reduce::None]),
        _ => choices.of(&[
            Reduce::Add,
            Reduce::Mul,
            Reduce::Min,
            Reduce::Max,
            Reduce::None,
        ]),
    });
    let (lookups, row, keys) = (size.lookups, size.row, size.keys);
    let half = keys.div_ceil(2);
    let each = lookups.div_ceil(row);
    let (op, params, indices, extents) = match choices.below(6) {
        0..=2 => (Op::gather(0), vec![keys, row], vec![lookups], vec![keys]),
        3 => (Op::gather(1), vec![row, keys], vec![lookups], vec![keys]),
        4 => (
            Op::gather_nd(),
            vec![2, half, row],
            vec![lookups, 2],
            vec![2, half],
        ),
        _ => (
            Op::gather_elements(0),
            vec![keys, row],
            vec![each, row],
            vec![keys],
        ),
    };
    let rules = rules(choices, size.dtype);
    let index_type = choices.of(&IndexType::ALL);
    let count: usize = indices.iter().product();
    let call = Call {
        op,
        element_bytes: size.dtype.bytes(),
        params: Vec::new(),
        index_type,
        indices: keys_of(choices, size.seed, count, &extents, index_type, &rules),
        params_layout: Layout::contiguous(&params),
        indices_layout: Layout::contiguous(&indices),
        rules,
    };
    let shape = call.output_shape().unwrap_or_default();
    let updates_layout = updates_layout(choices, &shape);
    let reached = updates_layout.1;
    Scatter {
        base: tame_values(size.dtype, reduce, params.iter().product(), size.seed + 1),
        updates: tame_values(size.dtype, reduce, reached, size.seed + 2),
        updates_layout: updates_layout.0,
        call,
        reduce,
        dtype: size.dtype,
    }
}

/// Contiguous; with gaps; from an odd place on; the same for all steps of the first dim. And how many
/// elements that reaches.
fn updates_layout(choices: &mut Choices<'_>, shape: &[usize]) -> (Layout, usize) {
    let usual = Layout::contiguous(shape);
    let count: usize = shape.iter().product();
    let mut strides = usual.strides().to_vec();
    let (offset, reached) = match choices.below(8) {
        5 => {
            strides[0] += 4;
            (0, count + 4 * shape[0])
        }
        6 => (1, count + 1),
        7 => {
            strides[0] = 0;
            (0, count)
        }
        _ => (0, count),
    };
    let layout = Layout::strided(shape, &strides, offset).unwrap_or(usual);
    (layout, reached)
}

/// Mostly rules under which every index counts.
fn rules(choices: &mut Choices<'_>, dtype: DType) -> Rules {
    let negative = choices.of(&[Negative::FromEnd, Negative::OutOfBounds]);
    let fill = Fill::from_bytes(&vec![1; dtype.bytes()]);
    Rules::new(negative, choices.of(&OutOfBounds::all(fill)))
}

/// So many indices; under rules without an error, one in 64 is bad if the choices say so.
fn keys_of(
    choices: &mut Choices<'_>,
    seed: u64,
    count: usize,
    extents: &[usize],
    index_type: IndexType,
    rules: &Rules,
) -> Vec<u8> {
    let spread = choices.of(&[
        Spread::Equal,
        Spread::Equal,
        Spread::Few,
        Spread::Zipf,
        Spread::Even,
        Spread::Sorted,
        Spread::SortedZipf,
    ]);
    let bad_now_and_then = choices.below(3) == 2 && rules.out_of_bounds != OutOfBounds::Error;
    let mut random = SplitMix(seed);
    let mut draw = |extent: usize| -> usize {
        let bits = random.draw();
        let even = (bits % extent as u64) as usize;
        match spread {
            Spread::Equal => extent / 2,
            Spread::Few => even % extent.min(4),
            Spread::Even | Spread::Sorted => even,
            Spread::Zipf | Spread::SortedZipf => {
                // The logarithm of the rank is even.
                let part = (bits >> 11) as f64 / (1u64 << 53) as f64;
                ((extent as f64).powf(part) as usize).clamp(1, extent) - 1
            }
        }
    };
    let tuples = count / extents.len().max(1);
    let mut keys: Vec<Vec<usize>> = (0..tuples)
        .map(|_| extents.iter().map(|&extent| draw(extent)).collect())
        .collect();
    if matches!(spread, Spread::Sorted | Spread::SortedZipf) {
        keys.sort_unstable();
    }
    let values = keys.iter().flatten().enumerate().map(|(n, &key)| {
        let is_bad = bad_now_and_then && n % 64 == 63;
        if is_bad {
            60_000 + n as i128
        } else {
            key as i128
        }
    });
    encode(index_type, &values.collect::<Vec<_>>())
}

pub(super) fn bag(choices: &mut Choices<'_>, size: &Size) -> Bag {
    let dtype = size.dtype;
    let is_float = matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    let mode = match is_float {
        true => choices.of(&[BagMode::Sum, BagMode::Mean, BagMode::Max]),
        false => choices.of(&[BagMode::Sum, BagMode::Max]),
    };
    let is_weighted = is_float && mode == BagMode::Sum && choices.below(2) == 1;
    let lookups = size.lookups;
    let rows = [lookups.div_ceil(7), 7];
    let (shape, offsets) = match choices.below(5) {
        0 => (vec![lookups], Some((vec![0], false))),
        1 => (vec![lookups], Some(((0..lookups).collect(), false))),
        2 => (rows.to_vec(), None),
        3 => (vec![2, lookups], None),
        _ => {
            let mut offsets: Vec<usize> = (0..7).map(|_| choices.below(lookups)).collect();
            offsets.push(0);
            offsets.sort_unstable();
            offsets.push(lookups);
            (vec![lookups], Some((offsets, true)))
        }
    };
    let rules = rules(choices, dtype);
    let index_type = choices.of(&IndexType::ALL);
    let count: usize = shape.iter().product();
    let indices = keys_of(choices, size.seed, count, &[size.keys], index_type, &rules);
    // Where a sum may be rounded in more than one way, what is lost is more than what that may make.
    let of = match is_weighted {
        true => Reduce::Mul,
        false => Reduce::Add,
    };
    let laid = |shape: &[usize], seed| Laid {
        bytes: tame_values(dtype, of, shape.iter().product(), seed),
        layout: Layout::contiguous(shape),
    };
    let padding = (choices.below(4) == 3).then(|| choices.below(size.keys) as isize);
    Bag {
        mode,
        offsets,
        padding,
        rules,
        dtype,
        params: laid(&[size.keys, size.row], size.seed + 1),
        index_type,
        weights: is_weighted.then(|| laid(&shape, size.seed + 2)),
        indices: Laid {
            bytes: indices,
            layout: Layout::contiguous(&shape),
        },
    }
}
