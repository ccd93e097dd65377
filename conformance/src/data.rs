//! The tensors of a case: typed bytes or strings.

use serde::Deserialize;
use serde_json::Value;

use wgpu_gather::{DType, Error, Index, IndexType, Layout};

/// A contiguous tensor of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Data {
    /// The extent of each dim.
    pub shape: Vec<usize>,
    /// The elements, row-major.
    pub values: Values,
}

/// The elements of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Values {
    /// Elements of a type, in this machine's byte order.
    Bytes(DType, Vec<u8>),
    /// Strings.
    Strings(Vec<String>),
}

/// A tensor as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTensor {
    dtype: String,
    shape: Vec<usize>,
    data: Vec<Value>,
    /// Little-endian bytes in hex, given where a float is NaN: then the bits decide.
    bits: Option<String>,
}

impl RawTensor {
    /// Reads the elements, or says what is wrong with them.
    pub(super) fn read(&self) -> Result<Data, String> {
        let elements = Layout::checked_elements(&self.shape)
            .ok_or_else(|| format!("shape {:?} overflows", self.shape))?;
        if elements != self.data.len() {
            return Err(format!(
                "shape {:?} needs {elements} elements, got {}",
                self.shape,
                self.data.len()
            ));
        }
        Ok(Data {
            shape: self.shape.clone(),
            values: self.values()?,
        })
    }

    fn values(&self) -> Result<Values, String> {
        if self.dtype == "string" {
            let text = |v: &Value| v.as_str().map(str::to_owned);
            let strings: Option<Vec<String>> = self.data.iter().map(text).collect();
            return strings
                .map(Values::Strings)
                .ok_or_else(|| "a string tensor holds something else".to_owned());
        }
        let dtype: DType = self.dtype.parse().map_err(|e: Error| e.to_string())?;
        let bytes = match &self.bits {
            Some(hex) => from_hex(hex, dtype.bytes())?,
            None => self.encode(dtype)?,
        };
        if bytes.len() != self.data.len() * dtype.bytes() {
            return Err(format!("bits hold {} bytes, not the tensor's", bytes.len()));
        }
        Ok(Values::Bytes(dtype, bytes))
    }

    fn encode(&self, dtype: DType) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::with_capacity(self.data.len() * dtype.bytes());
        for value in &self.data {
            encode(dtype, value, &mut bytes)
                .ok_or_else(|| format!("{value} is not a value of type {dtype}"))?;
        }
        Ok(bytes)
    }
}

/// Appends one element; `None` if the JSON value is none of the type.
fn encode(dtype: DType, value: &Value, bytes: &mut Vec<u8>) -> Option<()> {
    macro_rules! integer {
        ($t:ty) => {
            bytes.extend(<$t>::try_from(integer(value)?).ok()?.to_ne_bytes())
        };
    }
    match dtype {
        DType::Bool => bytes.push(u8::try_from(integer(value)?).ok().filter(|&b| b < 2)?),
        DType::U8 => integer!(u8),
        DType::I8 => integer!(i8),
        DType::U16 => integer!(u16),
        DType::I16 => integer!(i16),
        DType::U32 => integer!(u32),
        DType::I32 => integer!(i32),
        DType::U64 => integer!(u64),
        DType::I64 => integer!(i64),
        DType::F16 => bytes.extend(half::f16::from_f64(float(value)?).to_ne_bytes()),
        DType::BF16 => bytes.extend(half::bf16::from_f64(float(value)?).to_ne_bytes()),
        DType::F32 => bytes.extend((float(value)? as f32).to_ne_bytes()),
        DType::F64 => bytes.extend(float(value)?.to_ne_bytes()),
        DType::C64 | DType::C128 => {
            let part = if dtype == DType::C64 {
                DType::F32
            } else {
                DType::F64
            };
            let [re, im] = value.as_array()?.as_slice() else {
                return None;
            };
            encode(part, re, bytes)?;
            encode(part, im, bytes)?;
        }
        _ => return None,
    }
    Some(())
}

/// An integer; beyond 2^53 it is written as a string.
fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Bool(b) => Some(i128::from(*b)),
        _ => value
            .as_i64()
            .map(i128::from)
            .or_else(|| value.as_u64().map(i128::from)),
    }
}

/// A float; the non-finite ones are written as strings.
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => value.as_f64(),
    }
}

/// Little-endian elements in hex, as this machine's bytes.
pub(super) fn from_hex(hex: &str, element_bytes: usize) -> Result<Vec<u8>, String> {
    let digits = hex.as_bytes();
    let byte = |pair: &[u8]| {
        let digit = |d: u8| char::from(d).to_digit(16).map(|d| d as u8);
        Some(digit(pair[0])? << 4 | digit(pair[1])?)
    };
    let bytes: Option<Vec<u8>> = digits.chunks_exact(2).map(byte).collect();
    let mut bytes = bytes
        .filter(|_| digits.len().is_multiple_of(2))
        .ok_or_else(|| "bits are not hexadecimal".to_owned())?;
    if cfg!(target_endian = "big") {
        bytes.chunks_mut(element_bytes).for_each(<[u8]>::reverse);
    }
    Ok(bytes)
}

impl Data {
    /// The element type's name, `string` for strings.
    pub fn type_name(&self) -> &'static str {
        match &self.values {
            Values::Bytes(dtype, _) => dtype.name(),
            Values::Strings(_) => "string",
        }
    }

    /// The elements as indices, widened where they are narrower than 32 bits; `None` if they are
    /// no integers.
    pub fn as_indices(&self) -> Option<(IndexType, Vec<u8>)> {
        let Values::Bytes(dtype, bytes) = &self.values else {
            return None;
        };
        fn widen<I: Index + bytemuck::AnyBitPattern>(bytes: &[u8]) -> (IndexType, Vec<u8>) {
            let values: Vec<I> = bytemuck::allocation::pod_collect_to_vec(bytes);
            (I::TYPE, I::widened(&values).into_owned())
        }
        Some(match dtype {
            DType::I8 => widen::<i8>(bytes),
            DType::U8 => widen::<u8>(bytes),
            DType::I16 => widen::<i16>(bytes),
            DType::U16 => widen::<u16>(bytes),
            &dtype => (IndexType::of(dtype)?, bytes.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_element_type_can_be_read() {
        for dtype in DType::ALL {
            let one = match dtype {
                DType::C64 | DType::C128 => json!([1, 0]),
                _ => json!(1),
            };
            let tensor = json!({ "dtype": dtype.name(), "shape": [1], "data": [one] });
            let tensor: RawTensor = serde_json::from_value(tensor).unwrap();
            let Ok(Values::Bytes(read, bytes)) = tensor.values() else {
                panic!("{dtype}");
            };
            assert_eq!((read, bytes.len()), (dtype, dtype.bytes()));
        }
    }
}
