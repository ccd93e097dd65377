//! The calls of the traffic table: the shapes of the benchmarks, small.

use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{DType, Op, Reduce, Rules};

use crate::case::{Case, Kind};
use crate::gather::Gather;

pub(crate) fn cases() -> Vec<Case> {
    let gathers = rows().into_iter().chain(others());
    let gathers = gathers.map(|(name, gather)| Case {
        name,
        lookups: gather.lookups(),
        rows: gather.slices(),
        kind: Kind::Gather(gather),
    });
    let folds = quantized().into_iter().chain(folds());
    let folds = folds.map(|(name, lookups, rows, kind)| Case {
        name: name.to_owned(),
        lookups,
        rows,
        kind,
    });
    gathers.chain(folds).collect()
}

/// Rows of a table of so many, of so many elements of so many bytes.
fn of_table(lookups: usize, rows: usize, elements: usize, width: usize) -> Gather {
    Gather::new(Op::gather(0), &[rows, elements], &[lookups], width)
}

fn rows() -> Vec<(String, Gather)> {
    #[rustfmt::skip]
    let named = [
        ("rows of 3072 bytes", of_table(128, 500, 768, 4)),
        ("rows of 256 bytes", of_table(1024, 3000, 64, 4)),
        ("rows of 16 bytes", of_table(4096, 20_000, 4, 4)),
        ("rows of 4 bytes", of_table(8192, 60_000, 1, 4)),
        ("rows of 300 bytes", of_table(512, 3000, 300, 1)),
        ("rows of 3 bytes", of_table(4096, 20_000, 3, 1)),
        ("rows of 1 byte", of_table(8192, 60_000, 1, 1)),
        ("rows of 256 bytes, errors", of_table(1024, 3000, 64, 4).under(&Rules::TORCH)),
        ("rows of 256 bytes, wrapped", of_table(1024, 3000, 64, 4).under(&Rules::NUMPY_WRAP)),
        ("rows of 4 bytes, wrapped", of_table(8192, 60_000, 1, 4).under(&Rules::NUMPY_WRAP)),
        ("rows of 256 bytes, i64", of_table(1024, 3000, 64, 4).i64()),
        ("rows of 2048 bytes, i64", of_table(128, 500, 512, 4).i64()),
        ("rows of 512 bytes, a quarter bad", of_table(512, 2000, 128, 4).bad()),
        ("rows of 4 bytes, a quarter bad", of_table(8192, 60_000, 1, 4).bad()),
    ];
    // The other rows of `row-bytes` and of models.
    let sizes = [
        2, 8, 32, 64, 128, 384, 385, 512, 1024, 2048, 3584, 4096, 8192, 16_384, 32_768, 65_536,
    ];
    let sizes = sizes.map(|bytes: usize| {
        // Whole fours of 16 bytes, as in the benchmarks.
        let lookups = (256 << 10) / bytes.max(64) / 16 * 16;
        let rows = (4 << 20) / bytes.max(256);
        (
            format!("rows of {bytes} bytes"),
            of_table(lookups.max(8), rows, bytes, 1),
        )
    });
    let named = named.map(|(name, gather)| (name.to_owned(), gather));
    named.into_iter().chain(sizes).collect()
}

/// Along other axes, in batches, at several coordinates.
fn others() -> Vec<(String, Gather)> {
    let batched = Op::Gather {
        axis: None,
        batch_dims: 1,
    };
    let (nd, nd_batched) = (Op::gather_nd(), Op::GatherNd { batch_dims: 1 });
    let elements = Op::gather_elements;
    let of = Gather::new;
    #[rustfmt::skip]
    let named = [
        ("32 elements of each row", of(elements(1), &[128, 500], &[128, 32], 4)),
        ("64 elements of each row, i64", of(elements(1), &[64, 32_000], &[64, 64], 4).i64()),
        ("8192 elements of each row", of(elements(1), &[2, 8192], &[2, 8192], 4)),
        ("elements of each column", of(elements(0), &[1024, 256], &[32, 256], 4)),
        ("rows of 524288 bytes of each batch", of(batched, &[2, 2, 262_144], &[2, 2], 2)),
        ("rows of 8192 bytes of each batch", of(batched, &[8, 8, 2048], &[8, 8], 4)),
        ("rows of 4 bytes at 3 coordinates", of(nd, &[64, 64, 64], &[4096, 3], 4)),
        ("rows of 64 bytes at 3 coordinates", of(nd, &[16, 16, 16, 32], &[1024, 3], 2)),
        ("rows of 3 bytes at 2 coordinates of each batch", of(nd_batched, &[2, 128, 128, 3], &[2, 2048, 2], 1)),
        ("rows of 4 bytes along axis 1", of(Op::gather(1), &[8, 16_384], &[1024], 4)),
        ("rows of 16 bytes along axis 1", of(Op::gather(1), &[4, 16_384, 4], &[1024], 4)),
    ];
    named.map(|(name, gather)| (name.to_owned(), gather)).into()
}

/// By name, lookups and rows of the table.
type Named = (&'static str, usize, usize, Kind);

fn quantized() -> Vec<Named> {
    let (q8, q4) = (BlockFormat::Q8_0, BlockFormat::Q4_0);
    let rows = |format, elements, to| Kind::Quantized(format, elements, to);
    #[rustfmt::skip]
    let named = [
        ("rows of 256 Q8_0 to f32", 256, 1000, rows(q8, 256, DType::F32)),
        ("rows of 256 Q8_0 to f16", 256, 1000, rows(q8, 256, DType::F16)),
        ("rows of 256 Q4_0 to f16", 256, 1000, rows(q4, 256, DType::F16)),
        ("rows of 896 Q8_0 to f32", 64, 1000, rows(q8, 896, DType::F32)),
        ("rows of 896 Q4_0 to f32", 64, 1000, rows(q4, 896, DType::F32)),
        ("bags of 32 rows of 64 Q8_0", 1024, 3000, Kind::QuantizedBags(q8, 32, 64)),
        ("bags of 32 rows of 64 Q4_0", 1024, 3000, Kind::QuantizedBags(q4, 32, 64)),
    ];
    named.into()
}

fn folds() -> Vec<Named> {
    use Kind::{Bags, Scatter};
    #[rustfmt::skip]
    let named = [
        ("add rows of 3072 bytes", 128, 500, Scatter(DType::F32, Reduce::Add, 768)),
        ("add rows of 256 bytes", 1024, 1000, Scatter(DType::F32, Reduce::Add, 64)),
        ("add rows of 16 bytes", 4096, 4000, Scatter(DType::F32, Reduce::Add, 4)),
        ("add single f32", 36_864, 36_000, Scatter(DType::F32, Reduce::Add, 1)),
        ("add rows of 128 bytes", 1024, 1000, Scatter(DType::F32, Reduce::Add, 32)),
        ("add rows of 1024 bytes", 256, 1000, Scatter(DType::F32, Reduce::Add, 256)),
        ("add rows of 64 f16", 512, 1000, Scatter(DType::F16, Reduce::Add, 64)),
        ("replace rows of 256 bytes", 1024, 1000, Scatter(DType::F32, Reduce::None, 64)),
        ("replace single f32", 8192, 8000, Scatter(DType::F32, Reduce::None, 1)),
        ("max of rows of 300 bytes", 512, 1000, Scatter(DType::F32, Reduce::Max, 75)),
        ("add rows of 64 bf16", 512, 1000, Scatter(DType::BF16, Reduce::Add, 64)),
        ("add rows of 64 bytes of i8", 512, 1000, Scatter(DType::I8, Reduce::Add, 64)),
        ("bags of 32 rows of 256 bytes", 1024, 3000, Bags(DType::F32, 32, 64)),
        ("bags of 1 rows of 256 bytes", 1024, 3000, Bags(DType::F32, 1, 64)),
        ("bags of 32 rows of 512 bytes", 512, 3000, Bags(DType::F32, 32, 128)),
        ("bags of 1000 rows of 256 bytes", 2000, 3000, Bags(DType::F32, 1000, 64)),
        ("bags of 8 rows of 64 bf16", 512, 3000, Bags(DType::BF16, 8, 64)),
        ("bags of 8 rows of 64 bytes of i8", 512, 3000, Bags(DType::I8, 8, 64)),
    ];
    named.into()
}
