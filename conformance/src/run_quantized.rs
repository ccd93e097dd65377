//! Running one case of a quantised table and comparing bits.

use wgpu_gather::quantized::{
    CodeType, FloatType, Format, QuantizedCall, QuantizedTable, ScaleType, SplitFormat, ZeroPoints,
};
use wgpu_gather::{DType, Error, Executor, Indices, Layout};

use crate::output::{byte_difference, poisoned};
use crate::quantized::{QuantizedCase, QuantizedData, QuantizedExpected, Scales};
use crate::report::Outcome;

/// Runs `case` on `executor`.
pub async fn run_quantized_case(case: &QuantizedCase, executor: &Executor) -> Outcome {
    match (&case.expected, output(case, executor).await) {
        (_, Err(Failure::Case(reason))) => Outcome::Failed(reason),
        (QuantizedExpected::Error(_), Err(Failure::Refused)) => Outcome::Passed,
        (QuantizedExpected::Output { .. }, Err(Failure::Gather(error))) => {
            Outcome::Failed(error.to_string())
        }
        (QuantizedExpected::Error(_), Err(Failure::Gather(_))) => Outcome::Passed,
        (QuantizedExpected::Error(message), Ok(_)) => Outcome::Failed(format!(
            "gave an output where an error was recorded: {message}"
        )),
        (QuantizedExpected::Output { .. }, Err(Failure::Refused)) => {
            Outcome::Failed("the table cannot be described".to_owned())
        }
        (
            QuantizedExpected::Output {
                shape,
                bytes,
                fused,
            },
            Ok(got),
        ) => {
            let width = case.output.bytes();
            match difference((shape, width), bytes, fused.as_deref(), &got) {
                None => Outcome::Passed,
                Some(difference) => Outcome::Failed(difference),
            }
        }
    }
}

enum Failure {
    /// The library says so.
    Gather(Error),
    /// The library has no words for such a table.
    Refused,
    /// The case makes no sense.
    Case(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Gather(error)
    }
}

/// Shape and bytes that `executor` makes.
async fn output(
    case: &QuantizedCase,
    executor: &Executor,
) -> Result<(Vec<usize>, Vec<u8>), Failure> {
    let (format, zero_points) = described(&case.table)?;
    let scales = case.table.scales.as_ref();
    let scales = scales.map_or(&[][..], |scales| &scales.bytes);
    let QuantizedData { shape, codes, .. } = &case.table;
    let table = QuantizedTable::new(format, shape, codes, scales, &zero_points)?;
    let not_indices = || Failure::Case(format!("indices of type {}", case.indices.type_name()));
    let (index_type, indices) = case.indices.as_indices().ok_or_else(not_indices)?;
    let layout = Layout::contiguous(&case.indices.shape);
    let indices = Indices::new(indices, index_type, layout)?;
    let to = FloatType::ALL
        .into_iter()
        .find(|to| to.dtype() == case.output);
    let to = to.ok_or_else(|| Failure::Case(format!("output of {}", case.output)))?;
    let shape = case
        .op
        .output_shape(shape, &case.indices.shape, &case.rules)?;
    let mut output = poisoned(&shape, to.bytes())?;
    let call = QuantizedCall::new(case.op, &case.rules, &table, &indices, to);
    executor.gather_quantized_bytes(call, &mut output).await?;
    Ok((shape, output))
}

/// The format of a table, and its zero points as the format packs them.
fn described(table: &QuantizedData) -> Result<(Format, Vec<u8>), Failure> {
    match (table.format.as_str(), &table.scales) {
        ("fbgemm", None) => Ok((Format::Rows, Vec::new())),
        ("onnx" | "fp8_e4m3", Some(scales)) => split(table, scales),
        (name, None) => Ok((Format::Blocks(name.parse()?), Vec::new())),
        (name, Some(_)) => Err(Failure::Case(format!("{name} with scales"))),
    }
}

fn split(table: &QuantizedData, scales: &Scales) -> Result<(Format, Vec<u8>), Failure> {
    let unknown = || Failure::Case(format!("{} of {} bits", table.format, scales.bits));
    let is_float = table.format == "fp8_e4m3";
    let codes = CodeType::ALL.into_iter().find(|codes| match is_float {
        true => *codes == CodeType::E4M3,
        false => {
            *codes != CodeType::E4M3
                && codes.bits() == scales.bits as usize
                && codes.is_signed() == scales.signed
        }
    });
    let codes = codes.ok_or_else(unknown)?;
    let middle = 1 << (scales.bits - 1);
    let format = SplitFormat {
        codes,
        scales: match scales.dtype {
            Some(DType::F32) => ScaleType::F32,
            Some(DType::F16) => ScaleType::F16,
            Some(DType::BF16) => ScaleType::BF16,
            Some(_) => return Err(unknown()),
            None => ScaleType::E8M0,
        },
        zero_points: match (&scales.zero_points, scales.default_zero) {
            (Some(_), _) => ZeroPoints::Packed,
            (None, 0) => ZeroPoints::Zero,
            (None, zero) if zero == middle && !scales.signed => ZeroPoints::Middle,
            (None, _) => return Err(unknown()),
        },
        block_size: usize::try_from(scales.block).map_err(|_| Failure::Refused)?,
        axis: scales.axis,
    };
    let zero_points = scales.zero_points.as_deref().unwrap_or_default();
    Ok((Format::Split(format), packed(zero_points, scales.bits)))
}

/// Codes of a byte each in as few bytes as hold them, the low bits first.
fn packed(codes: &[u8], bits: u32) -> Vec<u8> {
    let byte = |codes: &[u8]| {
        let shifted = codes.iter().zip(0..).map(|(code, n)| code << (n * bits));
        shifted.fold(0, |byte, code| byte | code)
    };
    codes.chunks(8 / bits as usize).map(byte).collect()
}

/// What is different first, or `None` if nothing is: of each element, one of two answers is right where
/// there are two.
fn difference(
    (shape, width): (&[usize], usize),
    expected: &[u8],
    fused: Option<&[u8]>,
    (got_shape, got): &(Vec<usize>, Vec<u8>),
) -> Option<String> {
    if got_shape != shape {
        return Some(format!("output shape {got_shape:?}, expected {shape:?}"));
    }
    let elements = expected
        .chunks(width)
        .zip(fused.unwrap_or(expected).chunks(width));
    let allowed = elements.zip(got.chunks(width));
    let nearest: Vec<u8> = allowed
        .flat_map(|((one, other), got)| if got == other { other } else { one })
        .copied()
        .collect();
    byte_difference(shape, width, &nearest, got)
}
