//! A call, as `index.js` describes it in JSON.

use std::str::FromStr;

use serde::Deserialize;
use wasm_bindgen::JsValue;
use wgpu_gather::{
    DType, Error, Fill, IndexType, Indices, Layout, Op, OpKind, OutOfBounds, Params, Plan, Rules,
};

use crate::failure::{failure, not_a_call};

/// An operator with its rules and the types and shapes of its tensors.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Call {
    op: String,
    axis: Option<isize>,
    #[serde(default)]
    batch_dims: isize,
    rules: RawRules,
    pub(crate) dtype: String,
    pub(crate) params_shape: Vec<usize>,
    index_type: String,
    pub(crate) indices_shape: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawRules {
    Preset(String),
    #[serde(rename_all = "camelCase")]
    Own {
        negative: String,
        out_of_bounds: String,
        /// The bytes of an element.
        fill: Option<Vec<u8>>,
    },
}

impl Call {
    pub(crate) fn read(json: &str) -> Result<Call, JsValue> {
        serde_json::from_str(json).map_err(|error| not_a_call(&error.to_string()))
    }

    pub(crate) fn op(&self) -> Result<Op, JsValue> {
        let (kind, op) = self.operator()?;
        if kind != op.kind() {
            return Err(not_a_call(&format!("{kind} is no gather")));
        }
        Ok(op)
    }

    /// The gather that a scatter is the transpose of.
    pub(crate) fn transposed_op(&self) -> Result<Op, JsValue> {
        let (kind, op) = self.operator()?;
        if kind == op.kind() {
            return Err(not_a_call(&format!("{kind} is no scatter")));
        }
        Ok(op)
    }

    /// What is called, and the gather with its attributes that it is, or is the transpose of.
    fn operator(&self) -> Result<(OpKind, Op), JsValue> {
        let kind: OpKind = named(&self.op)?;
        let wrong = |what| not_a_call(&format!("{kind}{what}"));
        let op = Op::of(kind).ok_or_else(|| wrong(" takes no axis"))?;
        let op = match self.axis {
            Some(axis) => op.with_axis(axis).ok_or_else(|| wrong(" has no axis"))?,
            None if op.axis().is_some() => return Err(wrong(": axis is missing")),
            None => op,
        };
        let with = match self.batch_dims {
            0 => Some(op),
            batch_dims => op.with_batch_dims(batch_dims),
        };
        let op = with.ok_or_else(|| wrong(" has no batchDims"))?;
        Ok((kind, op))
    }

    pub(crate) fn dtype(&self) -> Result<DType, JsValue> {
        named(&self.dtype)
    }

    pub(crate) fn index_type(&self) -> Result<IndexType, JsValue> {
        named(&self.index_type)
    }

    pub(crate) fn rules(&self) -> Result<Rules, JsValue> {
        match &self.rules {
            RawRules::Preset(name) if name == JAX_FILL => Ok(Rules::jax_fill(self.dtype()?)),
            RawRules::Preset(name) => preset(name),
            RawRules::Own {
                negative,
                out_of_bounds,
                fill,
            } => {
                let rule = match (out_of_bounds.as_str(), fill) {
                    ("fill", Some(value)) => OutOfBounds::Fill(Fill::from_bytes(value)),
                    ("fill", None) => return Err(not_a_call("outOfBounds \"fill\" needs a fill")),
                    (other, _) => named(other)?,
                };
                Ok(Rules::new(named(negative)?, rule))
            }
        }
    }

    pub(crate) fn params<'a>(&self, bytes: &'a [u8]) -> Result<Params<'a>, JsValue> {
        let layout = Layout::contiguous(&self.params_shape);
        Params::new(bytes, self.dtype()?, layout).map_err(|e| failure(&e))
    }

    pub(crate) fn indices<'a>(&self, bytes: &'a [u8]) -> Result<Indices<'a>, JsValue> {
        let layout = Layout::contiguous(&self.indices_shape);
        Indices::new(bytes, self.index_type()?, layout).map_err(|e| failure(&e))
    }

    pub(crate) fn plan(&self) -> Result<Plan, JsValue> {
        let params = Layout::contiguous(&self.params_shape);
        let indices = Layout::contiguous(&self.indices_shape);
        let (rules, width) = (self.rules()?, self.dtype()?.bytes());
        Plan::new(
            self.op()?,
            &rules,
            width,
            &params,
            self.index_type()?,
            &indices,
        )
        .map_err(|e| failure(&e))
    }
}

/// The value that a name of the library stands for.
pub(crate) fn named<T: FromStr<Err = Error>>(name: &str) -> Result<T, JsValue> {
    name.parse()
        .map_err(|error: Error| not_a_call(&error.to_string()))
}

/// The one preset that depends on the element type.
const JAX_FILL: &str = "jax-fill";

fn preset(name: &str) -> Result<Rules, JsValue> {
    Rules::preset(name).map_err(|mut error| {
        if let Error::UnknownName { allowed, .. } = &mut error {
            allowed.push(JAX_FILL);
        }
        not_a_call(&error.to_string())
    })
}
