//! An explanation as one JSON object.

use anyhow::Result;
use serde_json::{Value, json};
use wgpu_gather::Explanation;

use crate::bench::case::Scaled;
use crate::bench::traffic::Traffic;
use crate::explain::cost::Cost;
use crate::explain::measured::Measured;
use crate::explain::place::Place;

/// All there is to say.
pub(crate) fn of(
    scaled: &Scaled,
    place: &Place,
    explanation: &Explanation,
    cost: &Cost,
    measured: Option<&Measured>,
) -> Result<Value> {
    let case = &scaled.case;
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
    let mut value = serde_json::to_value(explanation)?;
    let of_the_case = json!({
        "for": place.label,
        "adapter": place.adapter,
        "axis": axis,
        "batch_dims": batch_dims,
        "dtype": case.dtype.name(),
        "bytes": traffic(&cost.traffic),
        "bandwidth_gb_per_s": cost.bandwidth.map(|b| b / 1e9),
        "expected_ms": cost.seconds().map(|s| s * 1e3),
        "measured": measured,
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut value, of_the_case) {
        all.extend(more);
    }
    Ok(value)
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
