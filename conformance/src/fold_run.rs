//! Running a recorded scatter or pooled lookup.

use wgpu_gather::{BagMode, Bags, DType, Error, Executor, Indices, Layout, Op, Params, Reduce};

use crate::case::Expected;
use crate::close::within_ulps;
use crate::data::{Data, Values};
use crate::output::{byte_difference, describe, hexadecimal, poisoned};
use crate::report::{Outcome, is_of_device};
use crate::scatter_case::{BagCase, FoldCall, FoldCase, Updates};

/// Runs `case` on `executor`; skips what a GPU has no arithmetic for.
pub async fn run_fold_case(case: &FoldCase, executor: &Executor) -> Outcome {
    let output = match &case.call {
        FoldCall::Scatter(op, updates) => scattered(case, *op, updates, executor).await,
        FoldCall::EmbeddingBag(bag) => pooled(case, bag, executor).await,
    };
    outcome(case, output)
}

fn outcome(case: &FoldCase, output: Result<Data, Failure>) -> Outcome {
    match (&case.expected, output) {
        (_, Err(Failure::Case(reason))) => Outcome::Failed(reason),
        (Expected::Error(_), Err(Failure::Call(error))) if !is_of_device(&error) => Outcome::Passed,
        (Expected::Error(message), Ok(_)) => Outcome::Failed(format!(
            "gave an output where an error was recorded: {message}"
        )),
        (_, Err(Failure::Call(error @ Error::CpuOnly { .. }))) => {
            Outcome::Skipped(error.to_string())
        }
        (_, Err(Failure::Call(error))) => Outcome::Failed(error.to_string()),
        (Expected::Output(expected), Ok(got)) => match difference(expected, &got, case.ulps) {
            None => Outcome::Passed,
            Some(difference) => Outcome::Failed(difference),
        },
    }
}

/// Why there is no output.
enum Failure {
    /// The case makes no sense.
    Case(String),
    /// The library's error.
    Call(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Call(error)
    }
}

fn wrong(what: &str) -> Failure {
    Failure::Case(what.to_owned())
}

/// A case with a name that the library does not have.
fn unknown(error: Error) -> Failure {
    Failure::Case(error.to_string())
}

fn indices(case: &FoldCase) -> Result<Indices<'static>, Failure> {
    let indices = case.indices.as_indices();
    let (index_type, bytes) = indices.ok_or_else(|| wrong("the indices are no integers"))?;
    let layout = Layout::contiguous(&case.indices.shape);
    Ok(Indices::new(bytes, index_type, layout)?)
}

async fn scattered(
    case: &FoldCase,
    op: Op,
    updates: &Updates,
    executor: &Executor,
) -> Result<Data, Failure> {
    let (dtype, base) = params(&case.params)?;
    let (_, values) = params(&updates.values)?;
    let reduce: Reduce = updates.reduce.parse().map_err(unknown)?;
    let indices = indices(case)?;
    let mut output = base.bytes().to_vec();
    let (rules, shape) = (&case.rules, &case.params.shape);
    executor
        .scatter_into(op, reduce, rules, shape, &mut output, &indices, &values)
        .await?;
    Ok(Data {
        shape: case.params.shape.clone(),
        values: Values::Bytes(dtype, output),
    })
}

async fn pooled(case: &FoldCase, bag: &BagCase, executor: &Executor) -> Result<Data, Failure> {
    let (dtype, params) = params(&case.params)?;
    let indices = indices(case)?;
    let weights = bag.weights.as_ref().map(self::params).transpose()?;
    let offsets = bag.offsets.as_ref().map(|o| {
        let offset = |&n| usize::try_from(n).map_err(|_| wrong("a negative offset"));
        o.iter()
            .map(offset)
            .collect::<Result<Vec<usize>, Failure>>()
    });
    let offsets = offsets.transpose()?;
    let mode: BagMode = bag.mode.parse().map_err(unknown)?;
    let bags = match &offsets {
        None => Bags::rows(mode),
        Some(offsets) if bag.include_last_offset => Bags::offsets_with_last(mode, offsets),
        Some(offsets) => Bags::offsets(mode, offsets),
    };
    let bags = match bag.padding_index {
        Some(padding) => bags.with_padding_index(padding),
        None => bags,
    };
    let mut call = executor.embedding_bag(bags, &case.rules, &params, &indices);
    if let Some((_, weights)) = &weights {
        call = call.weights(weights);
    }
    let shape = call.output_shape()?;
    let mut output = poisoned(&shape, dtype.bytes())?;
    call.into(&mut output).await?;
    let values = Values::Bytes(dtype, output);
    Ok(Data { shape, values })
}

fn params(data: &Data) -> Result<(DType, Params<'_>), Failure> {
    match &data.values {
        Values::Bytes(dtype, bytes) => {
            let params = Params::new(bytes, *dtype, Layout::contiguous(&data.shape))?;
            Ok((*dtype, params))
        }
        Values::Strings(_) => Err(Failure::Case("a tensor of strings".to_owned())),
    }
}

/// What is different, if an element is more than so many units in the last place away.
fn difference(expected: &Data, got: &Data, ulps: u32) -> Option<String> {
    if expected.shape != got.shape {
        return Some(format!(
            "shape {:?}, expected {:?}",
            got.shape, expected.shape
        ));
    }
    let (Values::Bytes(dtype, e), Values::Bytes(got_type, g)) = (&expected.values, &got.values)
    else {
        return Some("a tensor of strings".to_owned());
    };
    if dtype != got_type {
        return Some(format!("output of {got_type}, expected {dtype}"));
    }
    if ulps == 0 {
        return byte_difference(&got.shape, dtype.bytes(), e, g);
    }
    let width = dtype.bytes();
    let pairs = e.chunks_exact(width).zip(g.chunks_exact(width));
    let far = |(e, g): (&[u8], &[u8])| !within_ulps(*dtype, e, g, ulps);
    let at = pairs.clone().position(far)?;
    let (e, g) = (&e[at * width..][..width], &g[at * width..][..width]);
    Some(describe(&got.shape, at, &hexadecimal(g), &hexadecimal(e)))
}
