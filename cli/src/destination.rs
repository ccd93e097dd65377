//! Where the result of a call goes: a file, stdout, or the screen.

use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use wgpu_gather::DType;

use crate::call_args::PrintArgs;
use crate::output::{Output, Rows, ToStdout, Writing, npy};
use crate::printed::{Elements, Picture};

/// Stands for stdout, as in other commands.
const STDOUT: &str = "-";

/// Where a result goes, and how numbers are written there.
pub(crate) struct Destination {
    place: Place,
    all: bool,
    precision: Option<usize>,
}

enum Place {
    File(Output),
    /// As a `.npy` file.
    Stdout,
    /// Printed, as people or as programs (JSON) read it.
    Screen,
}

impl Destination {
    /// What `--out` says, which is to be none of `inputs`; options that have no meaning there are refused.
    pub(crate) fn of(
        out: Option<&str>,
        print: &PrintArgs,
        json: bool,
        inputs: &[&Path],
    ) -> Result<Self> {
        let place = match out {
            None => Place::Screen,
            Some(STDOUT) => Place::Stdout,
            Some(path) => {
                let output = Output::any(Path::new(path), inputs);
                Place::File(output.with_context(|| format!("output {path}"))?)
            }
        };
        let written = match &place {
            Place::File(_) | Place::Stdout => Some("--out writes"),
            Place::Screen if json => Some("JSON has"),
            Place::Screen => None,
        };
        if let Some(written) = written {
            ensure!(
                !print.all,
                "--all is for a tensor that is printed; {written} every element"
            );
        }
        let is_text = match &place {
            Place::File(output) => output.separator().is_some(),
            Place::Stdout => false,
            Place::Screen => !json,
        };
        if print.precision.is_some() && !is_text {
            bail!(
                "--precision is for numbers as text (allowed: without --out, FILE.csv, FILE.txt)"
            );
        }
        if matches!(place, Place::Stdout) && std::io::stdout().is_terminal() {
            bail!(
                "output -: stdout is a terminal, and .npy is not text (leave out --out to print the \
                 result)"
            );
        }
        Ok(Destination {
            place,
            all: print.all || json,
            precision: print.precision,
        })
    }

    /// The file, or `-`; nothing if the result is printed.
    pub(crate) fn out(&self) -> Option<String> {
        match &self.place {
            Place::File(output) => Some(output.path().display().to_string()),
            Place::Stdout => Some(STDOUT.to_owned()),
            Place::Screen => None,
        }
    }

    /// Whether stdout holds the result, so that nothing else may be written there.
    pub(crate) fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
    }

    /// How many digits after the point are printed.
    pub(crate) fn precision(&self) -> Option<usize> {
        self.precision
    }

    fn name(&self) -> String {
        match self.out() {
            Some(out) => format!("output {out}"),
            None => "output".to_owned(),
        }
    }

    /// Prepares to take a tensor. Fails for a type that the format does not have.
    pub(crate) fn expect(
        &self,
        dtype: DType,
        shape: &[usize],
        bytes: usize,
    ) -> Result<Expected<'_>> {
        let header = match &self.place {
            Place::File(output) => output.header(dtype, shape, bytes),
            Place::Stdout => npy::header(dtype, shape),
            Place::Screen => Ok(Vec::new()),
        };
        Ok(Expected {
            destination: self,
            header: header.with_context(|| self.name())?,
            dtype,
            shape: shape.to_vec(),
            bytes,
        })
    }
}

/// A tensor that is to come.
pub(crate) struct Expected<'d> {
    destination: &'d Destination,
    header: Vec<u8>,
    dtype: DType,
    shape: Vec<usize>,
    bytes: usize,
}

impl<'d> Expected<'d> {
    /// Begins to take it; refused if there is no space for it.
    pub(crate) fn begin(&self) -> Result<Sink<'d>> {
        let Expected {
            destination,
            header,
            dtype,
            shape,
            ..
        } = self;
        let (dtype, precision) = (*dtype, destination.precision);
        let to = match &destination.place {
            Place::File(output) => {
                let bytes = (header.len() as u64).saturating_add(self.bytes as u64);
                // What a text takes is known when it is written.
                let bytes = output.separator().map_or(bytes, |_| 0);
                let writing = output.begin(bytes).with_context(|| destination.name())?;
                match output.separator() {
                    None => To::File(writing),
                    Some(by) => To::Text(writing, Rows::new(dtype, shape, by, precision)),
                }
            }
            Place::Stdout => To::Stdout(ToStdout::new()),
            Place::Screen => To::Screen(Picture::new(dtype, shape, destination.all)),
        };
        let mut sink = Sink {
            name: destination.name(),
            elements: Elements::new(dtype.bytes()),
            to,
        };
        if !header.is_empty() {
            sink.write(header)?;
        }
        Ok(sink)
    }
}

/// Takes the bytes of a result, row-major. If it is dropped unfinished, nothing is left of a file.
pub(crate) struct Sink<'d> {
    name: String,
    elements: Elements,
    to: To<'d>,
}

enum To<'d> {
    File(Writing<'d>),
    Text(Writing<'d>, Rows),
    Stdout(ToStdout),
    Screen(Picture),
}

impl Sink<'_> {
    /// Takes what comes next.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let Sink { name, elements, to } = self;
        let written = match to {
            To::File(writing) => writing.write(bytes).map_err(Into::into),
            To::Stdout(stdout) => stdout.write(bytes),
            To::Text(writing, rows) => elements.take(bytes, |whole| {
                writing.write(&rows.of(whole)?)?;
                Ok(())
            }),
            To::Screen(picture) => elements.take(bytes, |whole| {
                picture.take(whole);
                Ok(())
            }),
        };
        written.with_context(|| name.clone())
    }

    /// All has come: gives a file its name, or what is to be printed.
    pub(crate) fn finish(self) -> Result<Option<Picture>> {
        let finished = match self.to {
            To::File(writing) | To::Text(writing, _) => writing.finish(),
            To::Stdout(stdout) => stdout.finish(),
            To::Screen(picture) => return Ok(Some(picture)),
        };
        finished.with_context(|| self.name)?;
        Ok(None)
    }
}
