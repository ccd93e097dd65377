//! `explain`: the text of a few shapes, which lie beside this file, and the fields of its JSON.
//!
//! `GATHER_RENEW=1 cargo test --package wgpu-gather-cli --test cli explain` writes the texts anew;
//! what changed in them is then for `git diff` to show.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::gpu::adapters;
use crate::kit::{Dir, finish};

/// Names of files, and the gathers that they explain.
const CASES: [(&str, &str); 17] = [
    (
        "embedding_rows",
        "--op gather --params-shape 30522,384 --indices-shape 16,512 --index-type i64 \
         --bandwidth 1000",
    ),
    (
        "single_elements",
        "--op gather --params-shape 1048576 --indices-shape 4096 --rules numpy-wrap",
    ),
    (
        "neighbours",
        "--op gather --params-shape 1048576 --indices-shape 4096",
    ),
    (
        "axis_1_batched",
        "--op gather --axis 2 --batch-dims 1 --params-shape 8,3,64,5,2 --indices-shape 8,10,1 \
         --rules onnx",
    ),
    (
        "gather_nd_depth_3",
        "--op gather-nd --params-shape 128,128,128 --indices-shape 4096,3",
    ),
    (
        "gather_elements",
        "--op gather-elements --axis 1 --params-shape 64,3,5 --indices-shape 60,4,5 --dtype f64",
    ),
    (
        "odd_rows",
        "--op gather --params-shape 65536,385 --indices-shape 4096 --dtype u8",
    ),
    (
        "pixels",
        "--op gather-nd --batch-dims 1 --params-shape 4,64,64,3 --indices-shape 4,100,2 --dtype u8",
    ),
    (
        "segments",
        "--op gather --params-shape 10000000,64 --indices-shape 2097152 --rules torch \
         --max-gpu-memory 1GiB",
    ),
    (
        "filled",
        "--op gather --params-shape 1000,3 --indices-shape 1000 --out-of-bounds fill=1 \
         --max-gpu-memory 16KiB",
    ),
    (
        "quantised",
        "--op gather --params-shape 151936,896 --indices-shape 512 --format Q4_0 --bandwidth 100",
    ),
    (
        "scatter_rows",
        "--op scatter --reduce add --rules torch --params-shape 30522,768 --indices-shape 32768 \
         --index-type i64",
    ),
    (
        "scatter_nd_few",
        "--op scatter-nd --reduce max --params-shape 64,64,3 --indices-shape 100,2 --dtype u8",
    ),
    (
        "scatter_elements",
        "--op scatter-elements --axis 1 --params-shape 8,100 --indices-shape 8,16 --dtype f64",
    ),
    (
        "bags",
        "--op embedding-bag --mode mean --params-shape 1000000,64 --indices-shape 10 --offsets 0,2,9",
    ),
    (
        "bags_quantised",
        "--op embedding-bag --params-shape 50000,256 --indices-shape 512,20 --format Q4_0",
    ),
    (
        "empty",
        "--op gather --params-shape 3,4 --indices-shape 2,0",
    ),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/explain")
}

/// The JSON of an explanation.
fn explained(dir: &Dir, call: &str) -> Value {
    let text = dir.ok(&format!("explain --json {call}"));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn explanations_are_as_recorded() {
    let (dir, renew) = (Dir::new(), std::env::var_os("GATHER_RENEW").is_some());
    let mut wrong = Vec::new();
    for (name, call) in CASES {
        let path = folder().join(format!("{name}.txt"));
        // What is said of the others holds on every device.
        let call = match call.starts_with("--op gather") {
            true => format!("explain {call} --limits default"),
            false => format!("explain {call}"),
        };
        let got = format!("$ {call}\n{}", dir.ok(&call));
        if renew {
            std::fs::write(&path, &got).unwrap();
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if got != expected.replace("\r\n", "\n") {
            wrong.push(format!(
                "{}, expected:\n{expected}got:\n{got}",
                path.display()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let files = std::fs::read_dir(folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let expected = CASES.map(|(name, _)| format!("{name}.txt"));
    assert_eq!(names.collect::<BTreeSet<_>>(), BTreeSet::from(expected));
}

#[test]
fn json_has_the_facts_in_fields() {
    let dir = Dir::new();
    let (_, call) = CASES[0];
    let got = explained(&dir, &format!("{call} --limits default"));
    let merged = json!([{"indices": 0, "params": null}, {"indices": 1, "params": null}]);
    assert_eq!(got["loops"][0]["dims"], merged);
    assert_eq!(got["loops"][0]["extent"], 8192);
    assert_eq!(got["loops"][1]["slice"], true);
    assert_eq!(
        got["coordinates"],
        json!([{"axis": 0, "extent": 30522, "stride": 384}])
    );
    let dispatch = &got["dispatches"][0];
    assert_eq!(
        (&dispatch["kernel"], &dispatch["access_bytes"]),
        (&json!("rows"), &json!(16))
    );
    assert_eq!(dispatch["workgroups"], json!([1024, 1, 1]));
    assert_eq!((&got["passes"], &got["segments"]), (&json!(1), &json!(1)));
    assert_eq!(got["limits"]["params_bytes"], 128 << 20);
    let bytes = |name: &str| got["bytes"][name].as_u64().unwrap();
    assert_eq!(bytes("output"), 16 * 512 * 384 * 4);
    assert_eq!(bytes("indices"), 16 * 512 * 8);
    let parts = bytes("output") + bytes("indices") + bytes("params_sectors");
    assert_eq!(bytes("total"), parts);
    let expected = parts as f64 / 1000e9 * 1e3;
    assert!((got["expected_ms"].as_f64().unwrap() - expected).abs() < 1e-9);
    assert_eq!(got["host_call"]["by"], "device");
    assert_eq!(
        (&got["adapter"], &got["measured"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn scatters_and_bags_have_their_facts_in_fields() {
    let dir = Dir::new();
    let got = explained(
        &dir,
        "--op scatter --params-shape 30522,768 --indices-shape 32768",
    );
    assert_eq!(
        (&got["lookups"], &got["destinations"]),
        (&json!(32768), &json!(30522))
    );
    assert_eq!(got["updates_bytes"], 32768u64 * 768 * 4);
    let call = "--op embedding-bag --params-shape 1000,64 --indices-shape 10 --offsets 0,2,9";
    let got = explained(&dir, call);
    assert_eq!((&got["bags"], &got["longest"]), (&json!(3), &json!(7)));
    assert_eq!(
        (&got["rows_bytes"], &got["output_bytes"]),
        (&json!(2560), &json!(768))
    );
    // Blocks of 32 codes of 4 bits and a scale of 2 bytes.
    let call = "--op embedding-bag --params-shape 1000,64 --indices-shape 5,2 --format Q4_0";
    assert_eq!(explained(&dir, call)["row_bytes"], 36);
}

#[test]
fn the_bound_on_memory_decides_about_host_calls() {
    let dir = Dir::new();
    let by = |memory: &str| {
        let call = "--op gather --params-shape 1024,1024 --indices-shape 1024";
        let call = format!("{call} --limits default --max-gpu-memory {memory}");
        let got = explained(&dir, &call)["host_call"].take();
        (got["by"].clone(), got["bytes"].as_u64().unwrap())
    };
    // 4 MiB of params and as much of output, with what buffers are larger.
    let (device, bytes) = by("16MiB");
    assert_eq!(device, json!("device"));
    assert!((8 << 20..10 << 20).contains(&bytes), "{bytes}");
    assert_eq!(by(&bytes.to_string()), (json!("device"), bytes));
    assert_eq!(by(&(bytes - 1).to_string()), (json!("cpu"), bytes));
}

/// No adapter speaks Metal here.
#[cfg(target_os = "linux")]
#[test]
fn without_a_gpu_it_is_for_the_limits_of_webgpu() {
    let dir = Dir::new();
    let args = "explain --op gather --params-shape 9,4 --indices-shape 5";
    let args: Vec<&str> = args.split(' ').collect();
    let ran = finish(dir.command(&args).env("WGPU_BACKEND", "metal"));
    let first = ran.stdout.lines().next();
    let expected = "for the default limits of WebGPU, as there is no GPU adapter here";
    assert_eq!((ran.code, first), (0, Some(expected)));
    let ran = finish(
        dir.command(&args)
            .arg("--measure")
            .env("WGPU_BACKEND", "metal"),
    );
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with("error: no GPU adapter"), "{ran:?}");
}

#[test]
fn what_is_measured_is_held_against_the_limit() {
    let dir = Dir::new();
    for (adapter, _) in adapters(&dir) {
        let call = "--op gather --params-shape 1000,64 --indices-shape 500 --measure \
                    --seconds 0.005 --bandwidth 20 --json";
        let mut args = vec!["explain"];
        args.extend(call.split_whitespace());
        let ran = finish(dir.command(&args).args(["--adapter", &adapter]));
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (0, ""),
            "{adapter}: {ran:?}"
        );
        let got: Value = serde_json::from_str(&ran.stdout).unwrap();
        let number = |name: &str| got["measured"][name].as_f64().unwrap();
        assert!(number("median_ms") > 0.0, "{adapter}");
        assert!((number("of_limit") - number("gb_per_s") / 20.0).abs() < 1e-9);
        let name = got["adapter"].as_str().unwrap();
        assert_eq!(got["measured"]["adapter"], format!("gpu: {name}"));
        assert_eq!(got["bandwidth_gb_per_s"], 20.0);
    }
}
