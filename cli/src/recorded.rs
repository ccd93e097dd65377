//! Recorded cases of either schema.

use gather_conformance::{
    Case, CaseError, Outcome, QUANTIZED_SCHEMA, QuantizedCase, Values, read_cases,
    read_quantized_cases, run_case, run_quantized_case,
};
use serde::Deserialize;
use wgpu_gather::{Executor, OpKind};

/// What tells files apart.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

/// A case of a file.
pub(crate) enum Recorded {
    Plain(Case),
    Quantized(QuantizedCase),
}

impl Recorded {
    /// The cases of a file.
    pub(crate) fn read(text: &str) -> Result<Vec<Self>, CaseError> {
        let head: Result<Head, _> = serde_json::from_str(text);
        if head.is_ok_and(|head| head.schema == QUANTIZED_SCHEMA) {
            let cases = read_quantized_cases(text)?;
            return Ok(cases.into_iter().map(Recorded::Quantized).collect());
        }
        let cases = read_cases(text)?;
        Ok(cases.into_iter().map(Recorded::Plain).collect())
    }

    pub(crate) fn run(&self, executor: &Executor) -> Outcome {
        match self {
            Recorded::Plain(case) => pollster::block_on(run_case(case, executor)),
            Recorded::Quantized(case) => pollster::block_on(run_quantized_case(case, executor)),
        }
    }

    /// The kind of call that it counts as.
    pub(crate) fn group(&self) -> (OpKind, usize, String) {
        match self {
            Recorded::Plain(case) => {
                let bytes = match &case.params.values {
                    Values::Bytes(dtype, _) => dtype.bytes(),
                    Values::Strings(_) => 0,
                };
                (case.op.kind(), bytes, case.params.type_name().to_owned())
            }
            Recorded::Quantized(case) => {
                let format = case.table.format.clone();
                (case.op.kind(), case.output.bytes(), format)
            }
        }
    }

    pub(crate) fn label(&self) -> String {
        let (suite, name) = match self {
            Recorded::Plain(case) => (&case.suite, &case.name),
            Recorded::Quantized(case) => (&case.suite, &case.name),
        };
        format!("{suite}: {name}")
    }
}
