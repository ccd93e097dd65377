//! The same calls on every adapter of this machine.

use std::sync::OnceLock;

use serde_json::Value;

use crate::elements;
use crate::kit::{Dir, Ran, i32s, i64s, npy, npy_fortran, split_npy};

/// A text for `--adapter` that selects it, and the line that the command prints of it, per adapter.
///
/// Without an adapter the test fails, unless the environment allows that.
pub(crate) fn adapters(dir: &Dir) -> Vec<(String, String)> {
    static FOUND: OnceLock<Vec<(String, String)>> = OnceLock::new();
    FOUND.get_or_init(|| find_adapters(dir)).clone()
}

fn find_adapters(dir: &Dir) -> Vec<(String, String)> {
    let mut listed: Vec<Value> = serde_json::from_str(&dir.ok("adapters --json")).unwrap();
    // Where that is no fault of the driver, a test of the library fails: in its `probes`.
    listed.retain(|adapter| {
        let able = adapter["lacks"].is_null();
        if !able {
            println!("SKIPPED: {adapter}");
        }
        able
    });
    if listed.is_empty() {
        let allowed = std::env::var("WGPU_GATHER_ALLOW_NO_GPU").is_ok_and(|v| v == "1");
        assert!(
            allowed,
            "no GPU adapter (Debian/Ubuntu: apt-get install mesa-vulkan-drivers libegl1 \
             libgl1-mesa-dri); set WGPU_GATHER_ALLOW_NO_GPU=1 to run the other tests only"
        );
        println!("SKIPPED: everything on GPUs, as this machine has no adapter");
    }
    let field = |adapter: &Value, name: &str| adapter[name].as_str().unwrap().to_owned();
    let mut seen = Vec::new();
    for adapter in &listed {
        let (name, api) = (field(adapter, "name"), field(adapter, "api"));
        let label = format!("gpu: {name} ({api})");
        // The first of an API goes by the API, others by their name.
        let taken = seen.iter().any(|(text, _)| *text == api);
        seen.push((if taken { name } else { api }, label));
    }
    seen
}

/// Runs the call on the adapter.
pub(crate) fn on(dir: &Dir, adapter: &str, line: &str) -> Ran {
    on_backend(dir, &["--adapter".to_owned(), adapter.to_owned()], line)
}

/// Arguments for the reference, for the CPU path, and for each adapter of this machine.
pub(crate) fn backends(dir: &Dir) -> Vec<Vec<String>> {
    let args = |args: &[&str]| args.iter().map(|&arg| arg.to_owned()).collect();
    let host = ["reference", "cpu"].map(|backend| args(&["--backend", backend]));
    let of_adapter = |adapter: &String| args(&["--backend", "gpu", "--adapter", adapter]);
    let found = adapters(dir);
    let devices = found.iter().map(|(adapter, _)| of_adapter(adapter));
    host.into_iter().chain(devices).collect()
}

/// Runs the call with the arguments, which are passed whole: names of adapters hold blanks.
pub(crate) fn on_backend(dir: &Dir, arguments: &[String], line: &str) -> Ran {
    let arguments = arguments.iter().map(String::as_str);
    let args: Vec<&str> = line.split_whitespace().chain(arguments).collect();
    let ran = crate::kit::finish(&mut dir.command(&args));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}: {ran:?}");
    ran
}

#[test]
fn every_element_type_on_every_adapter() {
    let dir = Dir::new();
    dir.put("i.npy", &npy("<i4", "(3,)", &i32s(&[2, 0, 5])));
    for (adapter, label) in adapters(&dir) {
        for elements in &elements::ALL {
            dir.put("p.npy", &npy(elements.npy, "(3,)", &elements.data()));
            let declared = elements.declared();
            let line = format!("gather --params p.npy --indices i.npy --out o.npy {declared}");
            let ran = on(&dir, &adapter, &line);
            let (_, data) = split_npy(&dir.get("o.npy"));
            assert_eq!(data, elements.gathered(), "{} on {adapter}", elements.name);
            assert!(ran.stdout.contains(&label), "{}", ran.stdout);
        }
    }
}

#[test]
fn every_operator_on_every_adapter() {
    let dir = Dir::new();
    // [[10, 11, 12], [20, 21, 22]], column by column.
    dir.put(
        "p.npy",
        &npy_fortran("<i4", "(2, 3)", &i32s(&[10, 20, 11, 21, 12, 22])),
    )
    .put("rows.npy", &npy("<i8", "(3,)", &i64s(&[1, 1 << 32, -1])))
    .put("pairs.npy", &npy("|i1", "(3, 2)", &[1, 2, 0, 0, 1, 3]))
    .put(
        "columns.npy",
        &npy("<u2", "(2, 2)", &[2, 0, 0, 0, 1, 0, 9, 0]),
    );
    let calls: [(&str, &[i32]); 4] = [
        ("gather --indices rows.npy", &[20, 21, 22, 0, 0, 0, 0, 0, 0]),
        (
            "gather --indices rows.npy --rules numpy-wrap",
            &[20, 21, 22, 10, 11, 12, 20, 21, 22],
        ),
        (
            "gather-nd --indices pairs.npy --out-of-bounds fill=-1",
            &[22, 10, -1],
        ),
        (
            "gather-elements --axis -1 --indices columns.npy",
            &[12, 10, 21, 0],
        ),
    ];
    for (adapter, _) in adapters(&dir) {
        for (line, expected) in calls {
            on(
                &dir,
                &adapter,
                &format!("{line} --params p.npy --out o.npy"),
            );
            let (_, data) = split_npy(&dir.get("o.npy"));
            assert_eq!(data, i32s(expected), "{line} on {adapter}");
        }
    }
}

#[test]
fn a_bad_index_is_the_same_error_on_every_adapter() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("<i4", "(3,)", &i32s(&[1, 2, 3])))
        .put("i.npy", &npy("<i4", "(2, 2)", &i32s(&[0, 1, 7, -4])));
    let line = "gather --rules onnx --params p.npy --indices i.npy --out o.npy";
    let args: Vec<&str> = line.split_whitespace().collect();
    for (adapter, _) in adapters(&dir) {
        let ran = crate::kit::finish(dir.command(&args).args(["--adapter", &adapter]));
        assert_eq!(ran.code, 1);
        assert_eq!(
            ran.stderr,
            "error: gather: indices[1, 0] = 7 is out of bounds for params axis 0 of extent 3 (the \
             first of 2 bad indices)\n  tip: --out-of-bounds zero, clip or wrap goes on where an index is \
             out of bounds\n"
        );
        assert_eq!(dir.files().len(), 2, "an output or a leftover");
    }
}

/// Gathers `ids` of rows of 1 KiB, of which there are `rows`, with 1 MiB of the GPU's memory.
fn gather_in_a_mebibyte(rows: usize, ids: usize) {
    let dir = Dir::new();
    let params: Vec<i32> = (0..rows * 256).map(|n| n as i32).collect();
    let indices: Vec<i32> = (0..ids).map(|n| (n * 7919 % (rows + 1)) as i32).collect();
    dir.put(
        "p.npy",
        &npy("<i4", &format!("({rows}, 256)"), &i32s(&params)),
    )
    .put("i.npy", &npy("<i4", &format!("({ids},)"), &i32s(&indices)));
    let line = "gather --params p.npy --indices i.npy --out";
    dir.ok(&format!("{line} cpu.npy --backend cpu"));
    for (adapter, _) in adapters(&dir) {
        on(
            &dir,
            &adapter,
            &format!("{line} gpu.npy --max-gpu-memory 1MiB"),
        );
        let same = dir.get("gpu.npy") == dir.get("cpu.npy");
        assert!(same, "{ids} of {rows} rows on {adapter}");
    }
}

#[test]
fn little_of_the_gpu_s_memory_is_enough() {
    // The output goes through it box by box; next, the CPU collects the few rows.
    gather_in_a_mebibyte(200, 3000);
    gather_in_a_mebibyte(3000, 40);
}

#[test]
fn params_go_through_little_of_the_gpu_s_memory() {
    gather_in_a_mebibyte(3000, 4000);
}

#[test]
fn verify_and_demo_name_the_adapter() {
    let dir = Dir::new();
    let calls = gather_conformance::builtin().len();
    for (adapter, label) in adapters(&dir) {
        let ran = on(&dir, &adapter, "verify");
        let head = format!("executor: {label}\nadapter:  ");
        assert!(ran.stdout.starts_with(&head), "{}", ran.stdout);
        let total = format!("\n{calls} passed, 0 failed, 0 skipped\n");
        assert!(ran.stdout.ends_with(&total), "{}", ran.stdout);
        let ran = on(&dir, &adapter, "demo");
        assert!(ran.stdout.contains(&label), "{}", ran.stdout);
        assert!(
            ran.stdout
                .ends_with("Equal to the reference, bit for bit.\n")
        );
    }
}

#[test]
fn random_calls_are_right_on_every_adapter() {
    let dir = Dir::new();
    for (adapter, label) in adapters(&dir) {
        let ran = on(&dir, &adapter, "verify --random 300 --seed 11");
        let head = format!("executor: {label}\nadapter:  ");
        assert!(ran.stdout.starts_with(&head), "{}", ran.stdout);
        let checked = "\nchecked:  300 random calls of seed 11, against the reference\n\n\
                       300 passed, 0 failed, 0 skipped\n";
        assert!(ran.stdout.ends_with(checked), "{}", ran.stdout);
    }
}

#[test]
fn verify_compiles_every_pipeline_if_asked() {
    let dir = Dir::new();
    for (adapter, _) in adapters(&dir) {
        let ran = on(&dir, &adapter, "verify --random 1 --pipelines");
        let line = ran
            .stdout
            .lines()
            .find_map(|l| l.strip_prefix("compiled: "));
        let count = line.and_then(|l| l.strip_suffix(" pipelines, all there are"));
        let count: Option<usize> = count.and_then(|n| n.parse().ok());
        assert!(count > Some(100), "{}", ran.stdout);
        let ran = on(&dir, &adapter, "verify --random 1");
        assert!(!ran.stdout.contains("compiled"), "{}", ran.stdout);
    }
}

#[test]
fn an_unknown_adapter_is_refused_with_those_there_are() {
    let dir = Dir::new();
    let labels: Vec<String> = adapters(&dir)
        .into_iter()
        .map(|(_, label)| label.trim_start_matches("gpu: ").to_owned())
        .collect();
    if labels.is_empty() {
        return;
    }
    let ran = dir.run("demo --adapter voodoo");
    let there = labels.join(", ");
    let expected = format!("error: no adapter matches \"voodoo\"; this machine has: {there}");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
}

#[test]
fn json_names_adapter_and_api() {
    let dir = Dir::new();
    dir.put("p.npy", &npy("|u1", "(2,)", &[3, 4]))
        .put("i.npy", &npy("|i1", "(1,)", &[1]));
    for (adapter, label) in adapters(&dir) {
        let line = "gather --params p.npy --indices i.npy --out o.npy --json --backend gpu";
        let said: Value = serde_json::from_str(&on(&dir, &adapter, line).stdout).unwrap();
        assert_eq!(said["executor"], "gpu");
        let (name, api) = (said["adapter"].as_str(), said["api"].as_str());
        assert_eq!(label, format!("gpu: {} ({})", name.unwrap(), api.unwrap()));
    }
}
