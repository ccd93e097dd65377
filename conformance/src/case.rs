//! Case files of the schema `gather-conformance/1`.

use serde::Deserialize;

use wgpu_gather::{Error, Fill, Op, OutOfBounds, Rules};

use crate::case_file::{CaseError, CaseOfFile, operator, read_file, rules};
use crate::data::{Data, RawTensor, Values};

/// One call with its recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The suite it is from.
    pub suite: String,
    /// Its name within the suite.
    pub name: String,
    /// The operator.
    pub op: Op,
    /// The rules that the answer follows.
    pub rules: Rules,
    /// The tensor gathered from.
    pub params: Data,
    /// The indices.
    pub indices: Data,
    /// The answer.
    pub expected: Expected,
    /// Why the case proves nothing about an implementation (systems disagree), if so.
    pub skip: Option<String>,
}

/// The answer of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// This output, bit for bit.
    Output(Data),
    /// A failure; the text is the recording library's own.
    Error(String),
}

impl Expected {
    /// The one of the two that there is.
    pub(super) fn read(output: Option<&RawTensor>, error: Option<&str>) -> Result<Self, String> {
        match (output, error) {
            (Some(output), None) => output.read().map(Expected::Output),
            (None, Some(error)) => Ok(Expected::Error(error.to_owned())),
            _ => Err("needs either expect or expect_error".to_owned()),
        }
    }
}

#[derive(Deserialize)]
struct RawCase {
    op: String,
    name: String,
    params: RawTensor,
    indices: RawTensor,
    attrs: RawAttrs,
    expect: Option<RawTensor>,
    expect_error: Option<RawError>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    disputed: bool,
    #[serde(default)]
    skip_oracle: bool,
}

/// Attributes and rules, as all schemas have them.
#[derive(Deserialize)]
pub(super) struct RawAttrs {
    axis: Option<isize>,
    dim: Option<isize>,
    #[serde(default)]
    batch_dims: isize,
    neg: String,
    oob: String,
    #[serde(default)]
    profile: String,
    /// The fill value: a scalar of the type of params.
    fill: Option<RawTensor>,
}

#[derive(Deserialize)]
struct RawError {
    message: String,
}

/// Reads the text of a case file.
///
/// # Errors
///
/// A [`CaseError`] that names the case.
pub fn read_cases(text: &str) -> Result<Vec<Case>, CaseError> {
    read_file::<RawCase>(text)
}

impl CaseOfFile for RawCase {
    const SCHEMA: &'static str = "gather-conformance/1";
    type Case = Case;

    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, suite: &str) -> Result<Case, String> {
        let error = self.expect_error.as_ref().map(|error| &error.message[..]);
        Ok(Case {
            suite: suite.to_owned(),
            name: self.name.clone(),
            op: self.attrs.op(&self.op)?,
            rules: self.attrs.rules()?,
            params: self.params.read()?,
            indices: self.indices.read()?,
            expected: Expected::read(self.expect.as_ref(), error)?,
            skip: self.skip(),
        })
    }
}

impl RawCase {
    fn skip(&self) -> Option<String> {
        let marked = [
            (
                self.disputed || self.tags.iter().any(|t| t == "disputed"),
                "disputed",
            ),
            (self.skip_oracle, "skip_oracle"),
            (
                self.tags.iter().any(|t| t == "tf-only-error"),
                "an error that only TensorFlow raises",
            ),
        ];
        let reasons: Vec<&str> = marked
            .iter()
            .filter(|(is, _)| *is)
            .map(|&(_, reason)| reason)
            .collect();
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }
}

impl RawAttrs {
    /// The gather called `name`, with its attributes.
    pub(super) fn op(&self, name: &str) -> Result<Op, String> {
        let (kind, op) = operator(name, self.axis.or(self.dim), self.batch_dims)?;
        match kind == op.kind() {
            true => Ok(op),
            false => Err(format!("{kind} is no gather")),
        }
    }

    /// The rules for indices.
    pub(super) fn rules(&self) -> Result<Rules, String> {
        rules(&self.neg, self.out_of_bounds()?, &self.profile)
    }

    fn out_of_bounds(&self) -> Result<OutOfBounds, String> {
        match self.oob.as_str() {
            "clamp" => Ok(OutOfBounds::Clip),
            "fill" => self.fill_value().map(OutOfBounds::Fill),
            other => other.parse().map_err(|e: Error| format!("attrs.oob: {e}")),
        }
    }

    fn fill_value(&self) -> Result<Fill, String> {
        let fill = self.fill.as_ref().ok_or("oob \"fill\" needs attrs.fill")?;
        match fill.read()?.values {
            Values::Bytes(_, bytes) => Ok(Fill::from_bytes(&bytes)),
            Values::Strings(_) => Err("attrs.fill is a string".to_owned()),
        }
    }
}
