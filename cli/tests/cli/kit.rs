//! A directory of files, the command run in it, and files taken apart by hand.

#[path = "../../../files/tests/files/make.rs"]
mod make;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

pub(crate) use make::*;

/// How the command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A directory that the command is run in, and that is removed at the end.
pub(crate) struct Dir(TempDir);

impl Dir {
    pub(crate) fn new() -> Self {
        Dir(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> &Self {
        std::fs::write(self.path().join(name), bytes).unwrap();
        self
    }

    /// Reads a file.
    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Names and contents of all files, hidden ones too.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = std::fs::read_dir(self.path()).unwrap().map(Result::unwrap);
        let file = |entry: std::fs::DirEntry| {
            let bytes = std::fs::read(entry.path()).unwrap_or_default();
            (entry.file_name().into_string().unwrap(), bytes)
        };
        entries.map(file).collect()
    }

    /// The command with `args`, ready to run in this directory.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wgpu-gather"));
        command
            .args(args)
            .current_dir(self.path())
            .stdin(Stdio::null())
            // Some GL drivers complain on stderr where it is not set.
            .env("XDG_RUNTIME_DIR", self.path())
            .env("COLUMNS", "100");
        command
    }

    /// Runs the command with the words of `line`.
    pub(crate) fn run(&self, line: &str) -> Ran {
        let args: Vec<&str> = line.split_whitespace().collect();
        finish(&mut self.command(&args))
    }

    /// Runs the command with the words of `line` and this on stdin: its status, its stdout, which may be
    /// any bytes, and its stderr.
    pub(crate) fn feed(&self, line: &str, stdin: &[u8]) -> (i32, Vec<u8>, String) {
        let args: Vec<&str> = line.split_whitespace().collect();
        let mut child = self
            .command(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that refuses the call reads nothing.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        let output = child.wait_with_output().unwrap();
        let code = output.status.code().expect("the command was killed");
        (
            code,
            output.stdout,
            String::from_utf8(output.stderr).unwrap(),
        )
    }

    /// Runs the command, which is to succeed silently on stderr, and gives its stdout.
    pub(crate) fn ok(&self, line: &str) -> String {
        let ran = self.run(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}: {ran:?}");
        ran.stdout
    }
}

/// Runs `command` to its end.
pub(crate) fn finish(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code().expect("the command was killed"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Dict and data of a `.npy` file.
pub(crate) fn split_npy(file: &[u8]) -> (String, Vec<u8>) {
    assert_eq!(file[..8], *b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    assert_eq!((10 + length) % 64, 0, "the data is not aligned");
    let dict = std::str::from_utf8(&file[10..10 + length]).unwrap();
    assert!(dict.ends_with('\n'));
    (dict.trim_end().to_owned(), file[10 + length..].to_vec())
}

/// Header and data of a `.safetensors` file.
pub(crate) fn split_safetensors(file: &[u8]) -> (String, Vec<u8>) {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    assert_eq!(length % 8, 0, "the data is not aligned");
    let header = std::str::from_utf8(&file[8..8 + length]).unwrap();
    (header.trim_end().to_owned(), file[8 + length..].to_vec())
}

/// The bytes of hexadecimal digits; blanks are for the eye.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|d| *d != b' ').collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}
