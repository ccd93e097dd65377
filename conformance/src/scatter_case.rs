//! Case files of the schema `gather-scatter/1`: scatters and pooled lookups, as plain data.
//!
//! Whoever runs the cases gives the data to the library; nothing here knows its calls.

use serde::Deserialize;

use wgpu_gather::{Error, Op, OpKind, OutOfBounds, Rules};

use crate::case::Expected;
use crate::case_file::{CaseError, CaseOfFile, operator, read_file, rules};
use crate::data::{Data, RawTensor};

/// The schema.
pub const FOLD_SCHEMA: &str = "gather-scatter/1";

/// One scatter or pooled lookup with its recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldCase {
    /// The suite it is from.
    pub suite: String,
    /// Its name within the suite.
    pub name: String,
    /// What is called.
    pub call: FoldCall,
    /// How it treats its indices.
    pub rules: Rules,
    /// The destination before a scatter; the table of a pooled lookup.
    pub params: Data,
    /// The indices.
    pub indices: Data,
    /// The answer.
    pub expected: Expected,
    /// How far apart results may be: the units in the last place that the library's own rounding
    /// takes.
    pub ulps: u32,
}

impl FoldCase {
    /// The operator, as errors name it.
    pub fn kind(&self) -> OpKind {
        match self.call {
            FoldCall::Scatter(op, _) => op.transposed_kind(),
            FoldCall::EmbeddingBag(_) => OpKind::EmbeddingBag,
        }
    }
}

/// An operator with what only it has.
#[derive(Debug, Clone, PartialEq)]
pub enum FoldCall {
    /// The transpose of this gather.
    Scatter(Op, Updates),
    /// A pooled lookup.
    EmbeddingBag(BagCase),
}

/// What is scattered, and how it meets what is there.
#[derive(Debug, Clone, PartialEq)]
pub struct Updates {
    /// The values, in the shape of the gather's output.
    pub values: Data,
    /// `none`, `add`, `mul`, `min` or `max`.
    pub reduce: String,
}

/// How a pooled lookup pools.
#[derive(Debug, Clone, PartialEq)]
pub struct BagCase {
    /// `sum`, `mean` or `max`.
    pub mode: String,
    /// Where bags start; each row of indices is one without it.
    pub offsets: Option<Vec<i128>>,
    /// Whether the end of the last bag is the last of the offsets.
    pub include_last_offset: bool,
    /// A weight for each index.
    pub weights: Option<Data>,
    /// The row that is left out; negative from the end.
    pub padding_index: Option<isize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    op: String,
    name: String,
    base: Option<RawTensor>,
    params: Option<RawTensor>,
    indices: RawTensor,
    updates: Option<RawTensor>,
    offsets: Option<RawTensor>,
    weights: Option<RawTensor>,
    attrs: RawAttrs,
    expect: Option<RawTensor>,
    expect_error: Option<RawError>,
    #[serde(default)]
    ulps: u32,
    #[serde(default, rename = "tags")]
    _tags: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAttrs {
    reduce: Option<String>,
    mode: Option<String>,
    axis: Option<isize>,
    dim: Option<isize>,
    #[serde(default)]
    batch_dims: isize,
    padding_index: Option<isize>,
    #[serde(default)]
    include_last_offset: bool,
    neg: String,
    oob: String,
    #[serde(default)]
    profile: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawError {
    #[serde(rename = "kind")]
    _kind: String,
    message: String,
}

/// Reads the text of a case file of the schema `gather-scatter/1`.
///
/// # Errors
///
/// A [`CaseError`] that names the case.
pub fn read_fold_cases(text: &str) -> Result<Vec<FoldCase>, CaseError> {
    read_file::<RawCase>(text)
}

impl CaseOfFile for RawCase {
    const SCHEMA: &'static str = FOLD_SCHEMA;
    type Case = FoldCase;

    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, suite: &str) -> Result<FoldCase, String> {
        let error = self.expect_error.as_ref().map(|error| &error.message[..]);
        let params = match (&self.base, &self.params) {
            (Some(tensor), None) | (None, Some(tensor)) => tensor.read()?,
            _ => return Err("needs either base or params".to_owned()),
        };
        Ok(FoldCase {
            suite: suite.to_owned(),
            name: self.name.clone(),
            call: self.call()?,
            rules: self.attrs.rules()?,
            params,
            indices: self.indices.read()?,
            expected: Expected::read(self.expect.as_ref(), error)?,
            ulps: self.ulps,
        })
    }
}

impl RawCase {
    fn call(&self) -> Result<FoldCall, String> {
        if self.op == OpKind::EmbeddingBag.name() {
            return self.bag().map(FoldCall::EmbeddingBag);
        }
        let attrs = &self.attrs;
        let (kind, op) = operator(&self.op, attrs.axis.or(attrs.dim), attrs.batch_dims)?;
        match kind == op.kind() {
            true => Err(format!("{kind} is no scatter")),
            false => Ok(FoldCall::Scatter(op, self.updates()?)),
        }
    }

    fn updates(&self) -> Result<Updates, String> {
        let updates = self.updates.as_ref().ok_or("a scatter needs updates")?;
        let reduce = self.attrs.reduce.as_deref();
        Ok(Updates {
            values: updates.read()?,
            reduce: reduce.ok_or("a scatter needs attrs.reduce")?.to_owned(),
        })
    }

    fn bag(&self) -> Result<BagCase, String> {
        let mode = self.attrs.mode.as_deref();
        let offsets = self.offsets.as_ref().map(RawTensor::read).transpose()?;
        Ok(BagCase {
            mode: mode.ok_or("embedding_bag needs attrs.mode")?.to_owned(),
            offsets: offsets.map(|data| integers(&data)).transpose()?,
            include_last_offset: self.attrs.include_last_offset,
            weights: self.weights.as_ref().map(RawTensor::read).transpose()?,
            padding_index: self.attrs.padding_index,
        })
    }
}

impl RawAttrs {
    fn rules(&self) -> Result<Rules, String> {
        // No case of the schema fills: what would read the fill value writes nothing.
        let rule = self.oob.parse();
        let rule: OutOfBounds = rule.map_err(|e: Error| format!("attrs.oob: {e}"))?;
        rules(&self.neg, rule, &self.profile)
    }
}

/// The values of a tensor of integers.
fn integers(data: &Data) -> Result<Vec<i128>, String> {
    let not_integers = || format!("offsets are {}", data.type_name());
    let (index_type, bytes) = data.as_indices().ok_or_else(not_integers)?;
    Ok(index_type.values(&bytes).collect())
}
