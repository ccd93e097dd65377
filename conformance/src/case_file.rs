//! Case files of every schema: a head that names suite and schema, and the cases that it counts.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use wgpu_gather::{ElementsShapes, Error, Negative, Op, OpKind, OutOfBounds, Rules};

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
#[serde(deny_unknown_fields)]
struct RawFile<C> {
    suite: String,
    schema: String,
    /// For people: where the answers are from.
    #[serde(rename = "provenance")]
    _provenance: Option<serde_json::Value>,
    count: usize,
    cases: Vec<C>,
}

/// A case as the files of one schema have it.
pub(crate) trait CaseOfFile: DeserializeOwned {
    /// The schema.
    const SCHEMA: &'static str;
    /// What it is read to.
    type Case;

    /// Its name within the suite.
    fn name(&self) -> &str;

    /// The case, of this suite.
    fn read(&self, suite: &str) -> Result<Self::Case, String>;
}

/// Reads the text of a file of the schema of `C`.
pub(crate) fn read_file<C: CaseOfFile>(text: &str) -> Result<Vec<C::Case>, CaseError> {
    let file: RawFile<C> =
        serde_json::from_str(text).map_err(|error| CaseError::Syntax(error.to_string()))?;
    if file.schema != C::SCHEMA {
        return Err(CaseError::Schema {
            got: file.schema,
            expected: C::SCHEMA,
        });
    }
    if file.count != file.cases.len() {
        return Err(CaseError::Count {
            announced: file.count,
            found: file.cases.len(),
        });
    }
    let case = |raw: &C| {
        raw.read(&file.suite).map_err(|reason| CaseError::Case {
            name: raw.name().to_owned(),
            reason,
        })
    };
    file.cases.iter().map(case).collect()
}

/// The rules of a case: `attrs.neg`, `attrs.oob` and `attrs.profile`.
pub(crate) fn rules(
    negative: &str,
    out_of_bounds: OutOfBounds,
    profile: &str,
) -> Result<Rules, String> {
    let negative = match negative {
        "oob" => Negative::OutOfBounds,
        "wrap" => Negative::FromEnd,
        other => return Err(format!("unknown attrs.neg \"{other}\"")),
    };
    let shapes = match profile.starts_with("torch") {
        true => ElementsShapes::Torch,
        false => ElementsShapes::Onnx,
    };
    Ok(Rules::new(negative, out_of_bounds).with_elements_shapes(shapes))
}

/// The operator called `name`, or the gather whose transpose is called so, with its attributes: a `batch_dims` of 0 is as
/// good as none.
pub(crate) fn operator(
    name: &str,
    axis: Option<isize>,
    batch_dims: isize,
) -> Result<(OpKind, Op), String> {
    let kind: OpKind = name.parse().map_err(|e: Error| e.to_string())?;
    let op = Op::of(kind).ok_or_else(|| format!("{kind} is neither a gather nor a scatter"))?;
    let op = match axis {
        Some(axis) => op.with_axis(axis).ok_or_else(|| none(kind, "axis"))?,
        None if op.axis().is_some() => return Err(format!("{kind} needs attrs.dim")),
        None => op,
    };
    let op = match batch_dims {
        0 => op,
        n => op
            .with_batch_dims(n)
            .ok_or_else(|| none(kind, "batch_dims"))?,
    };
    Ok((kind, op))
}

fn none(kind: OpKind, attribute: &str) -> String {
    format!("{kind} has no {attribute}")
}
