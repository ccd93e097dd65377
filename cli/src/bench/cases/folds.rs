//! Scatters, pooled lookups and sorts.

use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{DType, Op, Reduce};

use super::{M, case};
use crate::bench::case::Case;
use crate::bench::pattern::Pattern;
use crate::bench::verb::Verb;

/// A scatter of rows of so many elements: [rows of params, elements] and lookups.
fn scatter(name: &str, verb: Verb, params: [usize; 2], lookups: usize) -> Case {
    Case {
        group: "scatters",
        verb,
        ..case(name, Op::gather(0), DType::F32, &params, &[lookups])
    }
}

pub(super) fn scatters() -> Vec<Case> {
    let (add, copied) = (Verb::ScatterInto(Reduce::Add), Verb::Scatter(Reduce::Add));
    let into =
        |name: &str, verb, rows: usize, elements| scatter(name, verb, [rows, elements], rows);
    let [none, max] = [Reduce::None, Reduce::Max].map(Verb::ScatterInto);
    let few = 32_768;
    let of = |dtype: DType, case: Case| Case { dtype, ..case };
    vec![
        scatter("scatter-32768", copied, [few, 768], few).what("gradients of embeddings"),
        scatter("in-place-32768", add, [few, 768], few).what("the same, in place"),
        scatter("scatter-1000", copied, [1000, 768], few).what("the same, to few rows"),
        scatter("scatter-sorted", copied, [few, 768], few)
            .what("the same, indices sorted")
            .pattern(Pattern::Sorted),
        scatter("scatter-narrow", copied, [few, 4], few).what("the same, rows of 4 elements"),
        into("add-1", add, 8 * M, 1).what("single elements, in place"),
        into("add-4", add, 4 * M, 4).what("rows of 16 bytes, in place"),
        into("add-32", add, M, 32).what("rows of 128 bytes, in place"),
        into("add-64", add, M / 2, 64).what("rows of 256 bytes, in place"),
        into("add-64-sorted", add, M / 2, 64)
            .what("the same, indices sorted")
            .pattern(Pattern::Sorted),
        into("add-64-zipf", add, M / 2, 64)
            .what("the same, few rows often")
            .pattern(Pattern::Zipf),
        of(DType::F16, into("add-64-f16", add, M, 64)).what("rows of 64 f16"),
        of(DType::BF16, into("add-64-bf16", add, M, 64)).what("rows of 64 bf16"),
        of(DType::I8, into("add-64-i8", add, 2 * M, 64)).what("rows of 64 i8"),
        into("add-256", add, M / 8, 256).what("rows of 1 KiB, in place"),
        into("add-768", add, M / 16, 768).what("rows of 3 KiB, in place"),
        into("add-768-sorted", add, M / 16, 768)
            .what("the same, indices sorted")
            .pattern(Pattern::Sorted),
        into("none-64", none, M / 2, 64).what("the last of rows of 256 bytes stays"),
        into("max-75", max, M / 2, 75).what("the greatest of rows of 300 bytes"),
    ]
}

/// Sums of bags: [rows of params, elements] and [bags, rows of a bag].
fn sums(name: &str, params: [usize; 2], bags: [usize; 2]) -> Case {
    Case {
        group: "bags",
        verb: Verb::SumBags,
        ..case(name, Op::gather(0), DType::F32, &params, &bags)
    }
}

pub(super) fn bags() -> Vec<Case> {
    let table = [2 * M, 64];
    let in_blocks = |name, format| Case {
        format: Some(format),
        ..sums(name, table, [32 * 1024, 32]).what("the same, the table quantised")
    };
    vec![
        sums("bags-of-32", [50_000, 128], [1024, 32]).what("features of a recommender, few"),
        sums("bags-of-1", table, [M, 1]).what("one row each: a gather"),
        sums("bags-of-32-64", table, [32 * 1024, 32]).what("rows of 256 bytes"),
        sums("bags-of-32-zipf", table, [32 * 1024, 32])
            .what("the same, few rows often")
            .pattern(Pattern::Zipf),
        sums("bags-of-1000", table, [1024, 1000]).what("the same, long bags"),
        Case {
            dtype: DType::BF16,
            ..sums("bags-of-8-bf16", table, [128 * 1024, 8]).what("rows of 64 bf16")
        },
        in_blocks("bags-of-32-q8_0", BlockFormat::Q8_0),
        in_blocks("bags-of-32-q4_0", BlockFormat::Q4_0),
    ]
}

/// Scatters of single elements to few, more and many places: the last one stays, so that little else is moved.
pub(super) fn sorts() -> impl Iterator<Item = Case> {
    [8, 16, 24].into_iter().map(|bits| {
        let (name, last) = (format!("sort-{bits}"), Verb::ScatterInto(Reduce::None));
        Case {
            group: "sorts",
            what: "keys of 8, 16 or 24 bits, one of which says that an index is bad",
            ..scatter(&name, last, [1 << (bits - 1), 1], 16 * M).divided([None, Some(0)])
        }
    })
}
