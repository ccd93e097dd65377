//! The list of benchmarks.

mod folds;

use wgpu_gather::quantized::BlockFormat;
use wgpu_gather::{DType, IndexType, Op};

use crate::bench::case::Case;
use crate::bench::pattern::Pattern;
use crate::bench::verb::Verb;

/// The groups that `--case` takes, and what is in them.
pub(crate) const GROUPS: [(&str, &str); 8] = [
    ("shapes", "gathers of real models and data sets"),
    ("row-bytes", "rows of 1 byte to 64 KiB"),
    ("elements", "outputs of 2^10 to 2^28 elements"),
    ("bad", "without and with a quarter of bad indices"),
    (
        "quantised",
        "a prompt's rows of a table in 32, 8 and 4 bits",
    ),
    ("scatters", "updates combined with rows of a table"),
    ("bags", "sums of rows of a table: pooled lookups"),
    (
        "sorts",
        "scatters of single elements: little but their sort",
    ),
];

const M: usize = 1 << 20;

/// Every case, in the order in which they run.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = shapes();
    cases.extend((0..=16).map(row_bytes));
    cases.extend((10..=28).step_by(2).map(elements));
    cases.extend(bad());
    cases.extend(quantised());
    cases.extend(folds::scatters());
    cases.extend(folds::bags());
    cases.extend(folds::sorts());
    cases
}

/// A case along `params` and `indices` whose first dims are divided on a small machine.
fn case(name: &str, op: Op, dtype: DType, params: &[usize], indices: &[usize]) -> Case {
    Case {
        name: name.to_owned(),
        group: "shapes",
        what: "",
        verb: Verb::Gather,
        op,
        dtype,
        format: None,
        index_type: IndexType::I32,
        params: params.to_vec(),
        indices: indices.to_vec(),
        divided: [Some(0), Some(0)],
        pattern: Pattern::Random,
        bad: 0.0,
    }
}

impl Case {
    fn what(self, what: &'static str) -> Self {
        Case { what, ..self }
    }

    fn pattern(self, pattern: Pattern) -> Self {
        Case { pattern, ..self }
    }

    fn divided(self, divided: [Option<usize>; 2]) -> Self {
        Case { divided, ..self }
    }

    fn i64(self) -> Self {
        let index_type = IndexType::I64;
        Case { index_type, ..self }
    }
}

fn shapes() -> Vec<Case> {
    use DType::{F16, F32, I32, U8};
    let rows = Op::gather(0);
    let batched = Op::Gather {
        axis: None,
        batch_dims: 1,
    };
    let (columns, nd) = (Op::gather_elements(1), Op::gather_nd());
    let nd_batched = Op::GatherNd { batch_dims: 1 };
    let table = [10_000_000, 64];
    vec![
        case("llm-prefill", rows, F16, &[128_256, 4096], &[16_384])
            .what("token embeddings of a prompt"),
        case("llm-vocab", rows, F16, &[262_144, 4096], &[8192])
            .what("token embeddings, a table of exactly 2 GiB"),
        case("dlrm", rows, F32, &table, &[2 * M]).what("embeddings of a recommender"),
        case("dlrm-zipf", rows, F32, &table, &[2 * M])
            .what("the same, few rows asked for often")
            .pattern(Pattern::Zipf),
        case("dlrm-sorted", rows, F32, &table, &[2 * M])
            .what("the same, indices sorted")
            .pattern(Pattern::Sorted),
        case("dlrm-i64", rows, F32, &table, &[2 * M])
            .what("the same, 64-bit indices")
            .i64(),
        case("kv-beam", batched, F16, &[64, 8, 262_144], &[64, 8])
            .what("key-value caches of a beam search, reordered"),
        case("beam-ids", batched, I32, &[64, 8, 2048], &[64, 8]).what("token ids of a beam search"),
        case("top-k", columns, F32, &[4096, 32_000], &[4096, 64])
            .what("64 of 32,000 scores in each row")
            .i64(),
        case("dense-columns", columns, F32, &[8192, 8192], &[8192, 8192])
            .what("torch.gather along the last dim"),
        case(
            "dense-rows",
            Op::gather_elements(0),
            F32,
            &[8192, 8192],
            &[8192, 8192],
        )
        .what("torch.gather along the first dim")
        .divided([Some(1), Some(1)]),
        case("paged-kv", rows, F16, &[32_768, 16, 8, 128], &[16_384])
            .what("pages of a key-value cache"),
        case("gnn", rows, F32, &[M, 128], &[2 * M]).what("features of the neighbours in a graph"),
        case("gnn-2gib", rows, F32, &[M, 128], &[4 * M]).what("the same, an output of 2 GiB"),
        case("voxel", nd, F32, &[512, 512, 512], &[2 * M, 3]).what("points of a volume"),
        case("voxel-rows", nd, F16, &[256, 256, 256, 32], &[2 * M, 3])
            .what("32 channels at points of a volume"),
        case(
            "pixels",
            nd_batched,
            U8,
            &[32, 512, 512, 3],
            &[32, 65_536, 2],
        )
        .what("pixels of 3 bytes in images"),
        case("random-4b", rows, F32, &[64 * M], &[16 * M]).what("single elements of a large table"),
        case("random-4b-cached", rows, F32, &[4 * M], &[16 * M])
            .what("single elements of a table that fits a cache"),
        case("u8-rows", rows, U8, &[M, 384], &[M]).what("rows of quantised embeddings"),
        case("u8-rows-odd", rows, U8, &[M, 385], &[M]).what("the same, 385 bytes each"),
        case("axis-1", Op::gather(1), F32, &[8192, 16_384], &[4096])
            .what("the same columns of every row")
            .divided([Some(0), None]),
        case(
            "axis-1-rows",
            Op::gather(1),
            F32,
            &[1024, 16_384, 4],
            &[4096],
        )
        .what("the same, 4 elements each")
        .divided([Some(0), None]),
        case("huge", rows, F16, &[4 * M, 1024], &[65_536])
            .what("a table of 8 GiB")
            .i64(),
        case("latency", rows, F32, &[1000], &[1000])
            .what("a gather that costs nothing but its launch")
            .divided([None, None]),
        case("same-index", rows, F16, &[128_256, 4096], &[16_384])
            .what("one row again and again: all writing")
            .pattern(Pattern::Same),
    ]
}

/// 64 MiB out of 1 GiB, in rows of `2^log2` bytes.
fn row_bytes(log2: u32) -> Case {
    let bytes = 1_usize << log2;
    let (params, indices) = ([1024 * M / bytes, bytes], [64 * M / bytes]);
    let name = format!("row-bytes-{bytes}");
    let rows = case(&name, Op::gather(0), DType::U8, &params, &indices);
    Case {
        group: "row-bytes",
        what: "64 MiB out of 1 GiB",
        ..rows
    }
}

/// `2^log2` elements, in rows of 64 f32.
fn elements(log2: u32) -> Case {
    let rows = [(1_usize << log2) / 64];
    let name = format!("elements-2^{log2}");
    let rows = case(&name, Op::gather(0), DType::F32, &[M, 64], &rows);
    Case {
        group: "elements",
        what: "rows of 64 elements out of 256 MiB",
        ..rows.divided([Some(0), None])
    }
}

/// Rows and single elements, without and with bad indices.
fn bad() -> impl Iterator<Item = Case> {
    let pairs = [0.0, 0.25].map(|bad| {
        let percent = 100.0 * bad;
        let name = |what: &str| format!("{what}-bad-{percent}");
        let rows = Op::gather(0);
        [
            case(&name("rows"), rows, DType::F32, &[M, 128], &[M]),
            case(&name("single"), rows, DType::F32, &[64 * M], &[16 * M]),
        ]
        .map(|case| Case {
            group: "bad",
            what: "bad indices give zeros",
            bad,
            ..case
        })
    });
    pairs.into_iter().flatten()
}

/// The embeddings of a prompt: only the rows of the table are divided on a small machine.
fn quantised() -> impl Iterator<Item = Case> {
    let formats = [
        ("prompt-f32", None),
        ("prompt-q8_0", Some(BlockFormat::Q8_0)),
        ("prompt-q4_0", Some(BlockFormat::Q4_0)),
    ];
    formats.into_iter().map(|(name, format)| {
        let rows = case(name, Op::gather(0), DType::F32, &[151_936, 896], &[512]);
        Case {
            group: "quantised",
            what: "512 tokens out of 151,936",
            format,
            ..rows.divided([Some(0), None])
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::traffic::Traffic;
    use wgpu_gather::Rules;

    #[test]
    fn every_case_can_be_planned_at_every_scale() {
        for case in all() {
            assert!(GROUPS.iter().any(|(group, _)| *group == case.group));
            let scaled = |scale| case.scaled(scale, &Rules::default()).unwrap();
            let bytes = |scale| Traffic::uniform(&scaled(scale).plan).total();
            assert!(bytes(1) > 0 && bytes(1 << 20) > 0, "{}", case.name);
            if let [Some(_), Some(_)] = case.divided {
                let ratio = bytes(1) as f64 / bytes(16) as f64;
                assert!((15.9..16.1).contains(&ratio), "{}: {ratio}", case.name);
            }
        }
    }

    #[test]
    fn sweeps_are_as_large_as_their_names_say() {
        for case in all() {
            let output = case.scaled(1, &Rules::default()).unwrap().output_bytes();
            if case.group == "row-bytes" {
                assert_eq!((output, case.params.iter().product()), (64 * M, 1024 * M));
                assert_eq!(case.name, format!("row-bytes-{}", case.params[1]));
            } else if case.group == "elements" {
                assert_eq!(case.name, format!("elements-2^{}", (output / 4).ilog2()));
            }
        }
    }
}
