//! A call, as `index.js` describes it in JSON.

use std::str::FromStr;

use serde::Deserialize;
use wasm_bindgen::JsValue;
use wgpu_gather::{
    DType, Error, Fill, IndexType, Indices, Layout, Op, OutOfBounds, Params, Plan, Rules,
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
        self.op_of("gather")
    }

    /// The gather that a scatter is the transpose of.
    pub(crate) fn transposed_op(&self) -> Result<Op, JsValue> {
        self.op_of("scatter")
    }

    /// The operator, of those whose names begin with `family`.
    fn op_of(&self, family: &str) -> Result<Op, JsValue> {
        let axis = || {
            let missing = || not_a_call(&format!("{}: axis is missing", self.op));
            self.axis.ok_or_else(missing)
        };
        match self.op.strip_prefix(family) {
            Some("") => Ok(Op::Gather {
                axis: self.axis,
                batch_dims: self.batch_dims,
            }),
            Some("_nd") => Ok(Op::GatherNd {
                batch_dims: self.batch_dims,
            }),
            Some("_elements") => Ok(Op::GatherElements { axis: axis()? }),
            _ => Err(not_a_call(&format!("unknown operator \"{}\"", self.op))),
        }
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
