//! Gathers against the reference, around the boundaries of their loops.

use std::iter::zip;

use super::super::{reference, threads};
use super::{gathered, plain};
use crate::call::Gather;
use crate::error::{Error, OpKind, Result, Role};
use crate::index::IndexType;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::plan::Plan;
use crate::rules::{Fill, Negative, OutOfBounds, Rules};
use crate::shape::Layout;

/// What `execute` and, for elements of one byte, `gathered` give must be what the definitions give:
/// the bytes and the error.
fn check(op: Op, rules: &Rules, params: &Params<'_>, indices: &Indices<'_>) -> Result<()> {
    let call = Gather::plain(op, rules, params, indices);
    let plan = call.plan()?;
    let mut expected = vec![0xa5; plan.output_bytes()];
    let expected_result = reference::gather(&call, &mut expected);
    let what = || {
        let (p, i) = (params.layout(), indices.layout());
        format!("{op:?} {rules:?} {} {p:?} {i:?}", params.element_bytes())
    };
    // One byte off any alignment, between guards.
    let mut got = vec![0x5a; plan.output_bytes() + 18];
    let start = got.as_ptr().addr().next_multiple_of(16) - got.as_ptr().addr() + 1;
    let end = start + plan.output_bytes();
    let result = plain::execute(&plan, params, indices, &mut got[start..end]);
    assert_eq!(result, expected_result, "{}", what());
    assert!(got[start..end] == expected, "{}", what());
    assert_eq!((got[start - 1], got[end]), (0x5a, 0x5a), "{}", what());
    if params.element_bytes() == 1 {
        let fresh = gathered::<u8>(&call, &plan);
        assert!(fresh == expected_result.map(|()| expected), "{}", what());
    }
    Ok(())
}

fn rules(width: usize) -> Vec<Rules> {
    let fill: Vec<u8> = (1..=width as u8).collect();
    let kinds = OutOfBounds::all(Fill::from_bytes(&fill));
    let both = |out_of_bounds: OutOfBounds| {
        [Negative::OutOfBounds, Negative::FromEnd].map(|negative| Rules {
            negative,
            out_of_bounds: out_of_bounds.clone(),
            ..Rules::default()
        })
    };
    // Miri is slow, and the rules have no part in what it looks for.
    let count = if cfg!(miri) { 1 } else { usize::MAX };
    kinds.into_iter().flat_map(both).take(count).collect()
}

/// Every index type; for Miri, those of either width.
fn types() -> &'static [IndexType] {
    match cfg!(miri) {
        true => &[IndexType::I32, IndexType::U64],
        false => &IndexType::ALL,
    }
}

/// Bytes that tell elements apart, behind one that leaves them unaligned.
fn data(bytes: usize) -> Vec<u8> {
    let byte = |n: usize| (n * 7 + n / 251) as u8;
    (0..=bytes).map(byte).collect()
}

/// `count` indices of an axis of `extent`, behind a byte that leaves them unaligned. One in
/// `stray` is out of bounds or negative; the strays come alone and in a row.
fn index_data(t: IndexType, count: usize, extent: i64, stray: usize) -> Vec<u8> {
    const STRAYS: [i64; 7] = [-1, 5, 1 << 31, -6, i64::MIN, i64::MAX, -(1 << 32)];
    let value = |n: usize| match n % stray.max(1) {
        m if stray > 0 && (m == 0 || m == stray / 2 + 1) => STRAYS[n / stray % STRAYS.len()],
        _ => (n as i64 * 5 + n as i64 / 3) % extent,
    };
    let mut data = vec![0];
    (0..count).for_each(|n| t.encode(value(n).into(), &mut data));
    data
}

/// Every width, index type and rule, in rows around a block, with and without strays.
#[test]
fn single_elements_and_rows() {
    let counts: &[usize] = if cfg!(miri) {
        &[65]
    } else {
        &[0, 1, 2, 63, 64, 65, 129]
    };
    for width in [1, 2, 4, 8, 16, 3, 6, 12, 32, 112] {
        let params = data(5 * 2 * width);
        for (rules, t) in rules(width)
            .iter()
            .flat_map(|r| types().iter().map(move |&t| (r, t)))
        {
            let strays = if cfg!(miri) {
                &[9][..]
            } else {
                &[0, 1, 2, 9, 50]
            };
            for (&count, &stray) in counts
                .iter()
                .flat_map(|c| strays.iter().map(move |s| (c, s)))
            {
                let ids = index_data(t, count, 5, stray);
                let ids = Indices::new(&ids[1..], t, Layout::contiguous(&[count])).unwrap();
                // There is memory beyond what the view shows.
                let views = [(&[5][..], &[1][..]), (&[4, 2], &[2, 1])];
                for (shape, strides) in views {
                    let layout = Layout::strided(shape, strides, 0).unwrap();
                    let params = Params::new(&params[1..], width, layout).unwrap();
                    check(Op::gather(0), rules, &params, &ids).unwrap();
                }
            }
        }
    }
}

/// Views of either tensor: reversed, every second, broadcast, transposed.
#[test]
#[cfg_attr(miri, ignore = "slow, and the loops are those of rows")]
fn views() {
    let some_stray = index_data(IndexType::I64, 200, 5, 31);
    let none_stray = index_data(IndexType::I64, 200, 5, 0);
    let params = data(400);
    for (rules, ids) in rules(2)
        .iter()
        .flat_map(|r| [(r, &some_stray), (r, &none_stray)])
    {
        for layout in [
            Layout::strided(&[5, 9], &[18, 2], 0),
            Layout::strided(&[5, 9], &[-18, -1], 100),
            Layout::strided(&[5, 9], &[0, 1], 3),
            Layout::strided(&[5, 9], &[1, 5], 7),
        ] {
            let params = Params::new(&params[1..], 2, layout.unwrap()).unwrap();
            for ids_layout in [
                Layout::strided(&[70], &[-1], 99),
                Layout::strided(&[70], &[2], 3),
                Layout::strided(&[70], &[0], 4),
                Layout::strided(&[7, 9], &[1, 7], 11),
                Layout::strided(&[70], &[1], 20),
                Layout::strided(&[5, 9], &[9, 1], 2),
            ] {
                let ids = Indices::new(&ids[1..], IndexType::I64, ids_layout.unwrap()).unwrap();
                check(Op::gather(0), rules, &params, &ids).unwrap();
                check(Op::gather(1), rules, &params, &ids).unwrap();
                let shape = ids.layout().shape();
                if shape.len() == 2 {
                    check(Op::gather_elements(0), rules, &params, &ids).unwrap();
                }
                if shape == [5, 9] {
                    check(Op::gather_elements(1), rules, &params, &ids).unwrap();
                }
            }
        }
    }
}

/// Index tuples of 0 to 3 coordinates, in order and not, in runs shorter and longer than a block.
#[test]
#[cfg_attr(miri, ignore = "slow, and the copies are those of rows")]
fn tuples() {
    use IndexType::{I32, I64};
    let cases = [(1, 13), (1, 0), (2, 13), (4, 13), (4, 0), (3, 13), (3, 0)];
    for (width, stray, t) in cases.map(|(w, s)| [(w, s, I32), (w, s, I64)]).concat() {
        let ids = index_data(t, 1000, 4, stray);
        let bytes = data(4 * 5 * 6 * 7 * width);
        let layout = Layout::contiguous(&[4, 5, 6, 7]);
        let params = Params::new(&bytes[1..], width, layout).unwrap();
        for (depth, rules) in (0..=3)
            .clone()
            .flat_map(|d| rules(width).into_iter().map(move |r| (d, r)))
        {
            for strides in [[25 * depth as isize, depth as isize, 1], [1, 4, 300]] {
                let layout = Layout::strided(&[4, 25, depth], &strides, 0).unwrap();
                let ids = Indices::new(&ids[1..], t, layout).unwrap();
                check(Op::GatherNd { batch_dims: 1 }, &rules, &params, &ids).unwrap();
                check(Op::gather_nd(), &rules, &params, &ids).unwrap();
            }
        }
    }
}

/// On an axis longer than the index type counts, a negative index is no large one.
#[test]
#[cfg(target_pointer_width = "64")]
fn long_axes() {
    for (t, bits) in [
        (IndexType::I32, 33),
        (IndexType::U32, 33),
        (IndexType::I64, 62),
    ] {
        let layout = Layout::strided(&[1 << bits], &[0], 0).unwrap();
        let params = Params::new(&[7], 1, layout).unwrap();
        let ids = [[0xff; 8], [0, 0, 0, 0x80, 0, 0, 0, 0x80]].concat();
        let count = ids.len() / t.bytes();
        let ids = Indices::new(ids, t, Layout::contiguous(&[count])).unwrap();
        for rules in rules(1) {
            check(Op::gather(0), &rules, &params, &ids).unwrap();
        }
    }
}

/// Outputs that several threads share, cut within and between runs.
#[test]
#[cfg_attr(miri, ignore = "slow, and the loops are the same")]
fn chunks() {
    let ids = index_data(IndexType::U32, 120_000, 5, 50_000);
    for (width, around) in zip([1, 4, 16, 3, 700], [15420, 13107, 8192, 13797, 366]) {
        let bytes = data(5 * 3 * width);
        let params = Params::new(&bytes[1..], width, Layout::contiguous(&[3, 5])).unwrap();
        for count in [around - 1, around, around + 1, 2 * around + 1] {
            for rules in [&Rules::default(), &Rules::NUMPY] {
                let ids = &ids[1..];
                let flat = Indices::new(ids, IndexType::U32, Layout::contiguous(&[count]));
                check(Op::gather(1), rules, &params, &flat.unwrap()).unwrap();
                let runs = Indices::new(ids, IndexType::U32, Layout::contiguous(&[count / 5, 5]));
                check(
                    Op::gather_elements(0),
                    rules,
                    &params.clone(),
                    &runs.unwrap(),
                )
                .ok();
            }
        }
    }
}

/// Rows that several threads share.
#[test]
#[cfg_attr(miri, ignore = "2 MB")]
fn long_rows() {
    for (width, slice) in [(3, 200_001), (16, 40_000), (1, 524_288), (1, 524_289)] {
        let bytes = data(3 * slice * width);
        let layout = Layout::contiguous(&[3, slice]);
        let params = Params::new(&bytes[1..], width, layout).unwrap();
        let fill: Vec<u8> = (1..=width as u8).collect();
        let rules = Rules::default().with_out_of_bounds(OutOfBounds::Fill(Fill::from_bytes(&fill)));
        for ids in [&[2u32][..], &[3], &[1, 7, 0]] {
            let layout = Layout::contiguous(&[ids.len()]);
            let ids = Indices::new(bytemuck::cast_slice(ids), IndexType::U32, layout).unwrap();
            check(Op::gather(0), &rules, &params, &ids).unwrap();
            check(Op::gather(0), &Rules::TENSORFLOW_CPU, &params, &ids).ok();
        }
    }
}

/// Short rows of params that are far from the processor: some at a time, those that lie apart are asked for, then copied;
/// of others more are copied at once.
#[test]
#[cfg_attr(miri, ignore = "16 MiB")]
fn far_rows() {
    let far = (16 << 20) + 4096;
    let bytes = data(far);
    let count = 40_000; // several threads share them
    let spread = |n: usize| n.wrapping_mul(2_654_435_761);
    let patterns: [&dyn Fn(usize) -> usize; 4] =
        [&|n| spread(n), &|n| n / 3, &|n| spread(n / 64), &|n| {
            if n / 3000 % 2 == 0 { n } else { spread(n) }
        }];
    for (width, backwards) in [(1, false), (4, false), (4, true), (12, false), (64, false)] {
        let rows = far / width;
        let layout = match backwards {
            false => Layout::contiguous(&[rows]),
            true => Layout::strided(&[rows], &[-1], rows - 1).unwrap(),
        };
        let params = Params::new(&bytes[1..=rows * width], width, layout).unwrap();
        for (pattern, bad) in zip(patterns.iter().cycle(), [0, 1, 5000, 3, 513, 7, 2, 0]) {
            let id = |n: usize| match bad > 0 && n % bad == bad - 1 {
                true => u32::MAX,
                false => (pattern(n) % rows) as u32,
            };
            let ids: Vec<u32> = (0..count).map(id).collect();
            // In one run, and in runs that end within what is asked for.
            let in_runs = Layout::strided(&[count / 770, 700], &[770, 1], 0).unwrap();
            for layout in [Layout::contiguous(&[count]), in_runs] {
                let ids = bytemuck::cast_slice(&ids);
                let ids = Indices::new(ids, IndexType::U32, layout).unwrap();
                check(Op::gather(0), &Rules::default(), &params, &ids).unwrap();
            }
        }
    }
}

/// Fresh memory of every size that is treated differently, in every element.
#[test]
#[cfg_attr(miri, ignore = "4 MiB")]
fn fresh_outputs() {
    let params = data(3);
    let params = Params::new(&params[1..], 1, Layout::contiguous(&[3])).unwrap();
    let many = threads::threads() * (8 << 20) + 5;
    for count in [
        0,
        1,
        4095,
        4097,
        (4 << 20) - 1,
        4 << 20,
        (9 << 20) + 5,
        many,
    ] {
        let layout = Layout::strided(&[count], &[0], 1).unwrap();
        let ids = Indices::new(&[0u8, 0, 0, 0, 2, 0, 0, 0][..], IndexType::I32, layout).unwrap();
        let plan = Plan::of(Op::gather(0), &Rules::default(), &params, &ids).unwrap();
        let fresh = plain::gathered::<u8>(&plan, &params, &ids).unwrap();
        assert!(fresh == vec![params.bytes()[2]; count], "{count}");
    }
}

/// A plan whose geometry is wrong reads nothing outside params, not even one byte further.
#[test]
fn faulty_plans_read_nothing_outside() {
    for (shape, op) in [(&[9][..], Op::gather(0)), (&[3, 3], Op::gather(0))] {
        let bytes = [7; 9];
        let params = Params::new(&bytes, 1, Layout::contiguous(shape)).unwrap();
        let last = (shape[0] - 1) as u32;
        let ids = last.to_ne_bytes().repeat(2);
        let ids = Indices::new(ids, IndexType::U32, Layout::contiguous(&[2])).unwrap();
        let mut plan = Plan::of(op, &Rules::default(), &params, &ids).unwrap();
        assert!(plain::gathered::<u8>(&plan, &params, &ids).is_ok());
        let mut geometry = plan.geometry().clone();
        geometry.params_offset = 1;
        plan = plan.over(geometry);
        let read = std::panic::catch_unwind(|| plain::gathered::<u8>(&plan, &params, &ids));
        assert!(read.is_err(), "{read:?}");
    }
}

#[test]
fn a_plan_for_other_tensors_is_refused() {
    let bytes = [0u8; 48];
    let params = |shape: &[usize]| Params::new(&bytes, 4, Layout::contiguous(shape)).unwrap();
    let indices = |index_type: IndexType, shape: &[usize]| {
        Indices::new(&bytes[..], index_type, Layout::contiguous(shape)).unwrap()
    };
    let (right, two) = (params(&[4, 3]), indices(IndexType::I32, &[2]));
    let plan = Plan::of(Op::gather(0), &Rules::default(), &right, &two).unwrap();
    let mut output = [0; 24];
    for (params, indices, role) in [
        (params(&[4, 2]), two.clone(), Role::Params),
        (right.clone(), indices(IndexType::I32, &[3]), Role::Indices),
    ] {
        let got = plain::execute(&plan, &params, &indices, &mut output);
        let Err(Error::OtherPlan { role: got, .. }) = got else {
            panic!("{got:?}");
        };
        assert_eq!(got, role);
    }
    let refused = Error::OtherIndices {
        op: OpKind::Gather,
        expected: "i32",
        got: "u32",
    };
    let unsigned = indices(IndexType::U32, &[2]);
    let got = plain::execute(&plan, &right, &unsigned, &mut output);
    assert_eq!(got, Err(refused));
}
