//! Completions and pages of the manual.

use crate::kit::Dir;

#[test]
fn every_shell_has_completions_of_commands_and_options() {
    let dir = Dir::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = dir.ok(&format!("completions {shell}"));
        for word in [
            "gather-elements",
            "embedding-bag",
            "out-of-bounds",
            "max-gpu-memory",
        ] {
            assert!(script.contains(word), "{shell} does not complete {word}");
        }
    }
    let ran = dir.run("completions tcsh");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("[possible values: bash, "), "{ran:?}");
}

/// bash itself reads the script, and completes a prefix with it.
#[cfg(target_os = "linux")]
#[test]
fn bash_completes_what_is_begun() {
    let dir = Dir::new();
    dir.put("complete.bash", dir.ok("completions bash").as_bytes());
    let script = "source complete.bash; COMP_WORDS=(wgpu-gather scatter-); COMP_CWORD=1; \
                  _wgpu__gather wgpu-gather scatter- wgpu-gather; echo ${COMPREPLY[@]}";
    let mut bash = std::process::Command::new("bash");
    let output = bash
        .args(["-c", script])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let completed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        completed, "scatter-nd scatter-elements\n",
        "{:?}",
        output.stderr
    );
}

#[test]
fn every_command_has_a_page() {
    let dir = Dir::new();
    let page = dir.ok("man");
    assert!(
        page.contains(".TH wgpu\\-gather 1") || page.contains(".TH wgpu-gather 1"),
        "{page}"
    );
    for command in ["gather", "scatter\\-nd", "show", "explain"] {
        assert!(page.contains(command), "{command}: {page}");
    }
    let page = dir.ok("man gather");
    assert!(
        page.contains("wgpu\\-gather\\-gather") || page.contains("wgpu-gather-gather"),
        "{page}"
    );
    for option in ["\\-\\-params", "\\-\\-indices", "\\-\\-out", "\\-\\-axis"] {
        assert!(page.contains(option), "{option}: {page}");
    }
}
