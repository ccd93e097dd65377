//! An explanation as data: the facts of its text, in fields of their own.

use serde::{Serialize, Serializer};

use crate::error::OpKind;
use crate::index::IndexType;
use crate::plan::explain::{Dispatches, Explanation};
use crate::plan::{BindingLimits, Coordinate, HostCall, LoopDims, Positions};
use crate::rules::{ElementsShapes, Negative, OutOfBounds};

#[derive(Serialize)]
struct ExplanationFields<'a> {
    op: OpKind,
    negative: Negative,
    out_of_bounds: &'a OutOfBounds,
    elements_shapes: ElementsShapes,
    element_bytes: usize,
    index_type: IndexType,
    params_shape: &'a [usize],
    indices_shape: &'a [usize],
    output_shape: &'a [usize],
    limits: &'a BindingLimits,
    loops: Vec<LoopFields<'a>>,
    dropped: &'a [LoopDims],
    coordinates: &'a [Coordinate],
    slice_bytes: usize,
    passes: usize,
    boxes: usize,
    segments: usize,
    check_passes: usize,
    dispatches: &'a [Dispatches],
    host_call: HostCallFields,
}

#[derive(Serialize)]
struct LoopFields<'a> {
    extent: usize,
    params_stride: isize,
    indices_stride: isize,
    dims: &'a [LoopDims],
    /// Whether the loop runs over the slice.
    slice: bool,
}

#[derive(Serialize)]
struct HostCallFields {
    /// `device`, or `cpu` where the tensors take more memory than the call may.
    by: &'static str,
    bytes: u64,
    /// Nothing where memory has no bound.
    max_bytes: Option<u64>,
}

#[derive(Serialize)]
struct DispatchFields {
    count: usize,
    workgroups: [u32; 3],
    segments: usize,
    first: bool,
    box_bytes: usize,
    kernel: &'static str,
    kernel_reason: String,
    loops: Option<usize>,
    depth: Option<usize>,
    nest_reason: String,
    access_bytes: usize,
    access_limits: Vec<String>,
    positions: &'static str,
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (plan, geometry, rules) = (&self.plan, self.plan.geometry(), self.plan.rules());
        let rows = geometry.row_loops().len();
        let loops = self.loops.iter().enumerate();
        let loops = loops.map(|(n, (l, dims))| LoopFields {
            extent: l.extent,
            params_stride: l.params_stride,
            indices_stride: l.indices_stride,
            dims,
            slice: n >= rows,
        });
        let fields = ExplanationFields {
            op: plan.op(),
            negative: rules.negative,
            out_of_bounds: &rules.out_of_bounds,
            elements_shapes: rules.elements_shapes,
            element_bytes: plan.element_bytes(),
            index_type: plan.index_type(),
            params_shape: plan.params_layout().shape(),
            indices_shape: plan.indices_layout().shape(),
            output_shape: plan.output_shape(),
            limits: &self.limits,
            loops: loops.collect(),
            dropped: &self.dropped,
            coordinates: &geometry.coordinates,
            slice_bytes: geometry.slice() * plan.element_bytes(),
            passes: self.dispatches.iter().map(|d| d.count).sum(),
            boxes: self.boxes,
            segments: self.segments,
            check_passes: self.check_passes,
            dispatches: &self.dispatches,
            host_call: self.host_call_fields(),
        };
        fields.serialize(serializer)
    }
}

impl Explanation {
    fn host_call_fields(&self) -> HostCallFields {
        HostCallFields {
            by: match self.host_call {
                HostCall::Device => "device",
                HostCall::Cpu => "cpu",
            },
            bytes: self.plan.host_bytes(),
            max_bytes: Some(self.max_memory_bytes).filter(|&most| most != u64::MAX),
        }
    }
}

impl Serialize for Dispatches {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = DispatchFields {
            count: self.count,
            workgroups: self.workgroups(),
            segments: self.segments,
            first: self.first,
            box_bytes: self.box_bytes,
            kernel: self.kernel_name(),
            kernel_reason: self.kernel.reason.kind.to_string(),
            loops: self.kernel.nest.loops,
            depth: self.kernel.nest.depth,
            nest_reason: self.kernel.reason.nest.to_string(),
            access_bytes: self.access_bytes(),
            access_limits: self.access_limits(),
            positions: match self.kernel.positions {
                Positions::Bound => "bound",
                Positions::Segments => "segments",
                Positions::Wide => "wide",
            },
        };
        fields.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, to_value};

    use super::*;
    use crate::{
        BagMode, Bags, DType, Executor, Indices, Layout, Op, Params, Plan, Reduce, Rules,
        ScatterLayouts, ScatterPlan,
    };

    const LIMITS: BindingLimits = BindingLimits {
        params_bytes: 128 << 20,
        indices_bytes: 128 << 20,
        output_bytes: 128 << 20,
        segments: 6,
        alignment: 256,
        pass_bytes: 1 << 30,
        workgroups: 65_535,
    };

    #[test]
    fn a_gather_is_told_in_fields() {
        let (params, indices) = ([30522, 384], [16, 512]);
        let plan = Plan::new(
            Op::gather(0),
            &Rules::jax_fill(DType::F32),
            4,
            &Layout::contiguous(&params),
            IndexType::I64,
            &Layout::contiguous(&indices),
        );
        let explanation = Explanation::new(&plan.unwrap(), &LIMITS).unwrap();
        let value = to_value(&explanation).unwrap();
        let merged = json!([{"params": null, "indices": 0}, {"params": null, "indices": 1}]);
        let expected = json!({
            "op": "gather",
            "negative": "from-end",
            "out_of_bounds": "fill=0x7fc00000",
            "elements_shapes": "onnx",
            "element_bytes": 4,
            "index_type": "i64",
            "params_shape": params,
            "indices_shape": indices,
            "output_shape": [16, 512, 384],
            "coordinates": [{"axis": 0, "extent": 30522, "stride": 384}],
            "dropped": [],
            "slice_bytes": 384 * 4,
            "passes": 1,
        });
        for (name, expected) in expected.as_object().unwrap() {
            assert_eq!(&value[name], expected, "{name}");
        }
        assert_eq!(value["limits"]["segments"], 6);
        assert_eq!(value["loops"][0]["dims"], merged);
        assert_eq!(value["loops"][0]["slice"], false);
        assert_eq!(value["loops"][1]["slice"], true);
        assert_eq!(value["dispatches"][0]["kernel"], "rows");
        assert_eq!(value["dispatches"][0]["access_bytes"], 16);
        assert_eq!(value["host_call"]["by"], "device");
        assert_eq!(value["host_call"]["max_bytes"], json!(null));

        let bounded = to_value(explanation.with_memory(1 << 10)).unwrap();
        assert_eq!(bounded["host_call"]["by"], "cpu");
        assert_eq!(bounded["host_call"]["max_bytes"], 1 << 10);
    }

    #[test]
    fn scatters_and_bags_are_told_in_fields() {
        let (shape, updates) = (Layout::contiguous(&[10, 4]), Layout::contiguous(&[3, 4]));
        let layouts = ScatterLayouts {
            dtype: DType::F32,
            destination: &shape,
            index_type: IndexType::I64,
            indices: &Layout::contiguous(&[3]),
            updates: &updates,
        };
        let plan = ScatterPlan::new(Op::gather(0), Reduce::Add, &Rules::TORCH, layouts).unwrap();
        let value = to_value(plan.explain()).unwrap();
        assert_eq!(
            (&value["call"], &value["lookups"]),
            (&json!("scatter, reduce = add, f32"), &json!(3))
        );
        let ids = Indices::new(&[0; 8][..], IndexType::U32, Layout::contiguous(&[1, 2])).unwrap();
        let rows = Params::new(&[0; 160], DType::F32, shape).unwrap();
        let bags = Bags::rows(BagMode::Sum);
        let call = Executor::Cpu.embedding_bag(bags, &Rules::TORCH, &rows, &ids);
        let value = to_value(call.explain().unwrap()).unwrap();
        assert_eq!(
            (&value["call"], &value["row_bytes"]),
            (&json!("embedding_bag, mode = sum, f32"), &json!(16))
        );
    }
}
