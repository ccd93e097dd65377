//! Running one case and comparing bits.

use wgpu_gather::{Error, Executor, Index, Layout, TensorView, gather_cloned, with_index_type};

use crate::call::Call;
use crate::case::{Case, Expected};
use crate::data::{Data, Values};
use crate::output::{byte_difference, describe};
use crate::report::{Outcome, is_of_device};

/// Runs `case` on `executor`.
pub async fn run_case(case: &Case, executor: &Executor) -> Outcome {
    if let Some(reason) = &case.skip {
        return Outcome::Skipped(reason.clone());
    }
    let got = output(case, executor).await;
    match (&case.expected, got) {
        (_, Err(Failure::Case(reason))) => Outcome::Failed(reason),
        (Expected::Error(_), Err(Failure::Gather(error))) if !is_of_device(&error) => {
            Outcome::Passed
        }
        (Expected::Error(message), Ok(_)) => Outcome::Failed(format!(
            "gave an output where an error was recorded: {message}"
        )),
        (_, Err(Failure::Gather(error))) => Outcome::Failed(error.to_string()),
        (Expected::Output(expected), Ok(got)) => match difference(expected, &got) {
            None => Outcome::Passed,
            Some(difference) => Outcome::Failed(difference),
        },
    }
}

enum Failure {
    Gather(Error),
    Case(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Gather(error)
    }
}

/// What `executor` makes of the call.
async fn output(case: &Case, executor: &Executor) -> Result<Data, Failure> {
    let not_indices = || Failure::Case(format!("indices of type {}", case.indices.type_name()));
    let (index_type, index_bytes) = case.indices.as_indices().ok_or_else(not_indices)?;
    let params_shape = &case.params.shape;
    let shape = case
        .op
        .output_shape(params_shape, &case.indices.shape, &case.rules)?;
    let values = match &case.params.values {
        Values::Bytes(dtype, bytes) => {
            let call = Call {
                op: case.op,
                rules: case.rules.clone(),
                element_bytes: dtype.bytes(),
                params: bytes.clone(),
                params_layout: Layout::contiguous(params_shape),
                index_type,
                indices: index_bytes,
                indices_layout: Layout::contiguous(&case.indices.shape),
            };
            Values::Bytes(*dtype, call.output(executor).await?)
        }
        Values::Strings(strings) => {
            let view = TensorView::new(params_shape, strings)?;
            let at = &case.indices.shape;
            let strings =
                with_index_type!(index_type, I => cloned::<I>(case, &view, at, &index_bytes))?;
            Values::Strings(strings)
        }
    };
    Ok(Data { shape, values })
}

fn cloned<I: Index + bytemuck::AnyBitPattern>(
    case: &Case,
    params: &TensorView<'_, String>,
    indices_shape: &[usize],
    indices: &[u8],
) -> Result<Vec<String>, Error> {
    let indices: Vec<I> = bytemuck::allocation::pod_collect_to_vec(indices);
    let indices = TensorView::new(indices_shape, &indices)?;
    let default = String::new();
    let output = gather_cloned(case.op, &case.rules, params, &indices, &default)?;
    Ok(output.into_data())
}

/// What is different first, or `None` if nothing is.
fn difference(expected: &Data, got: &Data) -> Option<String> {
    if expected.shape != got.shape {
        return Some(format!(
            "output shape {:?}, expected {:?}",
            got.shape, expected.shape
        ));
    }
    match (&expected.values, &got.values) {
        (Values::Strings(e), Values::Strings(g)) => {
            let at = e.iter().zip(g).position(|(e, g)| e != g)?;
            Some(describe(&expected.shape, at, &g[at], &e[at]))
        }
        (Values::Bytes(expected_type, e), Values::Bytes(got_type, g)) => {
            if expected_type != got_type || e.len() != g.len() {
                return Some(format!("output of {got_type}, expected {expected_type}"));
            }
            byte_difference(&expected.shape, expected_type.bytes(), e, g)
        }
        _ => Some(format!(
            "output of {}, expected {}",
            got.type_name(),
            expected.type_name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::read_cases;

    /// A slice of an empty table, of `extents` elements.
    fn outcomes(extents: &str) -> [Outcome; 2] {
        let text = format!(
            r#"{{"suite": "s", "schema": "gather-conformance/1", "count": 1, "cases": [{{
                "op": "gather", "name": "n",
                "params": {{"dtype": "f32", "shape": [0, {extents}], "data": []}},
                "indices": {{"dtype": "i32", "shape": [1], "data": [0]}},
                "attrs": {{"axis": 0, "neg": "oob", "oob": "zero"}},
                "expect": {{"dtype": "f32", "shape": [1, 2], "data": [0, 0]}}
            }}]}}"#
        );
        let case = &read_cases(&text).unwrap()[0];
        [Executor::Reference, Executor::Cpu].map(|e| pollster::block_on(run_case(case, &e)))
    }

    #[test]
    #[cfg_attr(
        target_pointer_width = "32",
        ignore = "of sizes beyond 32-bit addresses"
    )]
    fn an_output_that_cannot_be_had_fails_its_case() {
        assert_eq!(outcomes("2"), [Outcome::Passed, Outcome::Passed]);
        for (extents, expected) in [
            // more elements than can be counted, more bytes than can be addressed, than there are
            (
                "4611686018427387904, 16",
                "more bytes than can be addressed",
            ),
            ("2305843009213693952", "more bytes than can be addressed"),
            (
                "1000000000000000000",
                "could not allocate 4000000000000000000 bytes",
            ),
        ] {
            for outcome in outcomes(extents) {
                let Outcome::Failed(reason) = outcome else {
                    panic!("{outcome:?}");
                };
                assert!(reason.contains(expected), "{reason}");
            }
        }
    }
}
