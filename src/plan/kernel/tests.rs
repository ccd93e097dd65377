//! Kernels and grids at their limits.

use super::*;
use crate::index::IndexType;
use crate::op::Op;
use crate::plan::{BindingLimits, Part, Parts, Segment, passes};
use crate::rules::{Fill, OutOfBounds, Rules};
use crate::shape::Layout;

fn plan(op: Op, rules: &Rules, width: usize, params: &Layout, indices: &Layout) -> Plan {
    Plan::new(op, rules, width, params, IndexType::I32, indices).unwrap()
}

/// All lookups of a plan in one dispatch, for indices whose binding starts at byte `start`.
fn check(plan: &Plan, origin: i64) -> Result<([u32; 3], Work, GeometryBlock)> {
    let pass = CheckPass {
        geometry: plan.lookups().clone(),
        lookups: 0..plan.lookups().elements(),
        indices: Segment {
            part: 0,
            offset: 0,
            size: 16,
            origin,
            owned_from: 0,
        },
        flagged: None,
    };
    Kernel::check(plan, &pass, 65_535)
}

/// The kernel for a gather of 10 rows of `row` elements of `width` bytes.
fn rows(row: usize, width: usize, origins: Origins) -> Kernel {
    let params = Layout::contiguous(&[100, row]);
    let plan = plan(
        Op::gather(0),
        &Rules::default(),
        width,
        &params,
        &Layout::contiguous(&[10]),
    );
    Kernel::copy(&plan, origins, 65_535).unwrap()
}

#[test]
fn a_fill_value_narrows_the_access_only_if_it_does_not_repeat_in_it() {
    let access = |width, row| {
        let rules = Rules::default()
            .with_out_of_bounds(OutOfBounds::Fill(Fill::from_bytes(&vec![1; width])));
        let params = Layout::contiguous(&[100, row]);
        let plan = plan(
            Op::gather(0),
            &rules,
            width,
            &params,
            &Layout::contiguous(&[10]),
        );
        let kernel = Kernel::copy(&plan, Origins::default(), 65_535).unwrap();
        (kernel.access_bytes, kernel.block.fill_length)
    };
    assert_eq!(access(2, 8), (16, 1));
    assert_eq!(access(4, 4), (16, 1));
    assert_eq!(access(12, 4), (4, 3));
    assert_eq!(access(32, 1), (16, 2));
    assert_eq!(access(20, 4), (4, 5));
    assert_eq!(access(3, 16), (1, 12)); // words, as the kernel puts them together
    assert_eq!(access(1, 5), (1, 4));
    assert_eq!(access(5, 1), (1, 5));
}

#[test]
fn long_rows_are_cut_and_short_ones_share_a_workgroup() {
    let long = rows(1 << 20, 4, Origins::default());
    assert_eq!(long.workgroups, [10, 1, 256]); // 2^18 accesses, 1024 a workgroup
    let short = |row| {
        let kernel = rows(row, 4, Origins::default());
        (kernel.block.sharers_log2, kernel.block.paired)
    };
    assert_eq!(short(6), (1, 1)); // 3 accesses of 8 bytes
    assert_eq!(short(8), (1, 1)); // 2 of 16: one for each invocation
    assert_eq!(short(16), (1, 1)); // 4: two invocations for two rows
    assert_eq!(short(20), (1, 0)); // 5: two invocations for each
    assert_eq!(short(36), (2, 0)); // 9
    assert_eq!(short(5), (2, 1)); // 5 accesses of 4 bytes
    assert_eq!(short(17), (3, 0)); // 17
}

#[test]
fn pairs_of_rows_need_half_the_workgroups() {
    let groups = |count| {
        let params = Layout::contiguous(&[100, 16]);
        let indices = Layout::contiguous(&[count]);
        let plan = plan(Op::gather(0), &Rules::default(), 4, &params, &indices);
        let kernel = Kernel::copy(&plan, Origins::default(), 65_535).unwrap();
        kernel.workgroups
    };
    assert_eq!(groups(256), [1, 1, 1]);
    assert_eq!(groups(257), [2, 1, 1]);
}

#[test]
fn workgroups_fold_at_the_limit() {
    let groups = |count: usize, limit| {
        let params = Layout::contiguous(&[10]);
        let indices = Layout::contiguous(&[count]);
        let plan = plan(Op::gather(0), &Rules::default(), 4, &params, &indices);
        Kernel::copy(&plan, Origins::default(), limit).map(|k| k.workgroups)
    };
    // 1024 elements a workgroup
    assert_eq!(groups(1024 * 65_535, 65_535), Ok([65_535, 1, 1]));
    assert_eq!(groups(1024 * 65_535 + 1, 65_535), Ok([65_535, 2, 1]));
    assert_eq!(groups(1024 * 9, 3), Ok([3, 3, 1]));
    assert!(matches!(
        groups(1024 * 9 + 1, 3),
        Err(Error::TooMany {
            got: 10,
            limit: 9,
            ..
        })
    ));
}

#[test]
fn there_is_a_grid_however_few_workgroups_the_device_has() {
    let groups = |row| {
        let params = Layout::contiguous(&[10, row]);
        let indices = Layout::contiguous(&[1]);
        let plan = plan(Op::gather(0), &Rules::default(), 4, &params, &indices);
        Kernel::copy(&plan, Origins::default(), 0).map(|k| k.workgroups)
    };
    assert_eq!(groups(1), Ok([1, 1, 1]));
    assert_eq!(groups(1 << 20), Ok([1, 1, 1]));
}

#[test]
#[cfg_attr(
    target_pointer_width = "32",
    ignore = "of sizes beyond 32-bit addresses"
)]
fn offsets_that_no_buffer_holds_wrap_around() {
    // Origins and offsets each beyond 64 bits of bytes; the first element is where they meet.
    let params = Layout::strided(&[9, 4], &[4, 1], usize::MAX / 2).unwrap();
    let indices = Layout::strided(&[3], &[1], usize::MAX - 1).unwrap();
    let plan = plan(Op::gather(0), &Rules::default(), 4, &params, &indices);
    let origins = Origins {
        params: -(4 + 160), // the offset is a word less than 2^65 bytes
        indices: -(8 + 12), // and this one two
        output: 0,
    };
    let kernel = Kernel::copy(&plan, origins, 65_535).unwrap();
    assert_eq!((kernel.access_bytes, kernel.block.params_offset), (16, 10));
    assert_eq!(kernel.block.indices_offset, 3);
    for far in [i64::MIN, i64::MAX] {
        let origins = Origins {
            params: far,
            indices: far,
            output: far,
        };
        assert!(Kernel::copy(&plan, origins, 65_535).is_ok());
        assert!(check(&plan, far).is_ok());
    }
    // Of an empty output, elements may have any width.
    let (params, indices) = (Layout::contiguous(&[1]), Layout::contiguous(&[0]));
    let empty = Plan::new(
        Op::gather(0),
        &Rules::default(),
        usize::MAX,
        &params,
        IndexType::I32,
        &indices,
    );
    assert!(check(&empty.unwrap(), i64::MIN).is_ok());
}

#[test]
#[cfg_attr(
    target_pointer_width = "32",
    ignore = "of sizes beyond 32-bit addresses"
)]
fn counts_beyond_32_bits_are_refused() {
    // Broadcast indices: 2^31 positions over 2^15 values.
    let params = Layout::contiguous(&[1]);
    let indices = Layout::strided(&[1 << 16, 1 << 15], &[0, 1], 0).unwrap();
    let plan = plan(Op::gather(0), &Rules::ONNX, 4, &params, &indices);
    let refused = Error::TooMany {
        op: plan.op(),
        what: "the number of lookups",
        got: 1 << 31,
        limit: (1 << 31) - 1,
    };
    let copy = Kernel::copy(&plan, Origins::default(), 65_535);
    assert_eq!(copy.unwrap_err(), refused);
    assert_eq!(check(&plan, 0).unwrap_err(), refused);
}

#[test]
#[cfg_attr(
    target_pointer_width = "32",
    ignore = "of sizes beyond 32-bit addresses"
)]
fn positions_take_64_bits_only_beyond_32() {
    // Rows of 3 bytes, up to 2^32 of them in all.
    let positions = |rows: usize, indices: &[usize]| {
        let params = Layout::contiguous(&[rows, 3]);
        let indices = Layout::contiguous(indices);
        let plan = plan(Op::gather(0), &Rules::default(), 1, &params, &indices);
        let part = |bytes: usize| {
            [Part {
                origin: 0,
                offset: 0,
                bytes: bytes.next_multiple_of(16) as u64,
            }]
        };
        let parts = Parts {
            params: &part(rows * 3),
            indices: &part(1 << 20),
            output: &part(1 << 20),
        };
        let limits = BindingLimits {
            params_bytes: 1 << 30,
            indices_bytes: 1 << 30,
            output_bytes: 1 << 30,
            segments: 2,
            alignment: 256,
            pass_bytes: 1 << 30,
            workgroups: 65_535,
        };
        let passes = passes(&plan, parts, &limits).unwrap();
        let of = |pass| Kernel::of_pass(&plan.part(pass), pass, false, 65_535).unwrap();
        let kernels: Vec<_> = passes.iter().map(of).collect();
        let [first, rest @ ..] = &kernels[..] else {
            panic!("a pass")
        };
        assert!(rest.iter().all(|k| k.positions == first.positions));
        (first.positions, first.nest, kernels.len())
    };
    let (bound, several, wide) = (Positions::Bound, Positions::Segments, Positions::Wide);
    let most = u32::MAX as usize / 3;
    assert_eq!(positions(1 << 20, &[10]), (bound, NestSize::IN_SEGMENTS, 1));
    assert_eq!(
        positions(1 << 29, &[10]),
        (several, NestSize::IN_SEGMENTS, 1)
    );
    assert_eq!(
        positions(most - 6, &[10]),
        (several, NestSize::IN_SEGMENTS, 3)
    );
    assert_eq!(positions(most, &[10]), (wide, NestSize::ANY, 3));
}
