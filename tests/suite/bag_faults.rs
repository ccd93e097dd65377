//! Faults planted in the shaders of pooled lookups, which the calls must report on every adapter.

use gather_conformance::SplitMix;
use wgpu_gather::gpu::Engine;
use wgpu_gather::{BagMode, DType, Error, Executor, IndexType, Layout, Rules};

use crate::common::engines;
use crate::planted::{Change, faulty, plant};
use gather_conformance::{Bag, FOLDED, Laid, random_bag};

type Fault = (&'static str, Change);

/// In the part that all kernels of pooled lookups have.
fn in_all(source: String, from: &str, to: &str) -> String {
    plant(source, "fn fold_bag", from, to)
}

pub(crate) const BAG_FAULTS: &[Fault] = &[
    ("none", |s| s),
    ("last row of a bag left out", |s| {
        in_all(s, "for (; lookup < end;", "for (; lookup + 1u < end;")
    }),
    ("order of a bag reversed", |s| {
        let s = in_all(
            s,
            "for (; lookup < end;",
            "let first = lookup;\n    for (; lookup < end;",
        );
        let place = "index_at + ((end - 1u - lookup) - (lookup - first)) * pooling.lookup_step";
        in_all(s, "= find_row(index_at);", &format!("= find_row({place});"))
    }),
    ("two of four rows in each other's place", |s| {
        let s = in_all(
            s,
            "with_row(fold, rows.b, vectors.b,",
            "with_row(fold, swapped, vectors.c,",
        );
        let s = in_all(
            s,
            "with_row(fold, rows.c, vectors.c,",
            "with_row(fold, rows.b, vectors.b,",
        );
        in_all(s, "with_row(fold, swapped,", "with_row(fold, rows.c,")
    }),
    ("four rows where there are three", |s| {
        in_all(s, "end - lookup >= 4u", "end - lookup >= 3u")
    }),
    ("mean by the wrong count", |s| {
        in_all(s, "f32(fold.count)", "f32(fold.count + 1u)")
    }),
    ("padding counted", |s| {
        in_all(s, "if (row.counts) {", "if (true) {")
    }),
    ("weight of the next index", |s| {
        in_all(
            s,
            "load_weight(weight_at)",
            "load_weight(weight_at + pooling.weights_step)",
        )
    }),
    ("bag of the next offset", |s| {
        in_all(
            s,
            "bags[pooling.offsets_at + number];",
            "bags[pooling.offsets_at + number + 1u];",
        )
    }),
    ("maximum of zero and the values", |s| {
        in_all(s, "vec4(first)", "vec4(false)")
    }),
    ("signs left out of a maximum", |s| {
        in_all(s, "return pooling.sign;", "return 0u;")
    }),
    ("carry dropped", |s| {
        in_all(s, "sum += vec4(0u, carry.x, 0u, carry.z);", "")
    }),
    ("halves rounded down", |s| {
        let exact = "(value + below_half + ((value >> shift) & vec4(1u))) >> shift";
        in_all(s, exact, "value >> shift")
    }),
    ("a part of a bag begun anew", |s| {
        in_all(s, "if (pools(RESUMES)) {", "if (false) {")
    }),
    ("wrapped rows where they are not", |s| {
        in_all(
            s,
            "if (!row.valid) {\n        let rest",
            "if (false) {\n        let rest",
        )
    }),
    ("last access of a pooled lookup left out", |s| {
        let part = "if (n >= geometry.row_count * geometry.row_length)";
        plant(s, part, "if (n >= geometry", "if (n + 1u >= geometry")
    }),
    ("one element of a word pooled", |s| {
        let part = "for (var n = max(word * per_word, skipped); n < end; n++)";
        plant(s, part, "n < end; n++", "n < end; n += 4u")
    }),
];

/// Calls that show the faults, with what the reference makes of them.
fn calls() -> Vec<(Bag, Vec<u8>)> {
    let mut random = SplitMix(7);
    let mut calls: Vec<Bag> = (0..150).map(|_| random_bag(&mut random, &FOLDED)).collect();
    let floats = (0..600).map(|_| random_bag(&mut random, &FOLDED[..3]));
    calls.extend(floats.filter(|bag| bag.weights.is_some()).take(40));
    // One bag with more indices than a dispatch folds.
    calls.push(Bag {
        mode: BagMode::Sum,
        offsets: Some((vec![0], false)),
        padding: None,
        rules: Rules::TORCH,
        dtype: DType::I32,
        params: Laid {
            bytes: [1i32, 2].iter().flat_map(|v| v.to_ne_bytes()).collect(),
            layout: Layout::contiguous(&[1, 2]),
        },
        index_type: IndexType::I32,
        indices: Laid {
            bytes: vec![0; 4],
            layout: Layout::strided(&[70_000], &[0], 0).unwrap(),
        },
        weights: None,
    });
    let expected = |bag: Bag| {
        bag.run(&Executor::Reference)
            .ok()
            .map(|output| (bag, output))
    };
    calls.into_iter().filter_map(expected).collect()
}

/// What is wrong with the first call that reports a fault.
fn first_report(engine: &Engine, calls: &[(Bag, Vec<u8>)], fault: Fault) -> Option<String> {
    let executor = Executor::Gpu(faulty(engine, engine.device().limits(), fault.1));
    calls
        .iter()
        .find_map(|(bag, expected)| match bag.run(&executor) {
            Ok(got) => bag.compare(expected, &got),
            Err(Error::Gpu { reason, .. }) => panic!("{}: {reason}", fault.0),
            Err(error) => Some(error.to_string()),
        })
}

#[test]
fn faults_of_pooled_lookups_are_reported_on_every_adapter() {
    let calls = calls();
    for engine in engines() {
        let label = engine.adapter().label();
        for &fault in BAG_FAULTS {
            match first_report(engine, &calls, fault) {
                None => assert_eq!(fault.0, "none", "{label}: {} is not reported", fault.0),
                Some(why) => {
                    assert_ne!(fault.0, "none", "{label}: {why}");
                    println!("{label}: {}: {why}", fault.0);
                }
            }
        }
    }
}
