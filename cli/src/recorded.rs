//! Recorded cases of every schema.

use gather_conformance::{
    Case, CaseError, Data, FOLD_SCHEMA, FoldCase, Outcome, QUANTIZED_SCHEMA, QuantizedCase, Values,
    read_cases, read_fold_cases, read_quantized_cases, run_case, run_fold_case, run_quantized_case,
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
    Fold(FoldCase),
}

impl Recorded {
    /// The cases of a file.
    pub(crate) fn read(text: &str) -> Result<Vec<Self>, CaseError> {
        let head: Result<Head, _> = serde_json::from_str(text);
        Ok(match head.as_ref().map_or("", |head| &head.schema) {
            QUANTIZED_SCHEMA => all(read_quantized_cases(text)?, Recorded::Quantized),
            FOLD_SCHEMA => all(read_fold_cases(text)?, Recorded::Fold),
            _ => all(read_cases(text)?, Recorded::Plain),
        })
    }

    pub(crate) fn run(&self, executor: &Executor) -> Outcome {
        match self {
            Recorded::Plain(case) => pollster::block_on(run_case(case, executor)),
            Recorded::Quantized(case) => pollster::block_on(run_quantized_case(case, executor)),
            Recorded::Fold(case) => pollster::block_on(run_fold_case(case, executor)),
        }
    }

    /// The kind of call that it counts as.
    pub(crate) fn group(&self) -> (OpKind, usize, String) {
        match self {
            Recorded::Plain(case) => of_type(case.op.kind(), &case.params),
            Recorded::Fold(case) => of_type(case.kind(), &case.params),
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
            Recorded::Fold(case) => (&case.suite, &case.name),
        };
        format!("{suite}: {name}")
    }
}

fn all<C>(cases: Vec<C>, recorded: fn(C) -> Recorded) -> Vec<Recorded> {
    cases.into_iter().map(recorded).collect()
}

/// A kind of call by its operator and its elements.
fn of_type(op: OpKind, params: &Data) -> (OpKind, usize, String) {
    let bytes = match &params.values {
        Values::Bytes(dtype, _) => dtype.bytes(),
        Values::Strings(_) => 0,
    };
    (op, bytes, params.type_name().to_owned())
}
