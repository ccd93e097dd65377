use super::scatter;
use crate::element::DType;
use crate::fold::Reduce;
use crate::index::IndexType;
use crate::op::Op;
use crate::rules::Rules;
use crate::scatter::{ScatterLayouts, ScatterPlan};
use crate::shape::Layout;
use crate::tensor::{Indices, Params};

/// Sums of 20,000 rows of 40 floats into 50, most of them into a few.
fn sums() -> Vec<f32> {
    let (rows, width, kinds) = (20_000, 40, 50);
    let ids: Vec<u32> = (0..rows as u32)
        .map(|n| {
            let spread = n.wrapping_mul(2_654_435_761) >> 8;
            spread % kinds / (1 + spread % 7)
        })
        .collect();
    let updates: Vec<f32> = (0..rows * width)
        .map(|n| 1.0 / (1 + n % 1013) as f32)
        .collect();
    let [destination, ids_layout, updates_layout] =
        [&[kinds as usize, width][..], &[rows], &[rows, width]].map(Layout::contiguous);
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
    let mut sums = vec![0.5f32; kinds as usize * width];
    scatter(&plan, &ids, &updates, bytemuck::cast_slice_mut(&mut sums)).unwrap();
    sums
}

#[test]
#[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
fn any_number_of_threads_gives_the_same_bits() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(sums)
    };
    let bits = |sums: Vec<f32>| sums.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let one = bits(with(1));
    for threads in [2, 3, 7] {
        assert_eq!(bits(with(threads)), one, "{threads}");
    }
}
