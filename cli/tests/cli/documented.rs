//! What `docs/command.md` shows of a session at a prompt is what the command prints.

use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_documented_session_is_as_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = std::fs::read_to_string(root.join("docs/command.md")).unwrap();
    let text = text.replace("\r\n", "\n");
    let (_, section) = text.split_once("\n## At a prompt\n").expect("the section");
    let session = section.split("```").nth(1).expect("a session");
    let calls: Vec<&str> = session.split("$ wgpu-gather ").skip(1).collect();
    assert!(calls.len() >= 3, "{session}");
    for call in calls {
        let (line, shown) = call.split_once('\n').expect("a line");
        let output = Command::new(env!("CARGO_BIN_EXE_wgpu-gather"))
            .args(line.split_whitespace())
            .current_dir(&root)
            .stdin(Stdio::null())
            .env("XDG_RUNTIME_DIR", std::env::temp_dir())
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].concat();
        assert_eq!(String::from_utf8(printed).unwrap(), shown, "{line}");
    }
}
