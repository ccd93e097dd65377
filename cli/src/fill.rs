//! Fill values: text to the bits of one element.

use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use half::{bf16, f16};
use wgpu_gather::{DType, Fill};

/// `text` as a value of `dtype`, or as its bits (`0x…`, all digits, the highest first).
pub(crate) fn parse(dtype: DType, text: &str) -> Result<Fill> {
    Ok(Fill::from_bytes(&element(dtype, text)?))
}

/// The bytes of one element.
fn element(dtype: DType, text: &str) -> Result<Vec<u8>> {
    if let Some((re, im)) = text.split_once(',')
        && let Some(part) = part(dtype)
    {
        return Ok([element(part, re)?, element(part, im)?].concat());
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return from_bits(dtype, digits);
    }
    Ok(match dtype {
        DType::Bool => vec![truth(text)?],
        DType::U8 => integer::<u8>(dtype, text)?.to_le_bytes().into(),
        DType::I8 => integer::<i8>(dtype, text)?.to_le_bytes().into(),
        DType::U16 => integer::<u16>(dtype, text)?.to_le_bytes().into(),
        DType::I16 => integer::<i16>(dtype, text)?.to_le_bytes().into(),
        DType::U32 => integer::<u32>(dtype, text)?.to_le_bytes().into(),
        DType::I32 => integer::<i32>(dtype, text)?.to_le_bytes().into(),
        DType::U64 => integer::<u64>(dtype, text)?.to_le_bytes().into(),
        DType::I64 => integer::<i64>(dtype, text)?.to_le_bytes().into(),
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => float(dtype, text)?,
        DType::C64 | DType::C128 => {
            bail!("not a value of type {dtype} (allowed: re,im, or the bits as 0x…)")
        }
        _ => bail!("not a value of type {dtype} (allowed: the bits as 0x…)"),
    })
}

/// The type of the two parts of a complex number.
fn part(dtype: DType) -> Option<DType> {
    match dtype {
        DType::C64 => Some(DType::F32),
        DType::C128 => Some(DType::F64),
        _ => None,
    }
}

fn from_bits(dtype: DType, digits: &str) -> Result<Vec<u8>> {
    let wanted = 2 * dtype.bytes();
    let hexadecimal = digits.bytes().all(|d| d.is_ascii_hexdigit());
    ensure!(
        hexadecimal && digits.len() == wanted,
        "the bits of a value of type {dtype} are {wanted} hexadecimal digits after 0x"
    );
    let bits = u128::from_str_radix(digits, 16)?;
    ensure!(
        dtype != DType::Bool || bits < 2,
        "the bits of a value of type bool are 0x00 or 0x01"
    );
    Ok(bits.to_le_bytes()[..dtype.bytes()].into())
}

fn truth(text: &str) -> Result<u8> {
    match text {
        "false" | "0" => Ok(0),
        "true" | "1" => Ok(1),
        _ => bail!("not a value of type bool (allowed: true, false, 0, 1)"),
    }
}

fn integer<T: FromStr + Bounds>(dtype: DType, text: &str) -> Result<T> {
    text.parse().ok().with_context(|| {
        format!(
            "not a value of type {dtype} (allowed: {}..={}, or the bits as 0x…)",
            T::LEAST,
            T::GREATEST
        )
    })
}

/// The range of an integer type.
trait Bounds {
    const LEAST: i128;
    const GREATEST: i128;
}

macro_rules! bounds {
    ($($t:ty),*) => {$(
        impl Bounds for $t {
            const LEAST: i128 = <$t>::MIN as i128;
            const GREATEST: i128 = <$t>::MAX as i128;
        }
    )*};
}

bounds!(u8, i8, u16, i16, u32, i32, u64, i64);

/// A float, rounded once from its decimal text (to the halves, from the nearest f64).
fn float(dtype: DType, text: &str) -> Result<Vec<u8>> {
    let (bytes, infinite) = match dtype {
        DType::F16 => {
            let value = f16::from_f64(number(dtype, text)?);
            (value.to_le_bytes().to_vec(), value.is_infinite())
        }
        DType::BF16 => {
            let value = bf16::from_f64(number(dtype, text)?);
            (value.to_le_bytes().to_vec(), value.is_infinite())
        }
        DType::F32 => {
            let value: f32 = number(dtype, text)?;
            (value.to_le_bytes().to_vec(), value.is_infinite())
        }
        _ => {
            let value: f64 = number(dtype, text)?;
            (value.to_le_bytes().to_vec(), value.is_infinite())
        }
    };
    ensure!(
        !infinite || text.to_ascii_lowercase().contains("inf"),
        "too large for a value of type {dtype} (inf and -inf are values)"
    );
    Ok(bytes)
}

fn number<T: FromStr>(dtype: DType, text: &str) -> Result<T> {
    text.parse().ok().with_context(|| {
        format!(
            "not a value of type {dtype} (allowed: a number, nan, inf, -inf, or the bits as 0x…)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        let table: &[(DType, &str, &[u8])] = &[
            (DType::Bool, "true", &[1]),
            (DType::U8, "255", &[255]),
            (DType::I8, "-128", &[0x80]),
            (DType::I16, "-2", &[0xfe, 0xff]),
            (DType::U64, "18446744073709551615", &[0xff; 8]),
            (DType::F16, "1.5", &[0x00, 0x3e]),
            (DType::F16, "-inf", &[0x00, 0xfc]),
            (DType::BF16, "-2", &[0x00, 0xc0]),
            (DType::F32, "0.1", &[0xcd, 0xcc, 0xcc, 0x3d]),
            (DType::F32, "nan", &[0x00, 0x00, 0xc0, 0x7f]),
            (DType::F32, "0x7fc00001", &[0x01, 0x00, 0xc0, 0x7f]),
            (DType::F64, "-0", &[0, 0, 0, 0, 0, 0, 0, 0x80]),
            (DType::C64, "1,-1", &[0, 0, 0x80, 0x3f, 0, 0, 0x80, 0xbf]),
            (DType::C64, "0x00000001,0", &[1, 0, 0, 0, 0, 0, 0, 0]),
        ];
        for (dtype, text, bytes) in table {
            assert_eq!(element(*dtype, text).unwrap(), *bytes, "{dtype} {text}");
        }
    }

    #[test]
    fn printed_bits_read_back() {
        for dtype in DType::ALL {
            let ones = vec![1; dtype.bytes()];
            let text = Fill::from_bytes(&ones).to_string();
            assert_eq!(element(dtype, &text).unwrap(), ones, "{text}");
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let table = [
            (DType::Bool, "2"),
            (DType::Bool, "0x02"),
            (DType::U8, "256"),
            (DType::U8, "0x1"),
            (DType::I8, "1.0"),
            (DType::F16, "65520"),
            (DType::BF16, "1e39"),
            (DType::F32, "1e39"),
            (DType::F64, "1e309"),
            (DType::F32, "0x7fc0000g"),
            (DType::F32, "0x+fc00000"),
            (DType::F32, "1,2"),
            (DType::C64, "1"),
            (DType::C128, "1,2,3"),
            (DType::F32, ""),
        ];
        for (dtype, text) in table {
            assert!(element(dtype, text).is_err(), "{dtype} {text}");
        }
    }
}
