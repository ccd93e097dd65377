//! An explanation as one JSON object.

use anyhow::Result;
use serde_json::{Value, json};
use wgpu_gather::plan::{Dispatches, HostCall, LoopDims};
use wgpu_gather::{BindingLimits, Explanation};

use crate::bench::case::Scaled;
use crate::bench::traffic::Traffic;
use crate::explain::Measured;
use crate::explain::cost::Cost;
use crate::explain::place::Place;

/// All there is to say.
pub(crate) fn of(
    scaled: &Scaled,
    place: &Place,
    explanation: &Explanation,
    cost: &Cost,
    measured: Option<&Measured>,
) -> Result<Value> {
    let (case, plan) = (&scaled.case, &explanation.plan);
    let (axis, batch_dims) = case.attributes();
    let measured = match measured {
        Some(measured) => {
            let mut value = serde_json::to_value(&measured.figures)?;
            value["adapter"] = json!(measured.adapter);
            value["of_limit"] = json!(measured.of_limit(cost));
            value
        }
        None => Value::Null,
    };
    Ok(json!({
        "for": place.label,
        "adapter": place.adapter,
        "limits": limits(&explanation.limits),
        "op": plan.op().to_string(),
        "axis": axis,
        "batch_dims": batch_dims,
        "dtype": case.dtype.name(),
        "index_type": plan.index_type().name(),
        "params_shape": case.params,
        "indices_shape": case.indices,
        "output_shape": plan.output_shape(),
        "negative": plan.rules().negative.name(),
        "out_of_bounds": plan.rules().out_of_bounds.to_string(),
        "loops": loops(explanation),
        "dropped": dims(&explanation.dropped),
        "coordinates": coordinates(explanation),
        "slice_bytes": plan.geometry().slice() * plan.element_bytes(),
        "passes": explanation.dispatches.iter().map(|d| d.count).sum::<usize>(),
        "boxes": explanation.boxes,
        "segments": explanation.segments,
        "check_passes": explanation.check_passes,
        "dispatches": explanation.dispatches.iter().map(dispatches).collect::<Vec<_>>(),
        "bytes": traffic(&cost.traffic),
        "bandwidth_gb_per_s": cost.bandwidth.map(|b| b / 1e9),
        "expected_ms": cost.seconds().map(|s| s * 1e3),
        "host_call": host_call(explanation),
        "measured": measured,
    }))
}

fn limits(limits: &BindingLimits) -> Value {
    json!({
        "params_bytes": limits.params_bytes,
        "indices_bytes": limits.indices_bytes,
        "output_bytes": limits.output_bytes,
        "segments": limits.segments,
        "alignment": limits.alignment,
        "pass_bytes": limits.pass_bytes,
        "workgroups": limits.workgroups,
    })
}

fn loops(explanation: &Explanation) -> Vec<Value> {
    let rows = explanation.plan.geometry().row_loops().len();
    let loops = explanation.loops.iter().enumerate();
    let object = loops.map(|(n, (l, from))| {
        json!({
            "extent": l.extent,
            "params_stride": l.params_stride,
            "indices_stride": l.indices_stride,
            "dims": dims(from),
            "slice": n >= rows,
        })
    });
    object.collect()
}

fn dims(dims: &[LoopDims]) -> Vec<Value> {
    let object = |d: &LoopDims| json!({ "params": d.params, "indices": d.indices });
    dims.iter().map(object).collect()
}

fn coordinates(explanation: &Explanation) -> Vec<Value> {
    let coordinates = explanation.plan.geometry().coordinates.iter();
    let object =
        coordinates.map(|c| json!({ "axis": c.axis, "extent": c.extent, "stride": c.stride }));
    object.collect()
}

fn dispatches(dispatches: &Dispatches) -> Value {
    json!({
        "count": dispatches.count,
        "workgroups": dispatches.workgroups(),
        "segments": dispatches.segments,
        "first": dispatches.first,
        "box_bytes": dispatches.box_bytes,
        "kernel": dispatches.kernel_name(),
        "kernel_reason": dispatches.kernel_reason(),
        "loops": dispatches.loops(),
        "depth": dispatches.depth(),
        "nest_reason": dispatches.nest_reason(),
        "access_bytes": dispatches.access_bytes(),
        "access_limits": dispatches.access_limits(),
        "positions": dispatches.positions(),
    })
}

fn traffic(traffic: &Traffic) -> Value {
    json!({
        "output": traffic.output,
        "indices": traffic.indices,
        "params": traffic.params,
        "params_sectors": traffic.params_sectors,
        "total": traffic.total(),
    })
}

fn host_call(explanation: &Explanation) -> Value {
    let (how, sizes) = match explanation.host_call {
        HostCall::Whole => ("whole", None),
        HostCall::Collected => ("collected", None),
        HostCall::Streamed {
            params_bytes,
            indices_bytes,
            output_bytes,
        } => (
            "streamed",
            Some([params_bytes, indices_bytes, output_bytes]),
        ),
    };
    let most = Some(explanation.max_memory_bytes).filter(|&most| most != u64::MAX);
    json!({
        "how": how,
        "reason": explanation.host_reason(),
        "bytes": explanation.plan.host_bytes(),
        "max_bytes": most,
        "params_bytes": sizes.map(|[params, ..]| params),
        "indices_bytes": sizes.map(|[_, indices, _]| indices),
        "output_bytes": sizes.map(|[.., output]| output),
    })
}
