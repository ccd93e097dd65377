//! One benchmark: a verb and its operator on shapes, and which indices it is given.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use wgpu_gather::quantized::{BlockFormat, FloatType};
use wgpu_gather::{
    DType, Error, IndexType, Layout, Op, Plan, Reduce, Role, Rules, ScatterExplanation,
    ScatterLayouts, ScatterPlan,
};

use crate::bench::pattern::Pattern;
use crate::bench::verb::Verb;

/// A call to time, at full size.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// What `--case` takes besides the name.
    pub(crate) group: &'static str,
    /// What it stands for, in a few words.
    pub(crate) what: &'static str,
    pub(crate) verb: Verb,
    /// Which rows of params the indices name.
    pub(crate) op: Op,
    /// Of the output, of updates, and of params if they are not quantised.
    pub(crate) dtype: DType,
    /// How params are quantised, if they are.
    pub(crate) format: Option<BlockFormat>,
    pub(crate) index_type: IndexType,
    pub(crate) params: Vec<usize>,
    pub(crate) indices: Vec<usize>,
    /// The dims of params and of indices that are divided on a small machine.
    pub(crate) divided: [Option<usize>; 2],
    pub(crate) pattern: Pattern,
    /// The part of the lookups that is out of bounds.
    pub(crate) bad: f64,
}

/// A case at the size at which it is run.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    pub(crate) case: Case,
    /// What the divided dims are divided by.
    pub(crate) scale: usize,
    pub(crate) rules: Rules,
    /// The gather of the rows: of a scatter, its output has the shape of updates.
    pub(crate) plan: Plan,
}

impl Case {
    /// The case with its divided dims `scale` times smaller.
    pub(crate) fn scaled(&self, scale: usize, rules: &Rules) -> Result<Scaled> {
        let mut case = self.clone();
        let scale = self.scale(scale);
        [case.params, case.indices] = self.shapes(scale);
        addressable(Role::Params, &case.params, case.dtype.bytes())?;
        if let Some((format, _)) = case.quantized()? {
            let row = case.params.last().copied();
            ensure!(
                row.is_some_and(|row| row.is_multiple_of(format.block_elements())),
                "params {:?} have no rows of whole blocks of {format} (allowed: a last dim that is \
                 a multiple of {})",
                case.params,
                format.block_elements()
            );
        }
        addressable(Role::Indices, &case.indices, case.index_type.bytes())?;
        let plan = Plan::new(
            case.op,
            rules,
            case.dtype.bytes(),
            &Layout::contiguous(&case.params),
            case.index_type,
            &Layout::contiguous(&case.indices),
        )?;
        Ok(Scaled {
            case,
            scale,
            rules: rules.clone(),
            plan,
        })
    }

    /// How params are quantised, if they are, and what they are decoded to.
    pub(crate) fn quantized(&self) -> Result<Option<(BlockFormat, FloatType)>> {
        let Some(format) = self.format else {
            return Ok(None);
        };
        let to = FloatType::ALL
            .into_iter()
            .find(|to| to.dtype() == self.dtype);
        let to = to.with_context(|| {
            format!(
                "elements in {format} are not decoded to {} (allowed: f32, f16, bf16)",
                self.dtype
            )
        })?;
        Ok(Some((format, to)))
    }

    /// Whether a larger scale makes it smaller.
    pub(crate) fn shrinks(&self) -> bool {
        let [params, indices] = self.divided;
        let left = |dim: Option<usize>, shape: &[usize]| dim.is_some_and(|d| shape[d] > 1);
        left(params, &self.params) || left(indices, &self.indices)
    }

    /// The scale that `scale` means for this case: 1 if nothing is divided.
    fn scale(&self, scale: usize) -> usize {
        if self.divided == [None; 2] { 1 } else { scale }
    }

    /// The shapes of params and indices.
    fn shapes(&self, scale: usize) -> [Vec<usize>; 2] {
        let divide = |shape: &[usize], dim: Option<usize>| {
            let mut shape = shape.to_vec();
            if let Some(dim) = dim {
                shape[dim] = (shape[dim] / scale).max(1);
            }
            shape
        };
        let [params, indices] = self.divided;
        [divide(&self.params, params), divide(&self.indices, indices)]
    }

    /// All there is to say, with the shapes at full size and at `scale`.
    pub(crate) fn json(&self, scale: usize) -> Value {
        let [params, indices] = self.shapes(scale);
        let (axis, batch_dims) = self.attributes();
        json!({
            "case": self.name,
            "group": self.group,
            "what": self.what,
            "op": self.verb.name(self.op),
            "reduce": self.verb.reduce().map(Reduce::name),
            "axis": axis,
            "batch_dims": batch_dims,
            "dtype": self.dtype.name(),
            "format": self.format.map(BlockFormat::name),
            "index_type": self.index_type.name(),
            "pattern": self.pattern.name(),
            "bad": self.bad,
            "params_shape": self.params,
            "indices_shape": self.indices,
            "scale": self.scale(scale),
            "scaled_params_shape": params,
            "scaled_indices_shape": indices,
        })
    }

    /// `axis` and `batch_dims` as the operator has them.
    pub(crate) fn attributes(&self) -> (Option<isize>, isize) {
        (self.op.axis(), self.op.batch_dims().unwrap_or(0))
    }
}

/// Fails for a tensor that no memory can hold.
pub(crate) fn addressable(role: Role, shape: &[usize], element_bytes: usize) -> Result<()> {
    let bytes = Layout::checked_elements(shape).and_then(|n| n.checked_mul(element_bytes));
    ensure!(
        bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()),
        Error::SizeOverflow {
            role,
            shape: shape.to_vec(),
            element_bytes,
        }
    );
    Ok(())
}

impl Scaled {
    /// Bytes of params.
    pub(crate) fn params_bytes(&self) -> usize {
        let elements = self.case.params.iter().product::<usize>();
        match self.case.format {
            Some(format) => elements / format.block_elements() * format.block_bytes(),
            None => elements * self.case.dtype.bytes(),
        }
    }

    /// Bytes of indices.
    pub(crate) fn indices_bytes(&self) -> usize {
        self.case.indices.iter().product::<usize>() * self.case.index_type.bytes()
    }

    /// Bytes of updates, which only scatters have.
    pub(crate) fn updates_bytes(&self) -> usize {
        match self.case.verb.reduce() {
            Some(_) => self.plan.output_bytes(),
            None => 0,
        }
    }

    /// The dims of the output; of a scatter, those of params.
    pub(crate) fn output_shape(&self) -> Vec<usize> {
        let mut shape = self.plan.output_shape().to_vec();
        match self.case.verb {
            Verb::Gather => {}
            Verb::Scatter(_) | Verb::ScatterInto(_) => shape.clone_from(&self.case.params),
            Verb::SumBags => {
                shape.remove(self.case.indices.len() - 1);
            }
        }
        shape
    }

    /// Bytes of the output.
    pub(crate) fn output_bytes(&self) -> usize {
        self.output_shape().iter().product::<usize>() * self.case.dtype.bytes()
    }

    /// How many rows the indices name.
    pub(crate) fn lookups(&self) -> usize {
        let depth = self.plan.geometry().coordinates.len();
        self.case.indices.iter().product::<usize>() / depth.max(1)
    }

    /// What a scatter does, if it is one.
    pub(crate) fn scatter(&self) -> Result<Option<ScatterExplanation>> {
        let case = &self.case;
        let Some(reduce) = case.verb.reduce() else {
            return Ok(None);
        };
        let layouts = ScatterLayouts {
            dtype: case.dtype,
            destination: &Layout::contiguous(&case.params),
            index_type: case.index_type,
            indices: &Layout::contiguous(&case.indices),
            updates: &Layout::contiguous(self.plan.output_shape()),
        };
        let plan = ScatterPlan::new(case.op, reduce, &self.rules, layouts)?;
        Ok(Some(plan.explain()))
    }
}
