//! `bench`: that every backend gives figures which fit together, and what is made of them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::gpu::adapters;
use crate::kit::{Dir, Ran, finish};

const SOFTWARE: &str = "software adapter";

pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// Runs `bench` with a few milliseconds for each case; what it says on stderr is progress.
pub(crate) fn bench(dir: &Dir, line: &str, adapter: Option<&str>) -> Ran {
    let args = format!("bench --seconds 0.005 {line}");
    let args: Vec<&str> = args.split_whitespace().collect();
    let mut command = dir.command(&args);
    if let Some(adapter) = adapter {
        command.args(["--adapter", adapter]);
    }
    let ran = finish(&mut command);
    assert_eq!(ran.code, 0, "{line}: {ran:?}");
    let progress = ran.stderr.lines().all(|line| line.starts_with("bench: "));
    assert!(progress && !ran.stderr.is_empty(), "{line}: {}", ran.stderr);
    ran
}

/// The figures of a line are positive and follow from one another.
pub(crate) fn assert_figures(line: &Value) {
    let number = |name: &str| {
        let number = line[name].as_f64();
        number.unwrap_or_else(|| panic!("no {name} in {line}"))
    };
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-4 * b.abs();
    let updates = line["updates_bytes"].as_f64().unwrap_or(0.0);
    let parts = number("params_bytes") + number("indices_bytes") + number("output_bytes") + updates;
    assert_eq!(number("bytes"), parts, "{line}");
    let speed = number("bytes") / 1e6 / number("median_ms");
    assert!(close(number("gb_per_s"), speed), "{line}");
    let copy = number("bytes") / 1e6 / number("copy_ms");
    assert!(close(number("copy_gb_per_s"), copy), "{line}");
    assert!(close(number("fraction"), speed / copy), "{line}");
    assert!(
        number("fraction") > 0.0 && number("wall_ms") > 0.0,
        "{line}"
    );
    assert!(number("p10_ms") <= number("median_ms"), "{line}");
    assert!(number("median_ms") <= number("p90_ms"), "{line}");
    assert!(number("rounds") >= 3.0, "{line}");
}

#[test]
fn the_cases_are_listed_whole() {
    let dir = Dir::new();
    let all = json_lines(&dir.ok("bench --list --json"));
    let names: BTreeSet<&str> = all.iter().map(|c| c["case"].as_str().unwrap()).collect();
    assert_eq!(names.len(), all.len(), "two cases have one name");
    let text = dir.ok("bench --list");
    for case in &all {
        assert!(text.contains(case["case"].as_str().unwrap()), "{case}");
        assert_ne!(case["what"], "", "{case}");
    }
    let group = |group: &str| all.iter().filter(|c| c["group"] == group).count();
    assert_eq!(
        (
            group("row-bytes"),
            group("elements"),
            group("bad"),
            group("quantised")
        ),
        (17, 10, 4, 3)
    );
    assert!(group("shapes") >= 17 && group("scatters") >= 15);
    assert!(group("bags") >= 6 && group("sorts") == 3);

    let listed = dir.ok("bench --list --json --case top-k --scale 32");
    let expected = serde_json::json!({
        "case": "top-k", "group": "shapes", "what": "64 of 32,000 scores in each row",
        "op": "gather_elements", "reduce": null, "axis": 1, "batch_dims": 0,
        "dtype": "f32", "format": null, "index_type": "i64", "pattern": "random", "bad": 0.0,
        "params_shape": [4096, 32000], "indices_shape": [4096, 64],
        "scale": 32,
        "scaled_params_shape": [128, 32000], "scaled_indices_shape": [128, 64],
    });
    assert_eq!(json_lines(&listed), [expected]);
    // Another pattern of indices, for every case.
    let expanded = dir.ok("bench --list --json --pattern expanded");
    let patterns = json_lines(&expanded);
    assert_eq!(patterns.len(), all.len());
    assert!(patterns.iter().all(|case| case["pattern"] == "expanded"));
}

#[test]
fn every_backend_gives_figures_that_fit_together() {
    let dir = Dir::new();
    let line = "--case latency pixels --scale 4096 --json --transfers";
    let mut runs: Vec<_> = ["cpu", "reference"]
        .map(|backend| {
            (
                backend,
                bench(&dir, &format!("{line} --backend {backend}"), None),
            )
        })
        .into();
    for (adapter, label) in adapters(&dir) {
        let ran = bench(&dir, line, Some(&adapter));
        for result in json_lines(&ran.stdout) {
            let named = result["adapter"].as_str().unwrap();
            let software = result["software_adapter"].as_bool().unwrap();
            assert!(label.ends_with(named.trim_end_matches(", software adapter")));
            assert_eq!(named.contains(SOFTWARE), software);
            assert!(["timestamps", "wall"].contains(&result["clock"].as_str().unwrap()));
            for name in ["encode_ms", "single_ms", "transfers_ms"] {
                assert!(result[name].as_f64().unwrap() > 0.0, "{name}: {result}");
            }
        }
        runs.push(("gpu", ran));
    }
    for (backend, ran) in runs {
        let results = json_lines(&ran.stdout);
        results.iter().for_each(assert_figures);
        let [pixels, latency] = &results[..] else {
            panic!("{backend}: {}", ran.stdout)
        };
        assert_eq!(latency["backend"], backend);
        assert_eq!(
            (&latency["scale"], &pixels["scale"]),
            (&1.into(), &4096.into())
        );
        assert_eq!(latency["params_shape"], serde_json::json!([1000]));
        assert_eq!(pixels["indices_shape"], serde_json::json!([1, 65536, 2]));
        assert_eq!(pixels["output_shape"], serde_json::json!([1, 65536, 3]));
        assert_eq!(pixels["op"], "gather_nd");
        // All 125 sectors of 1000 floats, as 1000 lookups miss few of them.
        let bytes = latency["bytes"].as_u64().unwrap();
        assert!((11_900..=12_000).contains(&bytes), "{bytes}");
    }
}

#[test]
fn what_waves_ask_for_is_said_where_it_is_known() {
    let dir = Dir::new();
    for (adapter, _) in adapters(&dir) {
        let line = "--case dlrm top-k --scale 4096";
        let text = bench(&dir, line, Some(&adapter)).stdout;
        assert!(text.contains("  asked  of copy, asked  "), "{text}");
        assert!(!text.contains("no figure for"), "{text}");
        let text = bench(
            &dir,
            &format!("{line} --out-of-bounds error"),
            Some(&adapter),
        )
        .stdout;
        let unknown = "asked: no figure for top-k: the traffic table has no call of this shape\n";
        assert!(text.contains(unknown), "{text}");
    }
    let cpu = bench(&dir, "--case dlrm --scale 4096 --backend cpu", None);
    assert!(!cpu.stdout.contains("asked"), "{}", cpu.stdout);
}

#[test]
fn a_shape_of_ones_own() {
    let dir = Dir::new();
    let own = "--op gather-nd --params-shape 4,8,3 --indices-shape 4,100,1 --batch-dims 1 \
               --dtype u8 --index-type u64 --bad 0.5 --pattern sorted --out-of-bounds fill=7";
    let ran = bench(&dir, &format!("{own} --backend cpu --json"), None);
    let [result] = &json_lines(&ran.stdout)[..] else {
        panic!("{}", ran.stdout)
    };
    assert_figures(result);
    let said = [
        "case",
        "op",
        "dtype",
        "index_type",
        "pattern",
        "out_of_bounds",
    ];
    let said = said.map(|name| result[name].as_str().unwrap());
    assert_eq!(
        said,
        ["own", "gather_nd", "u8", "u64", "sorted", "fill=0x07"]
    );
    assert_eq!(result["output_shape"], serde_json::json!([4, 100, 3]));
    assert_eq!(result["output_bytes"], 1200);
    assert_eq!(result["indices_bytes"], 3200);
    // Three sectors hold all of params.
    assert_eq!(result["params_bytes"], 96);
    for (adapter, label) in adapters(&dir) {
        let ran = bench(&dir, &format!("{own} --transfers"), Some(&adapter));
        assert!(ran.stdout.starts_with(&label), "{}", ran.stdout);
        assert!(ran.stdout.contains("  host to host ms\n"), "{}", ran.stdout);
    }
}

#[test]
fn results_are_drawn_and_read_back() {
    let dir = Dir::new();
    let cases = "--case elements-2^10 elements-2^12 row-bytes-4 row-bytes-64 beam-ids --scale 4096";
    let mut places = vec![(None, "cpu".to_owned())];
    let found = adapters(&dir).into_iter();
    places.extend(found.map(|(adapter, label)| (Some(adapter), label)));
    for (adapter, label) in places {
        let backend = if adapter.is_some() { "gpu" } else { "cpu" };
        let line = format!("{cases} --backend {backend} --json --plot drawn.svg");
        let ran = bench(&dir, &line, adapter.as_deref());
        let drawn = String::from_utf8(dir.get("drawn.svg")).unwrap();
        assert!(drawn.starts_with("<svg") && drawn.trim_end().ends_with("</svg>"));
        assert!(drawn.contains(&label), "the plot does not name {label}");
        for panel in [
            "in parts of a copy",
            "Rows of params",
            "One call",
            "Cost of an element",
        ] {
            assert!(drawn.contains(panel), "no panel \"{panel}\"");
        }
        let software = json_lines(&ran.stdout)[0]["software_adapter"] == true;
        assert_eq!(drawn.contains(SOFTWARE), software);

        dir.put("results.jsonl", ran.stdout.as_bytes());
        let read_back = dir.ok("bench --json --from results.jsonl");
        assert!(read_back == ran.stdout, "{read_back}{}", ran.stdout);
        let table = dir.ok("bench --from results.jsonl --plot again.svg");
        assert!(dir.get("again.svg") == drawn.as_bytes(), "another plot");
        assert!(table.starts_with(&label), "{table}");
        assert_eq!(table.contains(SOFTWARE), software);
        assert_eq!(
            table.lines().filter(|l| l.contains("/4096")).count(),
            5,
            "{table}"
        );
    }
}

#[test]
fn what_cannot_be_timed_is_left_out_by_name() {
    let dir = Dir::new();
    let line = "--case single-bad-0 single-bad-25 --scale 65536 --backend cpu --rules onnx";
    let text = bench(&dir, line, None).stdout;
    let reason = "single-bad-25: skipped: bad indices end a gather under these rules, so there is \
                  nothing to time\n";
    assert!(text.ends_with(reason), "{text}");
    let results = json_lines(&bench(&dir, &format!("{line} --json"), None).stdout);
    assert_figures(&results[0]);
    assert!(results[1]["skipped"].is_string() && results[1]["median_ms"].is_null());
}

#[test]
fn a_plot_without_figures_is_an_error_beside_the_results() {
    let dir = Dir::new();
    let skipped = "bench --case single-bad-25 --scale 65536 --backend cpu --rules onnx";
    let ran = dir.run(&format!("{skipped} --plot empty.svg"));
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("single-bad-25: skipped: "), "{ran:?}");
    let error = "error: plot empty.svg: there are no figures to draw\n";
    assert!(ran.stderr.ends_with(error), "{ran:?}");
    assert!(dir.files().is_empty());

    let ran = dir.run("bench --case latency --seconds 0.005 --backend cpu --plot nowhere/plot.svg");
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("latency"),
        "the results are lost: {ran:?}"
    );
    assert!(
        ran.stderr.contains("error: plot nowhere/plot.svg: "),
        "{ran:?}"
    );
}

#[test]
fn tables_in_blocks_are_read_as_they_are_stored() {
    let dir = Dir::new();
    let ran = bench(&dir, "--case quantised --backend cpu --json", None);
    let lines = json_lines(&ran.stdout);
    let formats: Vec<_> = lines.iter().map(|line| &line["format"]).collect();
    assert_eq!(formats, [&Value::Null, &"Q8_0".into(), &"Q4_0".into()]);
    // 512 rows of 896 elements, at most: 28 blocks of 34 and 18 bytes each, in whole sectors.
    let bytes = |line: &Value| line["params_bytes"].as_u64().unwrap();
    let rows = 512 * 28;
    for (line, block) in lines.iter().zip([4 * 32, 34, 18]) {
        let most = rows * block + 512 * 64;
        assert!(
            (rows * block * 9 / 10..most).contains(&bytes(line)),
            "{line}"
        );
        assert_eq!(line["output_bytes"], rows * 32 * 4);
    }
    for (adapter, _) in adapters(&dir) {
        let ran = bench(&dir, "--case prompt-q4_0 --json", Some(&adapter));
        let line = json_lines(&ran.stdout).remove(0);
        assert_figures(&line);
        assert_eq!(line["format"], "Q4_0");
    }
    let own = "bench --op gather-nd --params-shape 50,64 --indices-shape 9,2 --format Q6_K";
    let ran = dir.run(own);
    assert!(
        ran.stderr.contains("no rows of whole blocks of Q6_K"),
        "{ran:?}"
    );
    let own = "--op gather-nd --params-shape 50,256 --indices-shape 9,2 --format Q6_K --dtype bf16 \
               --backend reference";
    let ran = bench(&dir, own, None);
    assert!(ran.stdout.contains("Q6_K 50x256"), "{ran:?}");
}
