//! A directory of files, the command run in it, and files made and taken apart by hand.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

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

/// A `.npy` file of version 1.0, as NumPy pads it.
pub(crate) fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_dict(
        &format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"),
        data,
    )
}

/// A `.npy` file in Fortran's order.
pub(crate) fn npy_fortran(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    npy_dict(
        &format!("{{'descr': '{descr}', 'fortran_order': True, 'shape': {shape}, }}"),
        data,
    )
}

/// A `.npy` file with this dict.
pub(crate) fn npy_dict(dict: &str, data: &[u8]) -> Vec<u8> {
    let padded = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let length = u16::try_from(padded).unwrap();
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(length.to_le_bytes());
    file.extend(format!("{dict:<width$}\n", width = padded - 1).bytes());
    file.extend(data);
    file
}

/// Dict and data of a `.npy` file.
pub(crate) fn split_npy(file: &[u8]) -> (String, Vec<u8>) {
    assert_eq!(file[..8], *b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([file[8], file[9]]));
    assert_eq!((10 + length) % 16, 0, "the data is not aligned");
    let dict = std::str::from_utf8(&file[10..10 + length]).unwrap();
    assert!(dict.ends_with('\n'));
    (dict.trim_end().to_owned(), file[10 + length..].to_vec())
}

/// A `.safetensors` file: this header, these bytes.
pub(crate) fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.bytes());
    file.extend(data);
    file
}

/// A `.safetensors` file with one tensor called `t`.
pub(crate) fn one_tensor(dtype: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let end = data.len();
    let header =
        format!(r#"{{"t":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{end}]}}}}"#);
    safetensors(&header, data)
}

/// Header and data of a `.safetensors` file.
pub(crate) fn split_safetensors(file: &[u8]) -> (String, Vec<u8>) {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    assert_eq!(length % 8, 0, "the data is not aligned");
    let header = std::str::from_utf8(&file[8..8 + length]).unwrap();
    (header.trim_end().to_owned(), file[8 + length..].to_vec())
}

/// A `.gguf` file with one tensor, of the type with this number.
pub(crate) fn gguf(name: &str, shape: &[usize], kind: u32, data: &[u8]) -> Vec<u8> {
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    // One tensor, no metadata.
    file.extend([1u64, 0, name.len() as u64].map(u64::to_le_bytes).concat());
    file.extend(name.bytes());
    file.extend((shape.len() as u32).to_le_bytes());
    shape
        .iter()
        .rev()
        .for_each(|&dim| file.extend((dim as u64).to_le_bytes()));
    file.extend(kind.to_le_bytes());
    file.extend(0u64.to_le_bytes());
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend(data);
    file
}

/// The bytes of hexadecimal digits; blanks are for the eye.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|d| *d != b' ').collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

pub(crate) fn i32s(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub(crate) fn i64s(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub(crate) fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}
