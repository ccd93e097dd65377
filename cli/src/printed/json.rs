//! A tensor as JSON.

use serde_json::{Value, json};

use crate::printed::number::Number;

/// The numbers in nested arrays, as many levels as there are dims. JSON has no NaN and no infinity: they are
/// null. Complex numbers are pairs.
pub(super) fn nested(shape: &[usize], numbers: &[Number]) -> Value {
    let Some((&extent, inner)) = shape.split_first() else {
        return numbers.first().map_or(Value::Null, |number| number.json());
    };
    let len = numbers.len().checked_div(extent).unwrap_or(0);
    let entry = |n: usize| nested(inner, numbers.get(n * len..(n + 1) * len).unwrap_or(&[]));
    // Without numbers, a dim may have any extent.
    match numbers.is_empty() {
        true => json!([]),
        false => (0..extent).map(entry).collect(),
    }
}

impl Number {
    /// The number, null for what JSON does not have.
    pub(crate) fn json(self) -> Value {
        match self {
            Number::Truth(truth) => truth.into(),
            Number::Whole(whole) => match (i64::try_from(whole), u64::try_from(whole)) {
                (Ok(whole), _) => whole.into(),
                (_, Ok(whole)) => whole.into(),
                _ => Value::Null,
            },
            Number::Float(value) => value.into(),
            Number::Complex(re, im) => json!([re, im]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_dims() {
        let whole = |n: i128| Number::Whole(n);
        let numbers: Vec<Number> = (0..6).map(whole).collect();
        assert_eq!(nested(&[2, 3], &numbers), json!([[0, 1, 2], [3, 4, 5]]));
        assert_eq!(
            nested(&[1, 2, 3], &numbers),
            json!([[[0, 1, 2], [3, 4, 5]]])
        );
        assert_eq!(nested(&[], &[whole(u64::MAX.into())]), json!(u64::MAX));
        assert_eq!(nested(&[2, usize::MAX, 0], &[]), json!([]));
        let others = [
            Number::Float(0.5),
            Number::Float(f64::NAN),
            Number::Truth(true),
            Number::Complex(1.0, -2.0),
        ];
        assert_eq!(nested(&[4], &others), json!([0.5, null, true, [1.0, -2.0]]));
    }
}
