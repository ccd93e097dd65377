//! The names of input tensors: `FILE.npy`, `FILE.npz:NAME`, `FILE.safetensors:NAME`,
//! `FILE.gguf:NAME`.

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
    Gguf(Option<String>),
}

/// What makes a format of the name of a tensor.
type Named = fn(Option<String>) -> Format;

/// The endings of files that hold several tensors.
const SEVERAL: [(&str, Named); 3] = [
    (".npz", Format::Npz),
    (".safetensors", Format::Safetensors),
    (".gguf", Format::Gguf),
];

impl Source {
    /// Reads `text` as the name of a tensor. The first `.npz:`, `.safetensors:` or `.gguf:` ends the
    /// path, in this order.
    pub fn parse(text: &str) -> Result<Self> {
        let named = SEVERAL.iter().find_map(|&(ending, format)| {
            let at = text.find(&format!("{ending}:"))? + ending.len();
            let name = &text[at + 1..];
            Some((
                &text[..at],
                format((!name.is_empty()).then(|| name.to_owned())),
            ))
        });
        let unnamed = SEVERAL.iter().find(|(ending, _)| text.ends_with(ending));
        let (path, format) = match (named, unnamed) {
            (Some(named), _) => named,
            (None, Some((_, format))) => (text, format(None)),
            (None, None) if text.ends_with(".npy") => (text, Format::Npy),
            (None, None) => bail!(
                "not a tensor file (allowed: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, \
                 FILE.gguf:NAME)"
            ),
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
