//! The names of input tensors: `FILE.npy`, `FILE.npz:NAME`, `FILE.safetensors:NAME`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// Where a tensor lies.
pub struct Source {
    path: PathBuf,
    format: Format,
}

/// The kinds of input files, with the name of a tensor where a file holds several.
pub(super) enum Format {
    Npy,
    Npz(Option<String>),
    Safetensors(Option<String>),
}

impl Source {
    /// Reads `text` as the name of a tensor. The first `.npz:` or `.safetensors:` ends the path.
    pub fn parse(text: &str) -> Result<Self> {
        let split = |ending: &str| {
            let at = text.find(&format!("{ending}:"))? + ending.len();
            Some((&text[..at], &text[at + 1..]))
        };
        let (path, format) = if let Some((path, name)) = split(".npz") {
            (path, Format::Npz(given(name)))
        } else if let Some((path, name)) = split(".safetensors") {
            (path, Format::Safetensors(given(name)))
        } else if text.ends_with(".npz") {
            (text, Format::Npz(None))
        } else if text.ends_with(".safetensors") {
            (text, Format::Safetensors(None))
        } else if text.ends_with(".npy") {
            (text, Format::Npy)
        } else {
            bail!("not a tensor file (allowed: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME)");
        };
        Ok(Source {
            path: path.into(),
            format,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn format(&self) -> &Format {
        &self.format
    }
}

fn given(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_owned())
}

/// The complaint that no tensor is called `wanted`, or that none was named, with what there is.
pub(super) fn no_such(wanted: Option<&str>, what: &str, ending: &str, there: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut there = there.to_vec();
    there.sort();
    let more = match there.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    there.truncate(SHOWN);
    let complaint = match wanted {
        Some(name) => format!("no {what} is named \"{name}\""),
        None => format!("name the {what}, as FILE{ending}:NAME"),
    };
    match there.is_empty() {
        true => format!("{complaint}; the file has no {what}"),
        false => format!("{complaint}; the file has {}{more}", there.join(", ")),
    }
}
