//! Checks on the visitor's own device: recorded answers of frameworks, and built-in and random calls
//! against the reference.

use gather_conformance::{
    Call, Case, Expected, FOLD_SCHEMA, FoldCase, Outcome, QUANTIZED_SCHEMA, QuantizedCase,
    QuantizedExpected, Values, builtin, check_call, read_cases, read_fold_cases,
    read_quantized_cases, run_case, run_fold_case, run_quantized_case,
};
use js_sys::{Object, Promise};
use serde::Deserialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use crate::engine::RawEngine;
use crate::failure::{not_a_call, set};
use crate::random::Random;

/// Cases that can be run one by one.
#[wasm_bindgen]
pub struct RawSuite {
    checks: Vec<Check>,
}

#[derive(Clone)]
enum Check {
    Recorded(Box<Case>),
    Fold(Box<FoldCase>),
    Quantized(Box<QuantizedCase>),
    Builtin(usize, Box<Call>),
    Random(Random),
}

/// What all case files begin with.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

#[wasm_bindgen]
impl RawSuite {
    /// The cases of a file.
    pub fn read(text: &str) -> Result<RawSuite, JsValue> {
        let head: Head = serde_json::from_str(text).map_err(|e| not_a_call(&e.to_string()))?;
        let checks = match head.schema.as_str() {
            FOLD_SCHEMA => read_fold_cases(text).map(|cases| each(cases, Check::Fold)),
            QUANTIZED_SCHEMA => {
                read_quantized_cases(text).map(|cases| each(cases, Check::Quantized))
            }
            _ => read_cases(text).map(|cases| each(cases, Check::Recorded)),
        };
        let checks = checks.map_err(|e| not_a_call(&e.to_string()))?;
        Ok(RawSuite { checks })
    }

    /// The built-in calls.
    pub fn builtin() -> RawSuite {
        let checks = builtin()
            .into_iter()
            .enumerate()
            .map(|(n, call)| Check::Builtin(n, Box::new(call)));
        let checks = checks.collect();
        RawSuite { checks }
    }

    /// So many random calls of each verb, and as many from quantised tables.
    pub fn random(count: u32) -> RawSuite {
        let checks = Random::all(u64::from(count)).map(Check::Random).collect();
        RawSuite { checks }
    }

    /// How many there are.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.checks.len()
    }

    /// Runs one: `{ name, outcome: "passed" | "failed" | "skipped", detail }`. The detail of a random call
    /// that passed says if there is no output to compare.
    pub fn run(&self, engine: &RawEngine, at: usize) -> Promise {
        let (check, executor) = (self.checks.get(at).cloned(), engine.executor().clone());
        future_to_promise(async move {
            let check = check.ok_or_else(|| not_a_call("there is no such case"))?;
            let mut detail = "";
            let (name, outcome) = match check {
                Check::Recorded(case) => {
                    let outcome = run_case(&case, &executor).await;
                    (case.name, outcome)
                }
                Check::Fold(case) => {
                    let outcome = run_fold_case(&case, &executor).await;
                    (case.name, outcome)
                }
                Check::Quantized(case) => {
                    let outcome = run_quantized_case(&case, &executor).await;
                    (case.name, outcome)
                }
                Check::Builtin(n, call) => {
                    let outcome = check_call(&call, &executor).await;
                    (format!("built-in call {n}"), outcome)
                }
                Check::Random(random) => {
                    let compared = random.compare(&executor).await;
                    detail = if compared.has_output { "" } else { "no output" };
                    (compared.name, compared.outcome)
                }
            };
            Ok(report(&name, outcome, detail).into())
        })
    }

    /// For tests: flips a bit of what the case expects; whether there was one.
    #[wasm_bindgen(js_name = plantFault)]
    pub fn plant_fault(&mut self, at: usize) -> bool {
        let bytes = match self.checks.get_mut(at) {
            Some(Check::Recorded(case)) => output_bytes(&mut case.expected),
            Some(Check::Fold(case)) => output_bytes(&mut case.expected),
            Some(Check::Quantized(case)) => match &mut case.expected {
                QuantizedExpected::Output { bytes, .. } => Some(bytes),
                QuantizedExpected::Error(_) => None,
            },
            _ => None,
        };
        let last = bytes.and_then(|bytes| bytes.last_mut());
        last.map(|byte| *byte ^= 1).is_some()
    }
}

fn output_bytes(expected: &mut Expected) -> Option<&mut Vec<u8>> {
    match expected {
        Expected::Output(output) => match &mut output.values {
            Values::Bytes(_, bytes) => Some(bytes),
            _ => None,
        },
        _ => None,
    }
}

fn each<T>(cases: Vec<T>, check: fn(Box<T>) -> Check) -> Vec<Check> {
    cases
        .into_iter()
        .map(|case| check(Box::new(case)))
        .collect()
}

fn report(name: &str, outcome: Outcome, of_passed: &str) -> Object {
    let (outcome, detail) = match outcome {
        Outcome::Passed => ("passed", of_passed.to_owned()),
        Outcome::Failed(difference) => ("failed", difference),
        Outcome::Skipped(reason) => ("skipped", reason),
    };
    let object = Object::new();
    set(&object, "name", &name.into());
    set(&object, "outcome", &outcome.into());
    set(&object, "detail", &detail.into());
    object
}
