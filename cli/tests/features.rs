//! What a build of the command says of the features that it lacks.
#![cfg(not(any(feature = "plots", feature = "random")))]

use std::process::Command;

/// What `line` writes to stderr; it is to fail and to write nothing else.
fn refused(line: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wgpu-gather"));
    let ran = command.args(line.split(' ')).output().unwrap();
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(1), &b""[..]));
    String::from_utf8(ran.stderr).unwrap()
}

#[test]
fn options_of_features_that_are_off_name_them() {
    for (line, option, feature) in [
        ("verify --random 5", "--random", "random"),
        ("verify --random 5 --large", "--random --large", "random"),
        // Before anything is timed or read.
        ("bench --plot x.svg", "--plot", "plots"),
        ("bench --from nothing --plot x.svg", "--plot", "plots"),
    ] {
        let expected = format!(
            "error: {option} is not in this build of wgpu-gather: it needs the cargo feature `{feature}`\n  \
             tip: cargo install --path cli --features {feature}; cargo run takes the same option\n"
        );
        assert_eq!(refused(line), expected, "{line}");
    }
}
