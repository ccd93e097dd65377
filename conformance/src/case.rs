//! Case files of the schema `gather-conformance/1`.

use serde::Deserialize;

use wgpu_gather::{ElementsShapes, Error, Fill, Negative, Op, OutOfBounds, Rules};

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

/// Why a case file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// Not JSON, or not of the schema.
    #[error("not a case file: {0}")]
    Syntax(String),
    /// Another schema.
    #[error("schema \"{got}\" is not {expected}")]
    Schema {
        /// `schema` of the file.
        got: String,
        /// What is read here.
        expected: &'static str,
    },
    /// The announced number of cases is not the number there is.
    #[error("the file announces {announced} cases and has {found}")]
    Count {
        /// `count` of the file.
        announced: usize,
        /// Cases found.
        found: usize,
    },
    /// A case that makes no sense.
    #[error("case \"{name}\": {reason}")]
    Case {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

#[derive(Deserialize)]
struct RawFile {
    suite: String,
    schema: String,
    count: usize,
    cases: Vec<RawCase>,
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
    let file: RawFile =
        serde_json::from_str(text).map_err(|error| CaseError::Syntax(error.to_string()))?;
    check_head(
        "gather-conformance/1",
        file.schema,
        file.count,
        file.cases.len(),
    )?;
    let case = |raw: &RawCase| {
        raw.read(&file.suite).map_err(|reason| CaseError::Case {
            name: raw.name.clone(),
            reason,
        })
    };
    file.cases.iter().map(case).collect()
}

/// Whether a file is of the schema that is `expected`, and has as many cases as it says.
pub(super) fn check_head(
    expected: &'static str,
    got: String,
    announced: usize,
    found: usize,
) -> Result<(), CaseError> {
    if got != expected {
        return Err(CaseError::Schema { got, expected });
    }
    if announced != found {
        return Err(CaseError::Count { announced, found });
    }
    Ok(())
}

impl RawCase {
    fn read(&self, suite: &str) -> Result<Case, String> {
        let expected = match (&self.expect, &self.expect_error) {
            (Some(output), None) => Expected::Output(output.read()?),
            (None, Some(error)) => Expected::Error(error.message.clone()),
            _ => return Err("needs either expect or expect_error".to_owned()),
        };
        Ok(Case {
            suite: suite.to_owned(),
            name: self.name.clone(),
            op: self.attrs.op(&self.op)?,
            rules: self.attrs.rules()?,
            params: self.params.read()?,
            indices: self.indices.read()?,
            expected,
            skip: self.skip(),
        })
    }

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
    /// The operator called `name`, with its attributes.
    pub(super) fn op(&self, name: &str) -> Result<Op, String> {
        let batch_dims = self.batch_dims;
        match name {
            "gather" => Ok(Op::Gather {
                axis: self.axis,
                batch_dims,
            }),
            "gather_nd" => Ok(Op::GatherNd { batch_dims }),
            "gather_elements" => {
                let axis = self.dim.ok_or("gather_elements needs attrs.dim")?;
                Ok(Op::GatherElements { axis })
            }
            other => Err(format!("unknown operator \"{other}\"")),
        }
    }

    /// The rules for indices.
    pub(super) fn rules(&self) -> Result<Rules, String> {
        let negative = match self.neg.as_str() {
            "oob" => Negative::OutOfBounds,
            "wrap" => Negative::FromEnd,
            other => return Err(format!("unknown attrs.neg \"{other}\"")),
        };
        let shapes = match self.profile.starts_with("torch") {
            true => ElementsShapes::Torch,
            false => ElementsShapes::Onnx,
        };
        Ok(Rules::new(negative, self.out_of_bounds()?).with_elements_shapes(shapes))
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
