//! What the elements of a tensor are like: the least, the greatest, their mean, and how many are no numbers.

use serde_json::{Value, json};
use wgpu_gather::DType;

use crate::printed::{Number, decoded, text};

/// Digits of a mean after the first.
const MEAN_DIGITS: usize = 6;

/// What is known of the elements that have come.
pub(super) struct Facts {
    dtype: DType,
    elements: usize,
    nans: usize,
    range: Option<Range>,
    /// The sum of the whole numbers, or the truths.
    whole: i128,
    /// The sums of the floats, or of the parts of complex numbers.
    parts: [Sum; 2],
}

/// The least and the greatest. Complex numbers have no order.
#[derive(Clone, Copy)]
enum Range {
    Truth(bool, bool),
    Whole(i128, i128),
    Float(f64, f64),
}

impl Facts {
    pub(super) fn new(dtype: DType) -> Self {
        Facts {
            dtype,
            elements: 0,
            nans: 0,
            range: None,
            whole: 0,
            parts: [Sum::default(); 2],
        }
    }

    /// Takes the elements that come next, whole ones.
    pub(super) fn take(&mut self, whole: &[u8]) {
        for element in whole.chunks(self.dtype.bytes()) {
            if let Some(number) = decoded(self.dtype, element) {
                self.add(number);
            }
        }
    }

    fn add(&mut self, number: Number) {
        self.elements += 1;
        match number {
            Number::Truth(truth) => {
                self.whole += i128::from(truth);
                self.range = Some(match self.range {
                    Some(Range::Truth(least, greatest)) => {
                        Range::Truth(least & truth, greatest | truth)
                    }
                    _ => Range::Truth(truth, truth),
                });
            }
            Number::Whole(number) => {
                self.whole += number;
                self.range = Some(match self.range {
                    Some(Range::Whole(least, greatest)) => {
                        Range::Whole(least.min(number), greatest.max(number))
                    }
                    _ => Range::Whole(number, number),
                });
            }
            Number::Float(value) if value.is_nan() => self.nans += 1,
            Number::Float(value) => {
                self.parts[0].add(value);
                self.range = Some(match self.range {
                    Some(Range::Float(least, greatest)) => {
                        Range::Float(least.min(value), greatest.max(value))
                    }
                    _ => Range::Float(value, value),
                });
            }
            Number::Complex(re, im) if re.is_nan() || im.is_nan() => self.nans += 1,
            Number::Complex(re, im) => {
                self.parts[0].add(re);
                self.parts[1].add(im);
            }
        }
    }

    /// The least and the greatest, if there are some.
    fn ends(&self) -> Option<[Number; 2]> {
        let ends = match self.range? {
            Range::Truth(least, greatest) => [least, greatest].map(Number::Truth),
            Range::Whole(least, greatest) => [least, greatest].map(Number::Whole),
            Range::Float(least, greatest) => [least, greatest].map(Number::Float),
        };
        Some(ends.map(|end| end.shortest(self.dtype)))
    }

    /// The mean of those that are numbers, if there are some.
    fn mean(&self) -> Option<Number> {
        let numbers = self.elements - self.nans;
        let of = |sum: f64| {
            let mean = sum / numbers as f64;
            format!("{mean:.MEAN_DIGITS$e}").parse().unwrap_or(mean)
        };
        let [re, im] = self.parts.map(|sum| of(sum.value()));
        (numbers > 0).then_some(match self.dtype {
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Number::Float(re),
            DType::C64 | DType::C128 => Number::Complex(re, im),
            _ => Number::Float(of(self.whole as f64)),
        })
    }

    /// Whether the type has NaNs.
    fn has_nans(&self) -> bool {
        use DType::{BF16, C64, C128, F16, F32, F64};
        matches!(self.dtype, F16 | BF16 | F32 | F64 | C64 | C128)
    }

    /// `least -3.0, greatest 10.25, mean 2.808333, no NaN`.
    pub(super) fn text(&self) -> String {
        if self.elements == 0 {
            return "no elements".to_owned();
        }
        let mut facts = Vec::new();
        if let Some([least, greatest]) = self.ends() {
            facts.push(format!("least {}", text(least, None)));
            facts.push(format!("greatest {}", text(greatest, None)));
        }
        if let Some(mean) = self.mean() {
            facts.push(format!("mean {}", text(mean, None)));
        }
        if self.has_nans() {
            facts.push(match self.nans {
                0 => "no NaN".to_owned(),
                1 => "1 NaN".to_owned(),
                nans => format!("{nans} NaNs"),
            });
        }
        facts.join(", ")
    }

    /// The same in fields. Infinities are null, as JSON has none.
    pub(super) fn json(&self) -> Value {
        let [least, greatest] = self.ends().map_or([None; 2], |ends| ends.map(Some));
        let json = |number: Option<Number>| number.map(Number::json);
        json!({
            "count": self.elements,
            "least": json(least),
            "greatest": json(greatest),
            "mean": json(self.mean()),
            "nans": self.nans,
        })
    }
}

/// A sum of floats that loses no more than its last digit (Neumaier's).
#[derive(Clone, Copy, Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        self.lost += match self.sum.abs() >= value.abs() {
            true => (self.sum - sum) + value,
            false => (value - sum) + self.sum,
        };
        self.sum = sum;
    }

    fn value(&self) -> f64 {
        // What an infinity loses is not a number.
        match self.sum.is_finite() {
            true => self.sum + self.lost,
            false => self.sum,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(dtype: DType, bytes: &[u8]) -> String {
        let mut facts = Facts::new(dtype);
        bytes
            .chunks(2 * dtype.bytes())
            .for_each(|some| facts.take(some));
        facts.text()
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    #[test]
    fn every_kind_of_number_has_its_facts() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        for (dtype, bytes, text) in [
            (
                DType::F32,
                f32s(&[1.0, -3.0, 0.1]),
                "least -3.0, greatest 1.0, mean -0.6333333, no NaN",
            ),
            (
                DType::F32,
                f32s(&[nan, 2.0, nan, 4.0]),
                "least 2.0, greatest 4.0, mean 3.0, 2 NaNs",
            ),
            (DType::F32, f32s(&[nan]), "1 NaN"),
            (
                DType::F32,
                f32s(&[inf, 1.0]),
                "least 1.0, greatest inf, mean inf, no NaN",
            ),
            (
                DType::I8,
                vec![0xff, 3, 4],
                "least -1, greatest 4, mean 2.0",
            ),
            (
                DType::U64,
                vec![0xff; 16],
                "least 18446744073709551615, greatest 18446744073709551615, mean 1.844674e19",
            ),
            (
                DType::Bool,
                vec![1, 0, 0, 0],
                "least False, greatest True, mean 0.25",
            ),
            (
                DType::C64,
                f32s(&[1.0, 2.0, 3.0, -4.0]),
                "mean 2.0-1.0j, no NaN",
            ),
            (DType::F64, vec![], "no elements"),
        ] {
            assert_eq!(facts(dtype, &bytes), text);
        }
    }

    #[test]
    fn a_mean_keeps_what_a_large_number_would_swallow() {
        let mut sum = Sum::default();
        [1e16, 1.0, 1.0, -1e16]
            .into_iter()
            .for_each(|value| sum.add(value));
        assert_eq!(sum.value(), 2.0);
    }
}
