//! `adapters` and `verify`, and how the command treats its pipes.

use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;

use crate::kit::{Dir, finish, i32s, npy};

/// A backend that this system never has.
const ABSENT: &str = if cfg!(target_os = "macos") {
    "dx12"
} else {
    "metal"
};

fn recorded(name: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/conformance")
        .join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

#[test]
fn no_adapter_is_an_answer_not_an_error() {
    let dir = Dir::new();
    let without = |args: &[&str]| finish(dir.command(args).env("WGPU_BACKEND", ABSENT));
    let ran = without(&["adapters"]);
    assert_eq!(ran.code, 0);
    assert_eq!(
        ran.stdout,
        "no GPU adapter; this machine has none (Debian/Ubuntu: apt-get install \
         mesa-vulkan-drivers libegl1 libgl1-mesa-dri, for software ones)\n\
         Everything runs on the CPU path, which needs none.\n"
    );
    assert_eq!(without(&["adapters", "--json"]).stdout, "[]\n");
    let ran = without(&["verify", "--backend", "gpu"]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stderr,
        "error: no GPU adapter; this machine has none (Debian/Ubuntu: apt-get install \
         mesa-vulkan-drivers libegl1 libgl1-mesa-dri, for software ones)\n"
    );
    let ran = without(&["demo"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("; no GPU adapter)"), "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("There is no GPU here that can be used, so the CPU path is."),
        "{}",
        ran.stdout
    );
}

#[test]
fn auto_falls_back_to_the_cpu_and_says_why() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("|u1", "(2,)", &[3, 4]))
        .put("i.npy", &npy("|i1", "(1,)", &[1]));
    let call = [
        "gather",
        "--params",
        "p.npy",
        "--indices",
        "i.npy",
        "--out",
        "o.npy",
    ];
    let ran = finish(dir.command(&call).env("WGPU_BACKEND", ABSENT));
    assert!(ran.stdout.contains("; no GPU adapter), "), "{}", ran.stdout);
    let ran = finish(dir.command(&call).arg("--json").env("WGPU_BACKEND", ABSENT));
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(said["executor"], "cpu");
    assert_eq!(said["reason"], "no GPU adapter");
}

#[test]
fn verify_runs_recorded_cases() {
    let dir = Dir::new();
    dir.put("doc.json", recorded("doc_examples.json").as_bytes());
    for backend in ["cpu", "reference"] {
        let text = dir.ok(&format!("verify --cases doc.json --backend {backend}"));
        assert_eq!(last_line(&text), "27 passed, 0 failed, 0 skipped");
        assert!(text.contains("checked:  27 recorded cases of doc.json\n"));
    }
    let text = dir.ok("verify --cases doc.json doc.json --backend cpu --json");
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&said["passed"], &said["failed"]), (&54.into(), &0.into()));
    let counts = said["counts"].as_array().unwrap();
    let counted: i64 = counts.iter().map(|c| c["passed"].as_i64().unwrap()).sum();
    assert_eq!(counted, 54);
}

#[test]
fn verify_runs_the_built_in_calls() {
    let dir = Dir::new();
    let text = dir.ok("verify --backend cpu");
    let calls = gather_conformance::builtin().len();
    let total = format!("{calls} passed, 0 failed, 0 skipped");
    assert_eq!(last_line(&text), total);
    for line in ["gather_nd        16 bytes", "gather_elements  1 byte"] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn verify_makes_random_calls() {
    let dir = Dir::new();
    let text = dir.ok("verify --random 300 --backend cpu");
    let checked = "checked:  300 random calls of seed 0, against the reference\n\n300 passed, ";
    assert!(text.contains(checked), "{text}");
    assert_eq!(last_line(&text), "300 passed, 0 failed, 0 skipped");
    let text = dir.ok("verify --random 1 --seed 18446744073709551615 --backend reference");
    let checked = "checked:  1 random call of seed 18446744073709551615, against the reference\n";
    assert!(text.contains(checked), "{text}");
    let text = dir.ok("verify --random 5 --seed 3 --backend cpu --json");
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&said["passed"], &said["failed"]), (&5.into(), &0.into()));
    assert_eq!(said["counterexample"], Value::Null);
    assert_eq!(
        said["checked"],
        "5 random calls of seed 3, against the reference"
    );
}

#[test]
fn a_file_that_cannot_be_read_keeps_no_other_from_being_run() {
    let dir = Dir::new();
    let doc = recorded("doc_examples.json");
    dir.put("doc.json", doc.as_bytes())
        .put(
            "old.json",
            doc.replace("conformance/1", "conformance/0").as_bytes(),
        )
        .put(
            "right.json",
            one_case(r#""expect":{"dtype":"u16","shape":[2],"data":[3,1]}"#).as_bytes(),
        );
    let line = "verify --cases old.json doc.json notes.json right.json --backend cpu";
    let missing = std::fs::read(dir.path().join("notes.json")).unwrap_err();
    let first =
        "cases old.json: schema \"gather-conformance/0\" is not gather-conformance/1".to_owned();
    let second = format!("cases notes.json: {missing}");
    let complaint = format!("error: {first}\nerror: {second}\n");
    let ran = dir.run(line);
    assert_eq!((ran.code, &ran.stderr), (1, &complaint));
    let checked = "checked:  28 recorded cases of doc.json, right.json\n";
    assert!(ran.stdout.contains(checked), "{}", ran.stdout);
    assert_eq!(last_line(&ran.stdout), "28 passed, 0 failed, 0 skipped");

    let ran = dir.run(&format!("{line} --json"));
    assert_eq!((ran.code, ran.stderr), (1, complaint));
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&said["passed"], &said["failed"]), (&28.into(), &0.into()));
    assert_eq!(said["unreadable"], serde_json::json!([first, second]));
}

#[test]
fn cases_of_quantized_tables_are_run_beside_others() {
    let dir = Dir::new();
    let cases = recorded("quantized/rows_and_fp8.json");
    dir.put("q.json", cases.as_bytes())
        .put("doc.json", recorded("doc_examples.json").as_bytes())
        .put(
            "cut.json",
            cases
                .replacen("\"codes\":\"", "\"codes\":\"x", 1)
                .as_bytes(),
        );
    let text = dir.ok("verify --cases q.json doc.json --backend cpu");
    assert_eq!(last_line(&text), "297 passed, 0 failed, 0 skipped");
    assert!(
        text.contains("fbgemm") && text.contains("fp8_e4m3"),
        "{text}"
    );
    let ran = dir.run("verify --cases cut.json --backend cpu");
    let complaint =
        "error: cases cut.json: case \"PyTorch byte rows to f32 #0\": bits are not hexadecimal\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (1, complaint));
}

#[test]
fn skipped_cases_are_named_with_their_reason() {
    let dir = Dir::new();
    let mut file: Value = serde_json::from_str(&recorded("doc_examples.json")).unwrap();
    file["cases"][1]["disputed"] = true.into();
    dir.put("one.json", file.to_string().as_bytes());
    let text = dir.ok("verify --cases one.json --backend cpu");
    assert!(
        text.contains("\nskipped doc_examples: tf.gather 1-D (disputed)\n"),
        "{text}"
    );
    assert_eq!(last_line(&text), "26 passed, 0 failed, 1 skipped");
}

/// One case: 1, 2, 3 as u16, gathered at 2 and 0; recorded as `recorded`.
fn one_case(recorded: &str) -> String {
    format!(
        r#"{{"suite":"planted","schema":"gather-conformance/1","count":1,"cases":[
        {{"op":"gather","name":"two of three",
          "params":{{"dtype":"u16","shape":[3],"data":[1,2,3]}},
          "indices":{{"dtype":"i64","shape":[2],"data":[2,0]}},
          "attrs":{{"axis":0,"neg":"oob","oob":"zero"}},
          {recorded}}}]}}"#
    )
}

#[test]
fn a_planted_fault_is_reported_with_the_first_differing_element() {
    let dir = Dir::new();
    let wrong = one_case(r#""expect":{"dtype":"u16","shape":[2],"data":[3,258]}"#);
    let right = one_case(r#""expect":{"dtype":"u16","shape":[2],"data":[3,1]}"#);
    dir.put("wrong.json", wrong.as_bytes())
        .put("right.json", right.as_bytes());
    let ran = dir.run("verify --cases right.json wrong.json --backend cpu");
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(
        ran.stdout
            .contains("FAILED planted: two of three\n       output[1] is 0100, expected 0201\n"),
        "{}",
        ran.stdout
    );
    assert_eq!(last_line(&ran.stdout), "1 passed, 1 failed, 0 skipped");

    let ran = dir.run("verify --cases wrong.json --backend cpu --json");
    assert_eq!(ran.code, 1);
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    let failure = &said["failures"][0];
    assert_eq!(failure["case"], "planted: two of three");
    assert_eq!(failure["difference"], "output[1] is 0100, expected 0201");
}

#[test]
fn a_closed_pipe_is_no_fault() {
    let dir = Dir::new();
    let mut child = dir
        .command(&["demo", "--backend", "cpu"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(stderr, "");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_verdict_outlives_a_closed_pipe() {
    let dir = Dir::new();
    let wrong = one_case(r#""expect":{"dtype":"u16","shape":[2],"data":[3,2]}"#);
    dir.put("wrong.json", wrong.as_bytes());
    let args = ["verify", "--cases", "wrong.json", "--backend", "cpu"];
    let mut child = dir.command(&args).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn help_and_version() {
    let dir = Dir::new();
    let text = dir.ok("--help");
    for word in [
        "gather-nd",
        "gather-elements",
        "adapters",
        "verify",
        "demo",
        "Examples:",
    ] {
        assert!(text.contains(word), "{text}");
    }
    for command in ["gather", "gather-nd", "gather-elements"] {
        let text = dir.ok(&format!("{command} --help"));
        // What every call needs comes first, the rest in groups.
        let order = [
            "--params <P>",
            "--indices <I>",
            "--out <O>",
            "Operator:",
            "Rules for indices:",
            "jax-fill",
            "Element types:",
            "Where it runs:",
            "What is printed:",
            "Quantized params:",
            "Examples:",
        ];
        let (_, options) = text.split_once("\nOptions:\n").expect("options");
        let places = order.map(|word| {
            options
                .find(word)
                .unwrap_or_else(|| panic!("{word}: {text}"))
        });
        assert!(places.is_sorted(), "{places:?} {text}");
    }
    let version = format!("wgpu-gather {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(dir.ok("--version"), version);
}

#[test]
fn a_file_whose_mapping_is_unaligned_is_read() {
    let dir = Dir::new();
    // Three bytes before the i32 tensor put it at an odd address.
    let header = r#"{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"I32","shape":[2],"data_offsets":[3,11]},"i":{"dtype":"I16","shape":[2],"data_offsets":[11,15]}}"#;
    let data = [vec![1, 2, 3], i32s(&[7, 8]), vec![1, 0, 0, 0]].concat();
    dir.put("m.safetensors", &crate::kit::safetensors(header, &data));
    dir.ok("gather --params m.safetensors:b --indices m.safetensors:i --out o.npy --backend cpu");
    assert_eq!(crate::kit::split_npy(&dir.get("o.npy")).1, i32s(&[8, 7]));
}
