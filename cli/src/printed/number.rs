//! Elements as numbers, whatever their type, and the fewest digits that tell one from its neighbours.

use half::{bf16, f16};
use wgpu_gather::DType;

/// An element as a number. Floats are exact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Truth(bool),
    Whole(i128),
    Float(f64),
    /// Real and imaginary part.
    Complex(f64, f64),
}

/// The number that `bytes` are, one element of `dtype`; nothing for a type that is not known here.
pub(crate) fn decoded(dtype: DType, bytes: &[u8]) -> Option<Number> {
    fn of<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.try_into().ok()
    }
    let half = DType::bytes(dtype) / 2;
    Some(match dtype {
        DType::Bool => Number::Truth(of::<1>(bytes)? != [0]),
        DType::U8 => Number::Whole(u8::from_le_bytes(of(bytes)?).into()),
        DType::I8 => Number::Whole(i8::from_le_bytes(of(bytes)?).into()),
        DType::U16 => Number::Whole(u16::from_le_bytes(of(bytes)?).into()),
        DType::I16 => Number::Whole(i16::from_le_bytes(of(bytes)?).into()),
        DType::U32 => Number::Whole(u32::from_le_bytes(of(bytes)?).into()),
        DType::I32 => Number::Whole(i32::from_le_bytes(of(bytes)?).into()),
        DType::U64 => Number::Whole(u64::from_le_bytes(of(bytes)?).into()),
        DType::I64 => Number::Whole(i64::from_le_bytes(of(bytes)?).into()),
        DType::F16 => Number::Float(f16::from_le_bytes(of(bytes)?).into()),
        DType::BF16 => Number::Float(bf16::from_le_bytes(of(bytes)?).into()),
        DType::F32 => Number::Float(f32::from_le_bytes(of(bytes)?).into()),
        DType::F64 => Number::Float(f64::from_le_bytes(of(bytes)?)),
        DType::C64 => Number::Complex(
            f32::from_le_bytes(of(bytes.get(..half)?)?).into(),
            f32::from_le_bytes(of(bytes.get(half..)?)?).into(),
        ),
        DType::C128 => Number::Complex(
            f64::from_le_bytes(of(bytes.get(..half)?)?),
            f64::from_le_bytes(of(bytes.get(half..)?)?),
        ),
        _ => return None,
    })
}

impl Number {
    /// The same with the decimal value of floats that has the fewest digits and still means this element
    /// of `dtype`: f32 has 0.1, which is 0.100000001490116… exactly.
    pub(crate) fn shortest(self, dtype: DType) -> Number {
        match self {
            Number::Float(value) => Number::Float(shortest(dtype, value)),
            Number::Complex(re, im) => Number::Complex(shortest(dtype, re), shortest(dtype, im)),
            other => other,
        }
    }
}

/// As one of many in a file: `1.5`, `-3`, `True`, `1.0+2.0j`; with so many digits after the point, if they
/// are given.
pub(crate) fn text(number: Number, precision: Option<usize>) -> String {
    let float = |value: f64| match precision {
        _ if !value.is_finite() => not_finite(value).to_owned(),
        Some(digits) => format!("{value:.digits$}"),
        None => format!("{value:?}"),
    };
    match number {
        Number::Truth(true) => "True".to_owned(),
        Number::Truth(false) => "False".to_owned(),
        Number::Whole(number) => number.to_string(),
        Number::Float(value) => float(value),
        Number::Complex(re, im) => {
            let sign = if im.is_sign_negative() && !im.is_nan() {
                ""
            } else {
                "+"
            };
            format!("{}{sign}{}j", float(re), float(im))
        }
    }
}

/// `nan`, `inf`, `-inf`.
pub(super) fn not_finite(value: f64) -> &'static str {
    match (value.is_nan(), value > 0.0) {
        (true, _) => "nan",
        (false, true) => "inf",
        (false, false) => "-inf",
    }
}

/// The decimal with the fewest digits that still means `value` of `dtype`.
pub(super) fn shortest(dtype: DType, value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    let parsed = |text: String| text.parse().unwrap_or(value);
    match dtype {
        DType::F32 | DType::C64 => parsed((value as f32).to_string()),
        DType::F16 => fewest_digits(value, |other| f16::from_f64(other).into()),
        DType::BF16 => fewest_digits(value, |other| bf16::from_f64(other).into()),
        _ => value,
    }
}

/// The decimal with the fewest digits that `rounded` makes `value` of.
fn fewest_digits(value: f64, rounded: impl Fn(f64) -> f64) -> f64 {
    let with = |digits: usize| format!("{value:.digits$e}").parse().unwrap_or(value);
    let mut decimals = (0..f64::DIGITS as usize).map(with);
    decimals
        .find(|&decimal| rounded(decimal) == value)
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_read_by_their_type() {
        for (dtype, bytes, number) in [
            (DType::Bool, &[1][..], Number::Truth(true)),
            (DType::I8, &[0xff], Number::Whole(-1)),
            (DType::U16, &[0xff, 0xff], Number::Whole(65535)),
            (DType::F16, &[0x00, 0xc0], Number::Float(-2.0)),
            (DType::BF16, &[0x80, 0x3f], Number::Float(1.0)),
            (DType::U64, &[0xff; 8], Number::Whole(u64::MAX.into())),
            (DType::I64, &[0xff; 8], Number::Whole(-1)),
            (
                DType::C64,
                &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0],
                Number::Complex(1.0, -2.0),
            ),
        ] {
            assert_eq!(decoded(dtype, bytes), Some(number), "{dtype}");
        }
        assert_eq!(decoded(DType::F32, &[0; 3]), None);
        for dtype in DType::ALL {
            assert!(decoded(dtype, &vec![0; dtype.bytes()]).is_some(), "{dtype}");
        }
    }

    #[test]
    fn floats_have_the_digits_of_their_type() {
        let shown = |dtype, value: f64| text(Number::Float(value).shortest(dtype), None);
        assert_eq!(shown(DType::F32, 0.1f32.into()), "0.1");
        assert_eq!(shown(DType::F64, 0.1f32.into()), "0.10000000149011612");
        assert_eq!(shown(DType::F16, f16::from_f32(0.1).into()), "0.1");
        // As NumPy prints numpy.float16(0.3333): the next one below is 0.333.
        assert_eq!(shown(DType::F16, f16::from_f32(1.0 / 3.0).into()), "0.3333");
        assert_eq!(shown(DType::BF16, bf16::from_f32(2.7).into()), "2.7");
        assert_eq!(shown(DType::F16, 65504.0), "65500.0");
        assert_eq!(shown(DType::F32, f64::NEG_INFINITY), "-inf");
    }

    #[test]
    fn numbers_of_files() {
        assert_eq!(text(Number::Float(2.0), None), "2.0");
        assert_eq!(text(Number::Float(2.0 / 3.0), Some(3)), "0.667");
        assert_eq!(text(Number::Float(f64::NAN), Some(3)), "nan");
        assert_eq!(text(Number::Whole(-7), Some(3)), "-7");
        assert_eq!(text(Number::Truth(false), None), "False");
        assert_eq!(text(Number::Complex(1.0, -2.5), None), "1.0-2.5j");
        assert_eq!(text(Number::Complex(0.0, f64::INFINITY), None), "0.0+infj");
    }
}
