//! A call, as `index.js` describes it in JSON.

use serde::Deserialize;
use wasm_bindgen::JsValue;
use wgpu_gather::{
    DType, Error, Fill, IndexType, Indices, Layout, Negative, Op, OutOfBounds, Params, Plan, Rules,
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
    pub(crate) index_type: String,
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
        self.dtype
            .parse()
            .map_err(|error: Error| not_a_call(&error.to_string()))
    }

    pub(crate) fn rules(&self) -> Result<Rules, JsValue> {
        match &self.rules {
            RawRules::Preset(name) if name == "jax-fill" => Ok(Rules::jax_fill(self.dtype()?)),
            RawRules::Preset(name) => preset(name),
            RawRules::Own {
                negative,
                out_of_bounds,
                fill,
            } => {
                let named = |n: &Negative| n.name() == negative;
                let unknown = || not_a_call(&format!("unknown negative \"{negative}\""));
                let negative = Negative::ALL.into_iter().find(named).ok_or_else(unknown)?;
                let value = Fill::from_bytes(fill.as_deref().unwrap_or_default());
                let unknown = || not_a_call(&format!("unknown outOfBounds \"{out_of_bounds}\""));
                let rule = OutOfBounds::named(out_of_bounds, value).ok_or_else(unknown)?;
                if fill.is_none() && matches!(rule, OutOfBounds::Fill(_)) {
                    return Err(not_a_call("outOfBounds \"fill\" needs a fill"));
                }
                Ok(Rules::new(negative, rule))
            }
        }
    }

    pub(crate) fn params<'a>(&self, bytes: &'a [u8]) -> Result<Params<'a>, JsValue> {
        let layout = Layout::contiguous(&self.params_shape);
        Params::new(bytes, self.dtype()?.bytes(), layout).map_err(|e| failure(&e))
    }

    pub(crate) fn indices<'a>(&self, bytes: &'a [u8]) -> Result<Indices<'a>, JsValue> {
        let layout = Layout::contiguous(&self.indices_shape);
        Indices::new(bytes, index_type(&self.index_type)?, layout).map_err(|e| failure(&e))
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
            index_type(&self.index_type)?,
            &indices,
        )
        .map_err(|e| failure(&e))
    }
}

pub(crate) fn index_type(name: &str) -> Result<IndexType, JsValue> {
    let named = |t: &IndexType| t.name() == name;
    let unknown = || not_a_call(&format!("indices of type {name}"));
    IndexType::ALL.into_iter().find(named).ok_or_else(unknown)
}

fn preset(name: &str) -> Result<Rules, JsValue> {
    let found = Rules::PRESETS.iter().find(|(preset, _)| *preset == name);
    found.map(|(_, rules)| rules.clone()).ok_or_else(|| {
        let names: Vec<_> = Rules::PRESETS.iter().map(|(name, _)| *name).collect();
        let all = names.join(", ");
        not_a_call(&format!(
            "unknown rules \"{name}\" (allowed: {all}, jax-fill)"
        ))
    })
}
