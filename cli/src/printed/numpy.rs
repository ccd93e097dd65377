//! Numbers as NumPy prints those of an array: all in one form, with their points in one column.
//!
//! As `FloatingFormat` of `numpy/_core/arrayprint.py` has it, with NumPy's defaults (`floatmode="maxprec"`):
//! at most `precision` digits after the point, fewer where fewer are enough for every number, and powers
//! of ten where numbers are large, or small, or a thousand times as large as others.

use wgpu_gather::DType;

use crate::printed::number::{Number, not_finite, shortest};

/// Digits after the point, at most, unless the user says otherwise.
pub(super) const PRECISION: usize = 8;

/// Numbers of a type as words of one length.
pub(super) fn words(dtype: DType, numbers: &[Number], precision: usize) -> Vec<String> {
    let floats = |part: fn(&Number) -> Option<f64>| numbers.iter().filter_map(part).collect();
    let real: Vec<f64> = floats(|number| match *number {
        Number::Float(value) | Number::Complex(value, _) => Some(value),
        _ => None,
    });
    let imaginary: Vec<f64> = floats(|number| match *number {
        Number::Complex(_, im) => Some(im),
        _ => None,
    });
    let real = Form::of(dtype, &real, precision, false);
    let imaginary = Form::of(dtype, &imaginary, precision, true);
    let word = |number: &Number| match *number {
        Number::Truth(true) => "True".to_owned(),
        Number::Truth(false) => "False".to_owned(),
        Number::Whole(number) => number.to_string(),
        Number::Float(value) => real.word(value),
        Number::Complex(re, im) => {
            let im = imaginary.word(im);
            let digits = im.trim_end();
            let blanks = &im[digits.len()..];
            format!("{}{digits}j{blanks}", real.word(re))
        }
    };
    numbers.iter().map(word).collect()
}

/// The form of the floats of an array.
struct Form {
    dtype: DType,
    precision: usize,
    /// With powers of ten, which have so many digits.
    exponent: Option<usize>,
    /// Characters before the point, and behind it.
    left: usize,
    right: usize,
    /// Whether a plus is written.
    signed: bool,
}

impl Form {
    fn of(dtype: DType, values: &[f64], precision: usize, signed: bool) -> Form {
        let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        let sizes = finite.iter().map(|v| v.abs()).filter(|&size| size > 0.0);
        let greatest = sizes.clone().fold(0.0, f64::max);
        let least = sizes.fold(f64::INFINITY, f64::min);
        let powers =
            greatest > 0.0 && (greatest >= 1e8 || least < 1e-4 || greatest / least > 1000.0);
        let mut form = Form {
            dtype,
            precision,
            exponent: None,
            left: 0,
            right: 0,
            signed,
        };
        if powers {
            let parts = finite.iter().map(|&value| form.scientific(value));
            let parts: Vec<[String; 3]> = parts.collect();
            let most = |part: usize| parts.iter().map(|p| p[part].len()).max().unwrap_or(0);
            let (whole, fraction, exponent) = (most(0), most(1), most(2).saturating_sub(1));
            form.precision = fraction;
            form.left = whole;
            // `e`, a sign and the digits.
            form.right = fraction + 2 + exponent;
            form.exponent = Some(exponent);
        } else {
            for &value in &finite {
                let (whole, fraction) = form.positional(value);
                form.left = form.left.max(whole.len());
                form.right = form.right.max(fraction.len());
            }
        }
        let others = values.iter().filter(|v| !v.is_finite());
        for &value in others {
            let word = form.not_finite(value);
            form.left = form.left.max(word.len().saturating_sub(form.right + 1));
        }
        form
    }

    fn word(&self, value: f64) -> String {
        let (left, right) = (self.left, self.right);
        if !value.is_finite() {
            return format!("{:>1$}", self.not_finite(value), left + 1 + right);
        }
        match self.exponent {
            Some(digits) => {
                // Zeros do not fill up what is short: those digits are exact ones.
                let exact = format!("{value:.*e}", self.precision);
                let [whole, fraction, exponent] = self.split(value, &exact);
                let (sign, exponent) = exponent.split_at(1);
                format!("{whole:>left$}.{fraction}e{sign}{exponent:0>digits$}")
            }
            None => {
                let (whole, fraction) = self.positional(value);
                format!("{whole:>left$}.{fraction:<right$}")
            }
        }
    }

    fn not_finite(&self, value: f64) -> String {
        let word = not_finite(value);
        // NumPy gives a plus to NaNs as well.
        let plus = match self.signed && !word.starts_with('-') {
            true => "+",
            false => "",
        };
        format!("{plus}{word}")
    }

    /// What stands before the point, and the digits behind it without zeros at the end.
    fn positional(&self, value: f64) -> (String, String) {
        let mut text = shortest(self.dtype, value).to_string();
        if fraction_of(&text).len() > self.precision {
            text = format!("{value:.*}", self.precision);
        }
        let [whole, fraction, _] = self.split(value, &text);
        (whole, fraction.trim_end_matches('0').to_owned())
    }

    /// The same of the number in front of a power of ten, and the exponent.
    fn scientific(&self, value: f64) -> [String; 3] {
        let mut text = format!("{:e}", shortest(self.dtype, value));
        if fraction_of(&text).len() > self.precision {
            text = format!("{value:.*e}", self.precision);
        }
        let [whole, fraction, exponent] = self.split(value, &text);
        [whole, fraction.trim_end_matches('0').to_owned(), exponent]
    }

    /// A text of `value` in parts: what stands before the point, the digits behind it, and the exponent, a
    /// sign and two digits or more.
    fn split(&self, value: f64, text: &str) -> [String; 3] {
        let (number, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let whole = number.split_once('.').map_or(number, |(whole, _)| whole);
        let plus = match self.signed && value.is_sign_positive() {
            true => "+",
            false => "",
        };
        [
            format!("{plus}{whole}"),
            fraction_of(text).to_owned(),
            match exponent.strip_prefix('-') {
                Some(digits) => format!("-{digits:0>2}"),
                None => format!("+{exponent:0>2}"),
            },
        ]
    }
}

/// The digits behind the point, without an exponent.
fn fraction_of(text: &str) -> &str {
    let (number, _) = text.split_once('e').unwrap_or((text, ""));
    number.split_once('.').map_or("", |(_, fraction)| fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As NumPy 2.4 prints the same arrays.
    fn printed(dtype: DType, values: &[f64], precision: usize) -> String {
        let numbers: Vec<Number> = values.iter().map(|&v| Number::Float(v)).collect();
        let words = words(dtype, &numbers, precision);
        format!("[{}]", words.join(" "))
    }

    #[test]
    fn floats_are_printed_as_numpy_prints_them() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let third = f64::from(1.0f32 / 3.0);
        for (values, text) in [
            (&[1.0, 2.5, 10.25, -3.0][..], "[ 1.    2.5  10.25 -3.  ]"),
            (
                &[f64::from(0.1f32), third, 2.0],
                "[0.1        0.33333334 2.        ]",
            ),
            (
                &[f64::from(0.001f32), 2.5, -1.0],
                "[ 1.0e-03  2.5e+00 -1.0e+00]",
            ),
            (&[f64::from(1e-5f32), 1.0], "[1.e-05 1.e+00]"),
            (&[1e8, 1.0], "[1.e+08 1.e+00]"),
            (&[f64::from(1e-45f32), 1.5], "[1.4e-45 1.5e+00]"),
            (
                &[f64::from(0.001f32), f64::from(123_456.79f32)],
                "[1.0000000e-03 1.2345679e+05]",
            ),
            (&[nan, 1.0, -inf], "[ nan   1. -inf]"),
            (&[nan, nan], "[nan nan]"),
            (&[inf, -inf], "[ inf -inf]"),
            (&[-0.0, 0.0], "[-0.  0.]"),
        ] {
            assert_eq!(printed(DType::F32, values, 8), text);
        }
        for (values, precision, text) in [
            (&[1e10, -1e-10, 0.0][..], 8, "[ 1.e+10 -1.e-10  0.e+00]"),
            (&[1e100, 1e-100], 8, "[1.e+100 1.e-100]"),
            (&[1.0 / 3.0, 2.0 / 3.0], 8, "[0.33333333 0.66666667]"),
            (&[1.0 / 3.0, 2.0 / 3.0], 3, "[0.333 0.667]"),
            (&[999.999_999_999_9, 1.0], 8, "[1000.    1.]"),
            (&[99_999_999.0, 1e6], 8, "[99999999.  1000000.]"),
            (
                &[0.000_123_456_789_12, 0.0001],
                8,
                "[0.00012346 0.0001    ]",
            ),
            (
                &[123_456.789_012_345, 123.4],
                8,
                "[1.23456789e+05 1.23400000e+02]",
            ),
            (&[1e300, nan], 8, "[1.e+300     nan]"),
            (&[0.5, 1e-3], 2, "[0.5 0. ]"),
            (&[1.0 / 3.0, 2e9], 2, "[3.33e-01 2.00e+09]"),
            (&[9.999_999_999, 1e9], 2, "[1.e+01 1.e+09]"),
            (&[0.999_999_999_99, 1e9], 2, "[1.e+00 1.e+09]"),
            (&[2.5, 0.5], 0, "[2. 0.]"),
        ] {
            assert_eq!(printed(DType::F64, values, precision), text);
        }
    }

    #[test]
    fn complex_numbers_have_a_column_for_each_part() {
        let words = |numbers: &[(f64, f64)]| {
            let numbers = numbers.iter().map(|&(re, im)| Number::Complex(re, im));
            words(DType::C128, &numbers.collect::<Vec<_>>(), 8).join(" ")
        };
        assert_eq!(words(&[(1.0, 2.0), (-1.5, -0.25)]), " 1. +2.j   -1.5-0.25j");
        let others = [(1.0, 2.0), (f64::NAN, f64::INFINITY)];
        assert_eq!(words(&others), " 1. +2.j nan+infj");
    }

    #[test]
    fn truths_and_integers() {
        let words = |numbers: &[Number]| words(DType::I8, numbers, 8).join(" ");
        assert_eq!(
            words(&[Number::Truth(true), Number::Truth(false)]),
            "True False"
        );
        assert_eq!(words(&[Number::Whole(-1), Number::Whole(100)]), "-1 100");
    }
}
