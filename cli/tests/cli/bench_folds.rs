//! `bench` of scatters and pooled lookups: pairs a second, and the time of each dispatch.

use serde_json::Value;

use crate::bench::{assert_figures, bench, json_lines};
use crate::gpu::adapters;
use crate::kit::Dir;

#[test]
fn folds_give_pairs_a_second_on_every_backend() {
    let dir = Dir::new();
    // A scatter over a copy, in place of a narrow type, sorted; one of each kind of bags; a sort.
    let line = "--case scatter-1000 add-64 add-64-bf16 max-75 none-64 add-4 bags-of-32-64 \
                bags-of-8-bf16 bags-of-32-q4_0 sort-16 --scale 4096 --json";
    let cpu = bench(&dir, &format!("{line} --backend cpu"), None);
    let mut runs = vec![("cpu", cpu)];
    for (adapter, _) in adapters(&dir) {
        runs.push((
            "gpu",
            bench(&dir, &format!("{line} --transfers"), Some(&adapter)),
        ));
    }
    for (backend, ran) in runs {
        let results = json_lines(&ran.stdout);
        assert_eq!(results.len(), 10, "{backend}: {}", ran.stdout);
        for result in &results {
            assert_figures(result);
            assert_eq!(result["backend"], backend);
            let lookups: u64 = result["indices_shape"]
                .as_array()
                .unwrap()
                .iter()
                .map(|dim| dim.as_u64().unwrap())
                .product();
            let number = |name: &str| result[name].as_f64().unwrap();
            let pairs = lookups as f64 / number("median_ms") * 1e3;
            assert!(
                (number("pairs_per_s") / pairs - 1.0).abs() < 1e-3,
                "{result}"
            );
            let sorts = backend == "gpu" && result["op"] != "embedding_bag";
            assert_eq!(result["sort_fraction"].is_number(), sorts, "{result}");
        }
        let of = |name: &str| results.iter().find(|r| r["case"] == name).unwrap();
        // 128 updates of 256 bytes to at most as many rows, each read and written once.
        let add = of("add-64");
        assert_eq!(add["op"], "scatter_into");
        assert_eq!(add["reduce"], "add");
        assert_eq!(add["updates_bytes"], 128 * 256);
        assert_eq!(add["params_bytes"], add["output_bytes"]);
        assert!(add["output_bytes"].as_u64().unwrap() < 128 * 256);
        // What does not last is not read, and nothing of params.
        let none = of("none-64");
        assert_eq!(none["params_bytes"], 0);
        assert_eq!(none["updates_bytes"], none["output_bytes"]);
        // A copy of all 62 MiB / 4096.
        let copied = of("scatter-1000");
        assert_eq!(copied["params_bytes"], 768 * 4);
        assert_eq!(copied["output_shape"], serde_json::json!([1, 768]));
        let bags = of("bags-of-32-64");
        assert_eq!(bags["output_shape"], serde_json::json!([8, 64]));
        assert_eq!(bags["op"], "embedding_bag");
        if backend == "gpu" {
            assert_eq!(bags["asked"]["call"], "bags of 32 rows of 256 bytes");
            assert!(of("max-75")["asked"]["bytes_64"].is_u64());
            assert!(of("sort-16")["asked"]["bytes_64"].is_u64());
            let decoded = of("bags-of-32-q4_0");
            assert_eq!(decoded["asked"]["call"], "bags of 32 rows of 64 Q4_0");
        }
    }
}

#[test]
fn dispatches_are_timed_by_their_pipelines() {
    let dir = Dir::new();
    for (adapter, _) in adapters(&dir) {
        let line = "--case dlrm add-32 --scale 64 --dispatches";
        let ran = bench(&dir, &format!("{line} --json"), Some(&adapter));
        let lines = json_lines(&ran.stdout);
        // One dispatch says no more than the call.
        assert_eq!(lines[0]["dispatches"], Value::Null, "{}", ran.stdout);
        let Some(all) = lines[1]["dispatches"].as_array() else {
            assert!(
                adapter.contains("gl"),
                "{adapter} has timestamps within a pass"
            );
            continue;
        };
        let of = |each: &Value| {
            (
                each["pipeline"].as_str().map(str::to_owned),
                each["count"].as_u64(),
            )
        };
        let named = |name: &str, count| (Some(name.to_owned()), Some(count));
        // 16,384 lookups of as many rows: keys of 15 bits.
        let expected = [
            named("keys", 1),
            named("sort count", 2),
            named("sort move", 2),
            named("fold f32 x4", 1),
            named("fold f32 x4, long runs", 1),
        ];
        assert_eq!(
            all.iter().map(of).collect::<Vec<_>>(),
            expected,
            "{adapter}"
        );
        assert!(
            all.iter().all(|each| each["ms"].as_f64() > Some(0.0)),
            "{all:?}"
        );
        let text = bench(&dir, line, Some(&adapter)).stdout;
        assert!(text.contains("add-32 /64: its dispatches in ms"), "{text}");
        assert!(text.contains("2 x  sort move\n"), "{text}");
    }
}
