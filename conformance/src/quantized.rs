//! Case files of the schema `gather-quantized/1`: gathers from quantised tables.

use serde::Deserialize;

use wgpu_gather::{DType, Layout, Op, Rules};

use crate::case::RawAttrs;
use crate::case_file::{CaseError, CaseOfFile, read_file};
use crate::data::{Data, RawTensor, from_hex};

/// The schema of files that [`read_quantized_cases`] reads.
pub const QUANTIZED_SCHEMA: &str = "gather-quantized/1";

/// One gather from a quantised table, with its recorded answer.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantizedCase {
    /// The suite it is from.
    pub suite: String,
    /// Its name within the suite.
    pub name: String,
    /// The table gathered from.
    pub table: QuantizedData,
    /// The operator.
    pub op: Op,
    /// The rules that the answer follows.
    pub rules: Rules,
    /// The indices.
    pub indices: Data,
    /// The element type of the output: f32, f16 or bf16.
    pub output: DType,
    /// The answer.
    pub expected: QuantizedExpected,
}

/// A quantised table as the file has it. Nothing says that its parts fit together: some cases are
/// of tables that are to be refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantizedData {
    /// The format: `onnx`, `fp8_e4m3`, `fbgemm`, or the name of a type of GGUF in small letters.
    pub format: String,
    /// The shape in elements.
    pub shape: Vec<usize>,
    /// The bytes of all codes, of whole blocks for the types of GGUF; codes of less than 8 bits
    /// follow each other without a gap, the low bits of a byte first.
    pub codes: Vec<u8>,
    /// Where they are apart from the codes: `onnx` and `fp8_e4m3`.
    pub scales: Option<Scales>,
}

/// The scales beside the codes, and how they belong to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scales {
    /// Codes along the axis that share a scale. Not positive in a case that is to be refused.
    pub block: isize,
    /// The axis that is cut into blocks; the last one may be short.
    pub axis: isize,
    /// The type of the scales; `None` for e8m0, of one byte.
    pub dtype: Option<DType>,
    /// The scales, in this machine's byte order.
    pub bytes: Vec<u8>,
    /// Bits of a code.
    pub bits: u32,
    /// Whether codes and zero points are in two's complement.
    pub signed: bool,
    /// The zero points, one byte each, of which the low [`bits`](Scales::bits) count.
    pub zero_points: Option<Vec<u8>>,
    /// The zero point where there are none.
    pub default_zero: i32,
}

/// The answer of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuantizedExpected {
    /// An output.
    Output {
        /// Its shape.
        shape: Vec<usize>,
        /// Its elements, bit for bit, in this machine's byte order.
        bytes: Vec<u8>,
        /// What each element may be instead, where multiply and add are contracted to one
        /// operation of one rounding.
        fused: Option<Vec<u8>>,
    },
    /// A failure; the text is the recording library's own.
    Error(String),
}

#[derive(Deserialize)]
struct RawCase {
    name: String,
    table: RawTable,
    op: String,
    attrs: RawAttrs,
    indices: RawTensor,
    output: String,
    expect_shape: Option<Vec<usize>>,
    expect: Option<String>,
    expect_fused: Option<String>,
    expect_error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    format: String,
    shape: Vec<usize>,
    codes: String,
    scales: Option<String>,
    block: Option<isize>,
    axis: Option<isize>,
    scale_type: Option<String>,
    bits: Option<u32>,
    signed: Option<bool>,
    default_zero: Option<i32>,
    zero_points: Option<String>,
}

/// Reads the text of a case file.
///
/// # Errors
///
/// A [`CaseError`] that names the case.
pub fn read_quantized_cases(text: &str) -> Result<Vec<QuantizedCase>, CaseError> {
    read_file::<RawCase>(text)
}

impl CaseOfFile for RawCase {
    const SCHEMA: &'static str = QUANTIZED_SCHEMA;
    type Case = QuantizedCase;

    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, suite: &str) -> Result<QuantizedCase, String> {
        let output = float(&self.output)?;
        Ok(QuantizedCase {
            suite: suite.to_owned(),
            name: self.name.clone(),
            table: self.table.read()?,
            op: self.attrs.op(&self.op)?,
            rules: self.attrs.rules()?,
            indices: self.indices.read()?,
            output,
            expected: self.expected(output)?,
        })
    }
}

impl RawCase {
    fn expected(&self, output: DType) -> Result<QuantizedExpected, String> {
        let (shape, bits) = match (&self.expect_shape, &self.expect, &self.expect_error) {
            (Some(shape), Some(bits), None) => (shape, bits),
            (None, None, Some(error)) => return Ok(QuantizedExpected::Error(error.clone())),
            _ => return Err("needs either expect and expect_shape, or expect_error".to_owned()),
        };
        let bytes = Layout::checked_elements(shape).and_then(|n| n.checked_mul(output.bytes()));
        let elements = |hex: &str| {
            let read = from_hex(hex, output.bytes())?;
            match bytes == Some(read.len()) {
                true => Ok(read),
                false => Err(format!("{} bytes are not of shape {shape:?}", read.len())),
            }
        };
        Ok(QuantizedExpected::Output {
            shape: shape.clone(),
            bytes: elements(bits)?,
            fused: self.expect_fused.as_deref().map(elements).transpose()?,
        })
    }
}

impl RawTable {
    fn read(&self) -> Result<QuantizedData, String> {
        Ok(QuantizedData {
            format: self.format.clone(),
            shape: self.shape.clone(),
            codes: from_hex(&self.codes, 1)?,
            scales: self.scales.as_deref().map(|s| self.scales(s)).transpose()?,
        })
    }

    fn scales(&self, scales: &str) -> Result<Scales, String> {
        let dtype = self.scale_type.as_deref().map(float).transpose()?;
        let zero_points = self.zero_points.as_deref().map(|z| from_hex(z, 1));
        Ok(Scales {
            block: self.block.ok_or("scales need block")?,
            axis: self.axis.ok_or("scales need axis")?,
            dtype,
            bytes: from_hex(scales, dtype.map_or(1, DType::bytes))?,
            bits: self.bits.unwrap_or(8),
            signed: self.signed.unwrap_or(false),
            zero_points: zero_points.transpose()?,
            default_zero: self.default_zero.unwrap_or(0),
        })
    }
}

/// The type called `name`, if it is one that tables are decoded to.
fn float(name: &str) -> Result<DType, String> {
    match name.parse() {
        Ok(dtype @ (DType::F32 | DType::F16 | DType::BF16)) => Ok(dtype),
        _ => Err(format!("\"{name}\" is none of f32, f16, bf16")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of one case, whose table has `fields` and whose answer is `expect`.
    fn read(fields: &str, expect: &str) -> Result<Vec<QuantizedCase>, CaseError> {
        read_quantized_cases(&format!(
            r#"{{"suite": "s", "schema": "gather-quantized/1", "count": 1, "cases": [{{
                "name": "n", "table": {{"shape": [2, 2], {fields}}}, "op": "gather",
                "attrs": {{"axis": 0, "batch_dims": 0, "neg": "oob", "oob": "zero"}},
                "indices": {{"dtype": "i32", "shape": [1], "data": [1]}}, "output": "bf16", {expect}
            }}]}}"#
        ))
    }

    const BLOCKS: &str = r#""format": "onnx", "codes": "21", "scales": "003c0040", "block": 16,
        "axis": -1, "scale_type": "f16", "bits": 2, "signed": true, "zero_points": "0103""#;

    #[test]
    fn every_field_is_read() {
        let expect = r#""expect_shape": [1, 2], "expect": "80bf803f", "expect_fused": "80bf0040""#;
        let case = read(BLOCKS, expect).unwrap().remove(0);
        assert_eq!(case.table.codes, [0x21]);
        assert_eq!(
            case.table.scales,
            Some(Scales {
                block: 16,
                axis: -1,
                dtype: Some(DType::F16),
                bytes: [0x3c00u16.to_ne_bytes(), 0x4000u16.to_ne_bytes()].concat(),
                bits: 2,
                signed: true,
                zero_points: Some(vec![1, 3]),
                default_zero: 0,
            })
        );
        let bits = |of: [u16; 2]| of.map(u16::to_ne_bytes).concat();
        assert_eq!(
            case.expected,
            QuantizedExpected::Output {
                shape: vec![1, 2],
                bytes: bits([0xbf80, 0x3f80]),
                fused: Some(bits([0xbf80, 0x4000])),
            }
        );
    }

    #[test]
    fn the_recorded_files_have_cases_of_every_format() {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/conformance/quantized"
        );
        let mut formats = std::collections::BTreeMap::<String, usize>::new();
        for (suite, count) in [
            ("ort_blocks", 910),
            ("numpy_blocks", 420),
            ("gguf_blocks", 1062),
            ("rows_and_fp8", 270),
        ] {
            let text = std::fs::read_to_string(format!("{folder}/{suite}.json")).unwrap();
            let cases = read_quantized_cases(&text).unwrap();
            assert_eq!(cases.len(), count, "{suite}");
            for case in cases {
                *formats.entry(case.table.format).or_default() += 1;
            }
        }
        // ONNX blocks, byte rows, FP8, and 14 types of GGUF.
        assert_eq!(formats.len(), 17, "{formats:?}");
        assert!(formats.values().all(|&cases| cases >= 36), "{formats:?}");
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let rows = r#""format": "fbgemm", "codes": "00""#;
        let good = r#""expect_shape": [1, 2], "expect": "80bf803f""#;
        assert!(read(rows, good).is_ok());
        for (fields, expect, complaint) in [
            (rows, r#""expect": "80bf803f""#, "needs either"),
            (
                rows,
                r#""expect_shape": [1, 2], "expect": "80bf80""#,
                "3 bytes",
            ),
            (
                rows,
                r#""expect_shape": [2], "expect": "zzbf803f""#,
                "hexadecimal",
            ),
            (r#""format": "onnx", "codes": "0""#, good, "hexadecimal"),
            (
                r#""format": "fp8_e4m3", "codes": "", "scales": "7f""#,
                good,
                "need block",
            ),
            (
                r#""format": "onnx", "codes": "", "bit": 4"#,
                good,
                "unknown field",
            ),
            (
                r#""format": "onnx", "codes": "", "scales": "", "scale_type": "f64""#,
                good,
                "none of f32",
            ),
        ] {
            let error = read(fields, expect).unwrap_err().to_string();
            assert!(error.contains(complaint), "{error}");
        }
    }
}
