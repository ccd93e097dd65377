//! Adapters that cannot run gathers, made of the machine's own.

use serde_json::Value;

use crate::gpu::adapters;
use crate::kit::Dir;

/// What wgpu lists on this machine where the environment says so, with what each lacks.
fn lacking(dir: &Dir, environment: &[(&str, &str)]) -> Vec<Value> {
    let ran = crate::kit::finish(
        dir.command(&["adapters", "--json"])
            .envs(environment.to_vec()),
    );
    assert_eq!(ran.code, 0, "{ran:?}");
    let mut listed: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    listed.retain(|adapter| !adapter["lacks"].is_null());
    listed
}

/// Drivers of Mesa that are listed and run no gather: one whose GLSL is too old, one that makes no
/// device. Which there are depends on its version.
#[test]
fn an_adapter_that_cannot_run_gathers_is_refused_once_and_never_chosen() {
    let dir = Dir::new();
    let radv = ["radeon_icd.x86_64.json", "radeon_icd.json"]
        .map(|name| format!("/usr/share/vulkan/icd.d/{name}"))
        .into_iter()
        .find(|path| std::path::Path::new(path).exists());
    let radv = radv.unwrap_or_default();
    let environments = [
        [
            ("WGPU_BACKEND", "gl"),
            ("GALLIUM_DRIVER", "softpipe"),
            ("LIBGL_ALWAYS_SOFTWARE", "1"),
        ],
        [
            ("WGPU_BACKEND", "vulkan"),
            ("RADV_FORCE_FAMILY", "navi21"),
            ("VK_DRIVER_FILES", &radv),
        ],
    ];
    let mut met = 0;
    for environment in environments {
        let unfit = lacking(&dir, &environment);
        let [adapter] = unfit.as_slice() else {
            println!("skipped: {environment:?}: {unfit:?}");
            continue;
        };
        met += 1;
        let text = |field: &str| adapter[field].as_str().unwrap().to_owned();
        let label = format!("{} ({})", text("name"), text("api"));
        let lacks = text("lacks");
        let run = |line: &[&str]| {
            let mut ran = crate::kit::finish(dir.command(line).envs(environment));
            // Newer drivers write there, too.
            let ours = ran
                .stderr
                .lines()
                .filter(|line| line.starts_with("error: "));
            ran.stderr = ours.map(|line| format!("{line}\n")).collect();
            ran
        };
        let table = run(&["adapters"]).stdout;
        assert!(table.ends_with(&format!("  {lacks}\n")), "{table}");
        let ran = run(&["demo"]);
        let chosen = format!("; {label} lacks {lacks}).\n");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            ran.stdout.lines().next().unwrap().ends_with(chosen.trim()),
            "{ran:?}"
        );
        for line in [
            &["verify", "--backend", "gpu"][..],
            &["bench", "--backend", "gpu"],
        ] {
            let ran = run(line);
            let all = "error: no adapter of this machine can run gathers: ";
            assert_eq!(ran.code, 1);
            assert_eq!(ran.stderr, format!("{all}{label} lacks {lacks}\n"));
        }
        let ran = run(&["verify", "--adapter", &text("name")]);
        assert_eq!(ran.code, 1);
        let head = format!("error: adapter {label}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        assert!(ran.stderr.starts_with(&head), "{ran:?}");
        // What it lacks is the end of both errors.
        let why = lacks
            .rsplit_once(": ")
            .map_or(lacks.as_str(), |(_, why)| why);
        assert!(ran.stderr.ends_with(&format!("{why}\n")), "{ran:?}");
    }
    println!("met {met} such drivers");
    // Where Mesa has llvmpipe for GL, it has softpipe, too.
    let is_mesa = adapters(&dir)
        .iter()
        .any(|(_, line)| line.contains("llvmpipe") && line.ends_with("(gl)"));
    assert!(met > 0 || !is_mesa);
}

#[test]
fn adapters_says_what_is_lacking() {
    let dir = Dir::new();
    let table = dir.ok("adapters");
    let able = adapters(&dir);
    if able.is_empty() {
        return;
    }
    let mut lines = table.lines();
    assert!(lines.next().unwrap().ends_with("  lacks"), "{table}");
    // Those that lack nothing come first.
    assert!(
        lines
            .take(able.len())
            .all(|line| line.ends_with("  nothing")),
        "{table}"
    );
}

/// A hardware-like adapter that cannot run gathers comes before a software one that can.
#[test]
fn the_default_adapter_passes_over_those_that_lack_something() {
    let dir = Dir::new();
    let environment = [
        ("WGPU_BACKEND", "vulkan,gl"),
        ("GALLIUM_DRIVER", "softpipe"),
    ];
    let run = |line: &[&str]| {
        let ran = crate::kit::finish(dir.command(line).envs(environment));
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout
    };
    let listed: Vec<Value> = serde_json::from_str(&run(&["adapters", "--json"])).unwrap();
    let lacks: Vec<bool> = listed.iter().map(|a| !a["lacks"].is_null()).collect();
    assert!(lacks.is_sorted(), "{listed:?}");
    if lacks.first() != Some(&false) || lacks.last() != Some(&true) {
        println!("skipped: no two such adapters: {listed:?}");
        return;
    }
    let text = |n: usize, field: &str| listed[n][field].as_str().unwrap().to_owned();
    let label = |n: usize| format!("{} ({})", text(n, "name"), text(n, "api"));
    let shown = run(&["demo", "--backend", "gpu"]);
    let expected = format!("Running on gpu: {}.\n", label(0));
    assert!(shown.starts_with(&expected), "{shown}");
    let shown = run(&["demo"]);
    let last = listed.len() - 1;
    let passed_over = format!("{} lacks {}", label(last), text(last, "lacks"));
    let head = shown.lines().next().unwrap();
    // A GPU that runs gathers would have been taken before it.
    let only_software = text(0, "kind") == "software" && text(last, "kind") != "software";
    assert_eq!(head.contains(&passed_over), only_software, "{shown}");
}
