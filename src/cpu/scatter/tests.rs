use super::keep::WINDOW;
use super::{scatter, scatter_over};
use crate::call::Scatter;
use crate::cpu::reference;
use crate::cpu::vectors::tests::with_each_kind;
use crate::element::DType;
use crate::fold::Reduce;
use crate::index::IndexType;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::rules::Rules;
use crate::scatter::{ScatterLayouts, ScatterPlan};
use crate::shape::{Dims, Layout};

/// Sums of so many rows of floats into fewer, most of them into a few.
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
fn sums([rows, width, kinds]: [usize; 3]) -> Vec<f32> {
    let ids: Vec<u32> = (0..rows as u32)
        .map(|n| {
            let spread = n.wrapping_mul(2_654_435_761) >> 8;
            spread % kinds as u32 / (1 + spread % 7)
        })
        .collect();
    let updates: Vec<f32> = (0..rows * width)
        .map(|n| 1.0 / (1 + n % 1013) as f32)
        .collect();
    let [destination, ids_layout, updates_layout] =
        [&[kinds, width][..], &[rows], &[rows, width]].map(Layout::contiguous);
    let layouts = ScatterLayouts {
        dtype: DType::F32,
        destination: &destination,
        index_type: IndexType::U32,
        indices: &ids_layout,
        updates: &updates_layout,
    };
    let plan = ScatterPlan::new(Op::gather(0), Reduce::Add, &Rules::default(), layouts).unwrap();
    let ids = Indices::new(bytemuck::cast_slice(&ids), IndexType::U32, ids_layout).unwrap();
    let updates = Params::new(bytemuck::cast_slice(&updates), 4, updates_layout).unwrap();
    let mut sums = vec![0.5f32; kinds * width];
    scatter(&plan, &ids, &updates, bytemuck::cast_slice_mut(&mut sums)).unwrap();
    sums
}

#[test]
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
fn any_number_of_threads_gives_the_same_bits() {
    // Short rows, those of three columns with a loop of their own for one thread, and long ones of a destination beyond
    // caches, which several threads sort.
    for sizes in [[30_000, 40, 50], [300_000, 3, 5000], [1500, 1100, 1200]] {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| sums(sizes))
        };
        let bits = |sums: Vec<f32>| sums.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let one = bits(with(1));
        for threads in [2, 3, 7, 12] {
            assert!(bits(with(threads)) == one, "{sizes:?} {threads}");
        }
    }
}

/// Over a copy of the base, as in the base itself and as the definition has it: rows of bytes that threads take in order,
/// longer ones that are sorted, elements, halves that are rounded once, by rows of both kinds, and no lookup at all.
#[test]
fn a_copy_of_the_base_has_the_bits_of_a_scatter_in_place() {
    let (rows, wide, narrow, count) = match cfg!(miri) {
        true => (70, 12, 5, 50),
        false => (7000, 1100, 250, 3000),
    };
    let calls = [
        (Op::gather(0), DType::F32, &[count][..], &[count, wide][..]),
        (Op::gather(0), DType::BF16, &[count], &[count, wide]),
        (Op::gather(0), DType::BF16, &[count], &[count, narrow]),
        (Op::gather(0), DType::I8, &[count], &[count, wide]),
        (Op::gather_elements(0), DType::F32, &[40, wide], &[40, wide]),
        (Op::gather(0), DType::F32, &[0], &[0, wide]),
    ];
    for (op, dtype, ids_shape, updates_shape) in calls {
        let width = updates_shape[1];
        let destination = Layout::contiguous(&[rows, width]);
        let [ids_layout, updates_layout] = [ids_shape, updates_shape].map(Layout::contiguous);
        let layouts = ScatterLayouts {
            dtype,
            destination: &destination,
            index_type: IndexType::U32,
            indices: &ids_layout,
            updates: &updates_layout,
        };
        let plan = ScatterPlan::new(op, Reduce::Add, &Rules::default(), layouts).unwrap();
        let ids: Vec<u32> = (0..ids_shape.iter().product::<usize>() as u32)
            .map(|n| match n % 3 {
                0 => n.wrapping_mul(2_654_435_761) % (rows as u32 + 1), // the last is bad
                _ => 0, // more than are folded at once
            })
            .collect();
        let ids = Indices::new(bytemuck::cast_slice(&ids), IndexType::U32, ids_layout).unwrap();
        let elements = |seed: usize, count: usize| -> Vec<u8> {
            // No sum of them is exact.
            let value = |n: usize| 1.0 / (1 + n * seed % 1013) as f32;
            match dtype {
                DType::BF16 => (0..count)
                    .flat_map(|n| ((value(n).to_bits() >> 16) as u16).to_ne_bytes())
                    .collect(),
                DType::I8 => (0..count).map(|n| (n * seed % 251) as u8).collect(),
                _ => (0..count).flat_map(|n| value(n).to_ne_bytes()).collect(),
            }
        };
        let updates = elements(7, updates_shape.iter().product());
        let updates = Params::new(&updates, dtype, updates_layout).unwrap();
        let base = elements(3, rows * width);
        let mut in_place = base.clone();
        scatter(&plan, &ids, &updates, &mut in_place).unwrap();
        assert_eq!(in_place != base, ids_shape != [0]);
        let call = Scatter {
            op,
            reduce: Reduce::Add,
            rules: &Rules::default(),
            shape: Dims::from_slice(&[rows, width]),
            indices: ids.borrowed(),
            updates: updates.clone(),
        };
        let mut defined = base.clone();
        reference::scatter(&call, &mut defined).unwrap();
        assert!(in_place == defined, "{op:?} {dtype:?} {ids_shape:?}");
        let over = match dtype {
            DType::BF16 => {
                let bits = scatter_over::<u16>(&plan, &ids, &updates, &base).unwrap();
                bytemuck::cast_slice(&bits).to_vec()
            }
            DType::I8 => scatter_over::<u8>(&plan, &ids, &updates, &base).unwrap(),
            _ => {
                let bits = scatter_over::<f32>(&plan, &ids, &updates, &base).unwrap();
                bytemuck::cast_slice::<f32, u8>(&bits).to_vec()
            }
        };
        assert!(over == in_place, "{op:?} {dtype:?} {ids_shape:?}");
    }
}

/// Around every width that loops are made for, over several windows of lookups and several digits of keys, in one
/// part and in many. Updates follow each other, or lie apart by rows, or by columns as those of a transposed tensor;
/// indices are rows as they are or longer than these, and the destination begins at an odd address.
#[test]
fn rows_of_any_length_are_those_of_the_definition() {
    let (rows, count) = match cfg!(miri) {
        true => (300, 20),
        false => (70_000, 1100),
    };
    let widths = [1, 2, 3, 4, 5, 8, 9, 16, 31, 32, 33, 63, 64, 65, 600];
    let types = [DType::F32, DType::F16, DType::I8, DType::F64, DType::C64];
    for (width, dtype) in widths.into_iter().flat_map(|w| types.map(|t| (w, t))) {
        let rows = rows.min(600_000 / width); // beyond what is near, where rows are asked for
        let apart = width + 3;
        for (strides, reduce, index_type, odd) in [
            ([width, 1], Reduce::Add, IndexType::U32, 0),
            ([apart, 1], Reduce::Add, IndexType::I64, 1),
            ([1, count], Reduce::Mul, IndexType::U32, 0),
            ([width, 1], Reduce::None, IndexType::I64, 0),
            ([width, 1], Reduce::Add, IndexType::U32, 1),
        ] {
            let destination = Layout::contiguous(&[rows, width]);
            let ids_layout = Layout::contiguous(&[count]);
            let steps = strides.map(|stride| stride as isize);
            let updates_layout = Layout::strided(&[count, width], &steps, 0).unwrap();
            let layouts = ScatterLayouts {
                dtype,
                destination: &destination,
                index_type,
                indices: &ids_layout,
                updates: &updates_layout,
            };
            let rules = Rules::default();
            let plan = ScatterPlan::new(Op::gather(0), reduce, &rules, layouts).unwrap();
            // Half of them go to a few rows, and some are bad; the second window has no such.
            let bound = |n: u32| match n as usize / WINDOW {
                1 => rows as u32,
                _ => rows as u32 + rows as u32 / 16,
            };
            let id = |n: u32| match n % 2 {
                0 => n % 7,
                _ => n.wrapping_mul(2_654_435_761) % bound(n),
            };
            let bytes_of = |id: u32| u64::from(id).to_le_bytes()[..index_type.bytes()].to_vec();
            let ids: Vec<u8> = (0..count as u32).map(id).flat_map(bytes_of).collect();
            let ids = Indices::new(&ids, index_type, ids_layout).unwrap();
            let bytes = |seed: usize, elements: usize| -> Vec<u8> {
                let byte = |n: usize| (n.wrapping_mul(seed) >> 7) as u8;
                (0..elements * dtype.bytes()).map(byte).collect()
            };
            let updates = bytes(0x9e37_79b1, count * apart);
            let updates = Params::new(&updates, dtype, updates_layout).unwrap();
            let mut expected = bytes(0x85eb_ca77, rows * width);
            let before = expected.clone();
            let call = Scatter {
                op: Op::gather(0),
                reduce,
                rules: &rules,
                shape: Dims::from_slice(&[rows, width]),
                indices: ids.borrowed(),
                updates: updates.clone(),
            };
            reference::scatter(&call, &mut expected).unwrap();
            with_each_kind(|| {
                let mut got = [&vec![0; odd][..], &before].concat();
                scatter(&plan, &ids, &updates, &mut got[odd..]).unwrap();
                assert!(
                    got[odd..] == expected,
                    "{width} {dtype:?} {reduce:?} {strides:?} {index_type:?} {odd}"
                );
            });
        }
    }
}
