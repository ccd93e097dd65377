//! Shapes and attributes that no index makes right.

use wgpu_gather::{Fill, Op, OutOfBounds, Rules};

use super::{Bad, TF, bad, batched};

pub(super) fn shapes() -> Vec<Bad> {
    let nd = |batch_dims| Op::GatherNd { batch_dims };
    vec![
        bad(
            Op::gather(0),
            &[],
            &[1],
            "gather: params has rank 0, but needs at least 1",
        ),
        bad(
            Op::gather(3),
            &[2, 3, 4],
            &[1],
            "gather: axis 3 is out of range for params of rank 3 (allowed -3..=2)",
        ),
        bad(
            Op::gather(-4),
            &[2, 3, 4],
            &[1],
            "gather: axis -4 is out of range for params of rank 3 (allowed -3..=2)",
        ),
        bad(
            Op::gather(isize::MAX),
            &[2],
            &[1],
            "gather: axis 9223372036854775807 is out of range for params of rank 1 (allowed -1..=0)",
        ),
        bad(
            Op::gather(isize::MIN),
            &[2],
            &[1],
            "gather: axis -9223372036854775808 is out of range for params of rank 1 (allowed -1..=0)",
        ),
        bad(
            batched(1, 3),
            &[2, 3, 4],
            &[2, 3],
            "gather: batch_dims 3 is out of range for indices of rank 2 and params of rank 3 (allowed -2..=2)",
        ),
        bad(
            batched(1, -3),
            &[2, 3, 4],
            &[2, 3],
            "gather: batch_dims -3 is out of range for indices of rank 2 and params of rank 3 (allowed -2..=0)",
        ),
        bad(
            batched(0, 2),
            &[2, 3],
            &[2, 3, 4],
            "gather: batch_dims 2 is out of range for indices of rank 3 and params of rank 2 (allowed 0..=1)",
        ),
        bad(
            batched(0, -1),
            &[2, 3],
            &[2, 3, 4],
            "gather: batch_dims -1 is out of range for indices of rank 3 and params of rank 2 (allowed -3..=-2)",
        ),
        bad(
            batched(0, isize::MIN),
            &[2],
            &[2],
            "gather: batch_dims -9223372036854775808 is out of range for indices of rank 1 and params of rank 1 (allowed -1..=-1)",
        ),
        bad(
            batched(0, 1),
            &[2, 3],
            &[2, 3],
            "gather: axis 0 is less than batch_dims = 1; the axis must follow the batch dims",
        ),
        bad(
            batched(1, 1),
            &[2, 3],
            &[3, 3],
            "gather: params dim 0 is 2, but indices dim 0 is 3; the first batch_dims = 1 dims must be equal",
        ),
        bad(
            batched(2, 2),
            &[2, 1, 4],
            &[2, 3],
            "gather: params dim 1 is 1, but indices dim 1 is 3; the first batch_dims = 2 dims must be equal",
        ),
        bad(
            nd(0),
            &[],
            &[1, 1],
            "gather_nd: params has rank 0, but needs at least 1",
        ),
        bad(
            nd(0),
            &[2],
            &[],
            "gather_nd: indices has rank 0, but needs at least 1",
        ),
        bad(
            nd(0),
            &[2, 3],
            &[5, 3],
            "gather_nd: indices dim -1 is 3, but params has 2 dims after batch_dims = 0",
        ),
        bad(
            nd(1),
            &[5, 2, 3, 4],
            &[5, 4],
            "gather_nd: indices dim -1 is 4, but params has 3 dims after batch_dims = 1",
        ),
        bad(
            nd(-1),
            &[5, 2],
            &[5, 1],
            "gather_nd: batch_dims -1 is out of range for indices of rank 2 and params of rank 2 (allowed 0..=1)",
        ),
        bad(
            nd(2),
            &[5, 2],
            &[5, 2],
            "gather_nd: batch_dims 2 is out of range for indices of rank 2 and params of rank 2 (allowed 0..=1)",
        ),
        bad(
            nd(1),
            &[5, 2],
            &[4, 1],
            "gather_nd: params dim 0 is 5, but indices dim 0 is 4; the first batch_dims = 1 dims must be equal",
        ),
        bad(
            Op::gather_elements(0),
            &[],
            &[1],
            "gather_elements: params has rank 0, but needs at least 1",
        ),
        bad(
            Op::gather_elements(0),
            &[1],
            &[],
            "gather_elements: indices has rank 0, but needs at least 1",
        ),
        bad(
            Op::gather_elements(2),
            &[2, 2],
            &[2, 2],
            "gather_elements: axis 2 is out of range for params of rank 2 (allowed -2..=1)",
        ),
        bad(
            Op::gather_elements(-3),
            &[2, 2],
            &[2, 2],
            "gather_elements: axis -3 is out of range for params of rank 2 (allowed -2..=1)",
        ),
        bad(
            Op::gather_elements(0),
            &[2, 2],
            &[2],
            "gather_elements: indices has rank 1, but params has rank 2; the ranks must be equal",
        ),
        bad(
            Op::gather_elements(0),
            &[2, 3, 5],
            &[2, 3, 7],
            "gather_elements: indices dim 2 is 7, larger than params dim 2 = 5; only the axis (0) may be larger",
        ),
        bad(
            Op::gather_elements(-1),
            &[2, 3],
            &[3, 3],
            "gather_elements: indices dim 0 is 3, larger than params dim 0 = 2; only the axis (1) may be larger",
        ),
        Bad {
            rules: Rules::TORCH,
            ..bad(
                Op::gather_elements(1),
                &[],
                &[],
                "gather_elements: axis 1 is out of range for params of rank 1 (allowed -1..=0)",
            )
        },
        Bad {
            rules: Rules::TORCH,
            ..bad(
                Op::gather_elements(0),
                &[],
                &[1, 1],
                "gather_elements: indices has rank 2, but params has rank 0; the ranks must be equal",
            )
        },
        Bad {
            rules: Rules::TORCH,
            ..bad(
                Op::gather_elements(-2),
                &[3],
                &[0, 2],
                "gather_elements: axis -2 is out of range for params of rank 1 (allowed -1..=0)",
            )
        },
        Bad {
            rules: Rules::NUMPY_CLIP,
            ..bad(
                Op::gather(1),
                &[2, 0],
                &[3],
                "gather: params axis 1 has extent 0, so out_of_bounds = clip has no element to read",
            )
        },
        Bad {
            rules: Rules::NUMPY_WRAP,
            ..bad(
                Op::gather_nd(),
                &[2, 0],
                &[3, 2],
                "gather_nd: params axis 1 has extent 0, so out_of_bounds = wrap has no element to read",
            )
        },
        Bad {
            rules: TF.with_out_of_bounds(OutOfBounds::Fill(Fill::new(1.0f64))),
            ..bad(
                Op::gather(0),
                &[2],
                &[1],
                "gather: the fill value has 8 bytes, but an element of params has 4",
            )
        },
        Bad {
            rules: TF.with_out_of_bounds(OutOfBounds::Fill(Fill::from_bytes(&[]))),
            ..bad(
                Op::gather(0),
                &[2],
                &[0],
                "gather: the fill value has 0 bytes, but an element of params has 4",
            )
        },
    ]
}
