//! Running one case of a quantised table and comparing bits.

use wgpu_gather::quantized::{
    CodeType, FloatType, Format, QuantizedTable, ScaleType, SplitFormat, ZeroPoints,
};
use wgpu_gather::{DType, Error, Executor, Indices, Layout};

use crate::output::{byte_difference, poisoned};
use crate::quantized::{QuantizedCase, QuantizedData, QuantizedExpected, Scales};
use crate::report::{Outcome, is_of_device};

/// Runs `case` on `executor`.
pub async fn run_quantized_case(case: &QuantizedCase, executor: &Executor) -> Outcome {
    match (&case.expected, output(case, executor).await) {
        (_, Err(Failure::Case(reason))) => Outcome::Failed(reason),
        (QuantizedExpected::Error(_), Err(Failure::Refused)) => Outcome::Passed,
        (QuantizedExpected::Error(_), Err(Failure::Gather(error))) if !is_of_device(&error) => {
            Outcome::Passed
        }
        (_, Err(Failure::Gather(error))) => Outcome::Failed(error.to_string()),
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
            // Formats that multiply f32 by f32; the others meet no subnormal.
            let flushes = !matches!(executor, Executor::Reference | Executor::Cpu)
                && matches!(case.table.format.as_str(), "onnx" | "fbgemm");
            let flushed = flushes.then(|| flushed(case.output, bytes));
            let others = [fused.as_deref(), flushed.as_deref()];
            match difference((shape, case.output.bytes()), bytes, others, &got) {
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
    let described = described(&case.table)?;
    let table = table(&case.table, &described)?;
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
        .output_shape(table.shape(), &case.indices.shape, &case.rules)?;
    let mut output = poisoned(&shape, to.bytes())?;
    let decoded = table.to_type(to);
    let call = executor.gather(case.op, &case.rules, &decoded, &indices);
    call.into(&mut output).await?;
    Ok((shape, output))
}

impl QuantizedCase {
    /// Lends the table of the case; `None`, if the library has no words for it or refuses it.
    pub fn with_table<R>(&self, take: impl FnOnce(&QuantizedTable<'_>) -> R) -> Option<R> {
        let described = described(&self.table).ok()?;
        let table = table(&self.table, &described).ok()?;
        Some(take(&table))
    }
}

/// The library's view of a table.
fn table<'a>(
    data: &'a QuantizedData,
    (format, zero_points): &'a (Format, Vec<u8>),
) -> Result<QuantizedTable<'a>, Error> {
    let scales = data.scales.as_ref();
    let scales = scales.map_or(&[][..], |scales| &scales.bytes);
    QuantizedTable::new(*format, &data.shape, &data.codes, scales, zero_points)
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

/// A GPU may take a scale or a product below 2^-126 for zero. What such a scale makes of a code of 8 bits is
/// below this.
const FLUSHED_BELOW: f32 = f32::MIN_POSITIVE * 256.0;

/// What a GPU that flushes subnormals may make of the expected elements: zeros with their signs.
fn flushed(output: DType, expected: &[u8]) -> Vec<u8> {
    let element = |bits: u32| match f32::from_bits(bits).abs() < FLUSHED_BELOW {
        true => bits & 0x8000_0000,
        false => bits,
    };
    if output == DType::F32 {
        let elements = expected.as_chunks().0.iter().copied();
        let zeros = elements.map(|e| element(u32::from_ne_bytes(e)));
        zeros.flat_map(u32::to_ne_bytes).collect()
    } else if output == DType::BF16 {
        let elements = expected.as_chunks().0.iter().copied();
        let zeros = elements.map(|e| element(u32::from(u16::from_ne_bytes(e)) << 16) >> 16);
        zeros.flat_map(|e| (e as u16).to_ne_bytes()).collect()
    } else {
        expected.to_vec() // f16 has nothing that small
    }
}

/// What is different first, or `None` if nothing is: an element is right that is the expected one or, where
/// there are others, one of those in its place.
fn difference(
    (shape, width): (&[usize], usize),
    expected: &[u8],
    others: [Option<&[u8]>; 2],
    (got_shape, got): &(Vec<usize>, Vec<u8>),
) -> Option<String> {
    if got_shape != shape {
        return Some(format!("output shape {got_shape:?}, expected {shape:?}"));
    }
    let mut nearest = expected.to_vec();
    for other in others.into_iter().flatten() {
        let elements = nearest.chunks_mut(width).zip(other.chunks(width));
        for ((element, other), got) in elements.zip(got.chunks(width)) {
            if got == other {
                element.copy_from_slice(other);
            }
        }
    }
    byte_difference(shape, width, &nearest, got)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_subnormal_scale_makes_may_be_zero() {
        let floats = [
            0x8060_0000,
            0x0380_0000,
            0x8480_0000,
            0x7fc0_0001,
            0x8000_0000u32,
        ];
        let expected = [0x8000_0000, 0, 0x8480_0000, 0x7fc0_0001, 0x8000_0000u32];
        let bytes =
            |bits: &[u32]| -> Vec<u8> { bits.iter().flat_map(|b| b.to_ne_bytes()).collect() };
        assert_eq!(flushed(DType::F32, &bytes(&floats)), bytes(&expected));
        let upper = |bits: &[u32]| -> Vec<u8> {
            let halves = bits.iter().map(|b| (b >> 16) as u16);
            halves.flat_map(u16::to_ne_bytes).collect()
        };
        assert_eq!(flushed(DType::BF16, &upper(&floats)), upper(&expected));
        assert_eq!(flushed(DType::F16, &upper(&floats)), upper(&floats));
    }

    #[test]
    fn an_element_is_one_of_its_answers() {
        let shape = [2];
        let of = |got: [u8; 2]| (shape.to_vec(), got.to_vec());
        let differs = |others, got| difference((&shape, 1), &[1, 2], others, &of(got)).is_some();
        assert!(!differs([None, None], [1, 2]));
        assert!(!differs([Some(&[1, 5]), Some(&[0, 2])], [0, 5]));
        assert!(differs([Some(&[1, 5]), Some(&[0, 2])], [5, 2]));
        assert!(differs([None, Some(&[0, 2])], [1, 0]));
    }
}
