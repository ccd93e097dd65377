//! The feature `serde`: types that serialize as the text that they print, and deserialize by parsing it.

/// Serializes a type with `Display`, and deserializes it with `FromStr`.
macro_rules! serialized_as_text {
    ($type:ident) => {
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::serial::Text::default())
            }
        }
    };
}

pub(crate) use serialized_as_text;

/// Parses the text of a `T`.
#[cfg(feature = "serde")]
pub(crate) struct Text<T>(std::marker::PhantomData<T>);

#[cfg(feature = "serde")]
impl<T> Default for Text<T> {
    fn default() -> Self {
        Text(std::marker::PhantomData)
    }
}

#[cfg(feature = "serde")]
impl<T: std::str::FromStr<Err = crate::Error>> serde::de::Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use std::fmt::Debug;

    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, from_value, json, to_value};

    use crate::quantized::{BlockFormat, CodeType, FloatType, ScaleType};
    use crate::{
        BagMode, DType, ElementsShapes, Fill, IndexType, Negative, Op, OpKind, OutOfBounds, Reduce,
        Role, Rules,
    };

    fn round_trip<T: Debug + PartialEq + Serialize + DeserializeOwned>(values: &[T]) {
        for value in values {
            let text = serde_json::to_string(value).unwrap();
            assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
        }
    }

    fn error<T: Debug + DeserializeOwned>(json: Value) -> String {
        from_value::<T>(json).unwrap_err().to_string()
    }

    #[test]
    fn enumerations_are_their_names() {
        round_trip(&BagMode::ALL);
        round_trip(&DType::ALL);
        round_trip(&ElementsShapes::ALL);
        round_trip(&IndexType::ALL);
        round_trip(&Negative::ALL);
        round_trip(&OpKind::ALL);
        round_trip(&Reduce::ALL);
        round_trip(&Role::ALL);
        round_trip(&BlockFormat::ALL);
        round_trip(&CodeType::ALL);
        round_trip(&FloatType::ALL);
        round_trip(&ScaleType::ALL);
        assert_eq!(to_value(DType::BF16).unwrap(), json!("bf16"));
        assert_eq!(
            error::<Reduce>(json!("sum")),
            "unknown reduce \"sum\" (allowed: none, add, mul, min, max)"
        );
        assert_eq!(
            error::<BagMode>(json!(1)),
            "invalid type: integer `1`, expected a string"
        );
    }

    #[test]
    fn operators_are_their_attributes() {
        let ops = [
            Op::gather(-1),
            Op::Gather {
                axis: None,
                batch_dims: -2,
            },
            Op::GatherNd { batch_dims: 1 },
            Op::gather_elements(3),
        ];
        round_trip(&ops);
        let values = ops.map(|op| to_value(op).unwrap());
        assert_eq!(
            values,
            [
                json!({"gather": {"axis": -1, "batch_dims": 0}}),
                json!({"gather": {"axis": null, "batch_dims": -2}}),
                json!({"gather_nd": {"batch_dims": 1}}),
                json!({"gather_elements": {"axis": 3}}),
            ]
        );
        // What is left out is as the constructors have it.
        assert_eq!(
            from_value::<Op>(json!({"gather_nd": {}})).unwrap(),
            Op::gather_nd()
        );
        assert_eq!(
            from_value::<Op>(json!({"gather": {"axis": 1}})).unwrap(),
            Op::gather(1)
        );
        let misspelt = error::<Op>(json!({"gather": {"axis": 1, "batch_dim": 1}}));
        assert!(misspelt.contains("unknown field `batch_dim`"), "{misspelt}");
        assert!(from_value::<Op>(json!({"gather_elements": {}})).is_err());
    }

    #[test]
    fn rules_are_their_parts() {
        let presets: Vec<Rules> = Rules::PRESETS
            .iter()
            .map(|(_, rules)| rules.clone())
            .collect();
        round_trip(&presets);
        round_trip(&DType::ALL.map(Rules::jax_fill));
        round_trip(&OutOfBounds::all(Fill::new([1u16, 2, 3])));
        round_trip(&[Fill::from_bytes(&[]), Fill::new(-0.0f64)]);
        assert_eq!(
            to_value(Rules::jax_fill(DType::F32)).unwrap(),
            json!({
                "negative": "from-end",
                "out_of_bounds": "fill=0x7fc00000",
                "elements_shapes": "onnx",
            })
        );
        // What is left out is as in the default.
        assert_eq!(
            from_value::<Rules>(json!({"out_of_bounds": "clip"})).unwrap(),
            Rules::XLA
        );
        let misspelt = error::<Rules>(json!({"out-of-bounds": "clip"}));
        assert!(
            misspelt.contains("unknown field `out-of-bounds`"),
            "{misspelt}"
        );
        assert_eq!(
            error::<Rules>(json!({"out_of_bounds": "fill=nan"})),
            "unknown fill value \"nan\" (allowed: 0x and two hexadecimal digits for each byte)"
        );
    }
}
