//! The recorded answers of frameworks for scatters and pooled lookups.

use std::collections::BTreeMap;
use std::path::Path;

use gather_conformance::{Expected, FoldCall, FoldCase, read_fold_cases};

/// Suite, its cases, and how many of them are recorded errors.
const SUITES: &[(&str, usize, usize)] = &[
    ("jax_scatter_recorded", 225, 0),
    ("numpy_at_recorded", 106, 2),
    ("onnx_scatter_node_tests", 14, 0),
    ("tf_scatter_recorded", 253, 40),
    ("torch_bag_recorded", 229, 11),
    ("torch_scatter_recorded", 93, 2),
];

fn suite(name: &str) -> Vec<FoldCase> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/conformance")
        .join(name)
        .with_extension("json");
    let text = std::fs::read_to_string(&path).expect("a fixture file");
    read_fold_cases(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_file_of_folds_is_read_whole() {
    let mut operators = BTreeMap::<&str, usize>::new();
    for &(name, cases, errors) in SUITES {
        let read = suite(name);
        let failed = |case: &&FoldCase| matches!(case.expected, Expected::Error(_));
        assert_eq!(read.len(), cases, "{name}");
        assert_eq!(read.iter().filter(failed).count(), errors, "{name}");
        for case in &read {
            let operator = match case.call {
                FoldCall::Scatter { .. } => "scatter",
                FoldCall::ScatterNd { .. } => "scatter_nd",
                FoldCall::ScatterElements { .. } => "scatter_elements",
                FoldCall::EmbeddingBag(_) => "embedding_bag",
            };
            *operators.entry(operator).or_default() += 1;
        }
    }
    println!("{operators:?}");
    assert_eq!(operators.len(), 4, "{operators:?}");
}
