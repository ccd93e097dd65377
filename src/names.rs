//! Names of the variants of an enumeration: the one way to list, print and parse them.

use crate::error::{Error, OpKind, Result, Role};

/// Gives an enumeration `ALL`, `name`, `Display` and `FromStr`, and serde's traits. `$what` says in errors what the name
/// is of.
macro_rules! named {
    ($type:ident, $what:literal, { $first:ident $first_name:literal, $($variant:ident $name:literal,)* }) => {
        impl $type {
            /// All variants, in the order of their declaration.
            pub const ALL: [$type; [$type::$first, $($type::$variant),*].len()] =
                [$type::$first, $($type::$variant),*];

            #[doc = concat!("The name: `", $first_name, "`", $(", `", $name, "`",)* ".")]
            pub const fn name(self) -> &'static str {
                match self {
                    $type::$first => $first_name,
                    $($type::$variant => $name,)*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            /// By its name, in upper or lower case. [`Error::UnknownName`](crate::Error::UnknownName)
            /// for any other.
            fn from_str(name: &str) -> $crate::Result<Self> {
                $crate::names::parse($what, $type::ALL.map(|one| (one.name(), one)), name)
            }
        }

        $crate::serial::serialized_as_text!($type);
    };
}

pub(crate) use named;

/// The value of that name, in upper or lower case.
pub(crate) fn parse<T>(
    what: &'static str,
    all: impl IntoIterator<Item = (&'static str, T)>,
    name: &str,
) -> Result<T> {
    let mut allowed = Vec::new();
    for (one, value) in all {
        if one.eq_ignore_ascii_case(name) {
            return Ok(value);
        }
        allowed.push(one);
    }
    Err(Error::UnknownName {
        what,
        name: name.to_owned(),
        allowed,
    })
}

// Those of `error` stand here: it would import what imports its `Error`.
named!(OpKind, "operator", {
    Gather "gather",
    GatherNd "gather_nd",
    GatherElements "gather_elements",
    Scatter "scatter",
    ScatterNd "scatter_nd",
    ScatterElements "scatter_elements",
    EmbeddingBag "embedding_bag",
});

named!(Role, "role", {
    Params "params",
    Indices "indices",
    Output "output",
    Codes "codes",
    Scales "scales",
    ZeroPoints "zero points",
    Updates "updates",
    Offsets "offsets",
    Weights "weights",
    Tensor "tensor",
});

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};
    use std::str::FromStr;

    use crate::quantized::{BlockFormat, CodeType, FloatType, ScaleType};
    use crate::{BagMode, DType, ElementsShapes, Error, IndexType, Negative, OpKind, Reduce, Role};

    /// Every name reads back in any case, and no two variants share one. Gives the error for a name
    /// that none has.
    fn read_back<T>(all: &[T]) -> String
    where
        T: Copy + Debug + Display + PartialEq + FromStr<Err = Error>,
    {
        for &one in all {
            let name = one.to_string();
            assert_eq!(name.parse(), Ok(one));
            assert_eq!(name.to_ascii_uppercase().parse(), Ok(one));
            assert_eq!(name.to_ascii_lowercase().parse(), Ok(one));
        }
        "no such".parse::<T>().unwrap_err().to_string()
    }

    #[test]
    fn names_read_back_and_errors_list_them() {
        let texts = [
            read_back(&BagMode::ALL),
            read_back(&DType::ALL),
            read_back(&ElementsShapes::ALL),
            read_back(&IndexType::ALL),
            read_back(&Negative::ALL),
            read_back(&OpKind::ALL),
            read_back(&Reduce::ALL),
            read_back(&Role::ALL),
            read_back(&BlockFormat::ALL),
            read_back(&CodeType::ALL),
            read_back(&FloatType::ALL),
            read_back(&ScaleType::ALL),
        ];
        assert_eq!(
            texts,
            [
                "unknown mode \"no such\" (allowed: sum, mean, max)",
                "unknown element type \"no such\" (allowed: bool, u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64, c64, c128)",
                "unknown elements_shapes \"no such\" (allowed: onnx, torch)",
                "unknown index type \"no such\" (allowed: i32, u32, i64, u64)",
                "unknown negative \"no such\" (allowed: out-of-bounds, from-end)",
                "unknown operator \"no such\" (allowed: gather, gather_nd, gather_elements, scatter, scatter_nd, scatter_elements, embedding_bag)",
                "unknown reduce \"no such\" (allowed: none, add, mul, min, max)",
                "unknown role \"no such\" (allowed: params, indices, output, codes, scales, zero points, updates, offsets, weights, tensor)",
                "unknown format \"no such\" (allowed: Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, MXFP4, F16, BF16)",
                "unknown code type \"no such\" (allowed: u2, u4, u8, i2, i4, i8, e4m3)",
                "unknown float type \"no such\" (allowed: f32, f16, bf16)",
                "unknown scale type \"no such\" (allowed: f32, f16, bf16, e8m0)",
            ]
        );
    }
}
