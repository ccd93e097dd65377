//! Which call of the traffic table has the shape of a case.

use wgpu_gather::{DType, Op, OutOfBounds, Reduce};

use crate::bench::case::Scaled;
use crate::bench::pattern::Pattern;
use crate::bench::verb::Verb;

/// Bytes of an index in most calls of the table.
const INDEX: usize = 4;

/// The name that the call of the table with the verb, the operator and the rows of this case would have.
pub(crate) fn call(scaled: &Scaled) -> Option<String> {
    let case = &scaled.case;
    let gathers = case.verb == Verb::Gather;
    if gathers && case.format.is_none() {
        return gather(scaled);
    }
    let rows = matches!(case.op, Op::Gather { axis, batch_dims: 0 } if axis.unwrap_or(0) == 0);
    let zeros = scaled.rules.out_of_bounds == OutOfBounds::Zero;
    let wide = case.index_type.bytes() != INDEX;
    if case.bad > 0.0 || !rows || !zeros || wide {
        return None;
    }
    let elements = case.params.iter().skip(1).product::<usize>();
    let of_bytes = of_bytes(elements * case.dtype.bytes());
    let of_elements = match (case.format, case.dtype) {
        (Some(format), DType::F32) => format!("{elements} {format}"),
        (Some(format), to) if gathers => {
            return Some(format!("rows of {elements} {format} to {to}"));
        }
        (Some(_), _) => return None,
        (None, DType::F32) => of_bytes.clone(),
        (None, DType::I8) => format!("{elements} bytes of i8"),
        (None, dtype) => format!("{elements} {dtype}"),
    };
    Some(match case.verb {
        Verb::Gather => format!("rows of {of_elements} to f32"),
        Verb::SumBags => format!("bags of {} rows of {of_elements}", case.indices.last()?),
        Verb::Scatter(reduce) | Verb::ScatterInto(reduce) => match (reduce, elements) {
            (Reduce::Add, 1) => format!("add single {}", case.dtype),
            (Reduce::Add, _) => format!("add rows of {of_elements}"),
            (Reduce::None, 1) => format!("replace single {}", case.dtype),
            (Reduce::None, _) => format!("replace rows of {of_bytes}"),
            (other, _) => format!("{other} of rows of {of_elements}"),
        },
    })
}

/// The name of a gather of plain rows there: what is gathered, of 64-bit indices, and under a rule.
fn gather(scaled: &Scaled) -> Option<String> {
    let case = &scaled.case;
    let geometry = scaled.plan.geometry();
    let rows = format!(
        "rows of {}",
        of_bytes(geometry.slice() * case.dtype.bytes())
    );
    let coordinates = geometry.coordinates.len();
    let each = |axis: usize| case.indices.get(axis);
    let what = match case.op {
        Op::Gather {
            axis,
            batch_dims: 0,
        } if axis.unwrap_or(0) == 0 => rows,
        Op::Gather {
            axis: Some(1),
            batch_dims: 0,
        } => format!("{rows} along axis 1"),
        Op::Gather {
            axis: None,
            batch_dims: 1,
        } => format!("{rows} of each batch"),
        Op::GatherNd { batch_dims: 0 } => format!("{rows} at {coordinates} coordinates"),
        Op::GatherNd { batch_dims: 1 } => {
            format!("{rows} at {coordinates} coordinates of each batch")
        }
        Op::GatherElements { .. } if case.dtype.bytes() != 4 => return None,
        Op::GatherElements { axis: 0 } => "elements of each column".to_owned(),
        Op::GatherElements { axis: 1 } => format!("{} elements of each row", each(1)?),
        _ => return None,
    };
    let wide = match case.index_type.bytes() {
        INDEX => "",
        _ => ", i64",
    };
    let rule = match scaled.rules.out_of_bounds {
        OutOfBounds::Zero if case.bad == 0.25 => ", a quarter bad",
        _ if case.bad > 0.0 => return None,
        OutOfBounds::Zero => "",
        OutOfBounds::Error => ", errors",
        _ => return None,
    };
    Some(what + wide + rule)
}

fn of_bytes(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        bytes => format!("{bytes} bytes"),
    }
}

/// The pattern of the case by its name in the table, if it has it.
pub(crate) fn pattern(scaled: &Scaled) -> Option<&'static str> {
    let pattern = scaled.case.pattern;
    let known = [
        Pattern::Random,
        Pattern::Sorted,
        Pattern::Zipf,
        Pattern::Same,
    ];
    known.contains(&pattern).then(|| pattern.name())
}
