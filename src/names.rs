//! Names of the variants of an enumeration: the one way to list, print and parse them.

use crate::error::{Error, OpKind, Result, Role};

/// Gives an enumeration `ALL`, `name`, `Display` and `FromStr`, and serde's traits. `$what` says in errors what the name
/// is of.
macro_rules! named {
    ($type:ident, $what:literal, { $($names:tt)* }) => {
        $crate::error::listed!($type, { $($names)* });
        $crate::names::parsed!($type, $what);
    };
}

/// Gives an enumeration with `ALL` and `name` the traits that parse a name.
macro_rules! parsed {
    ($type:ident, $what:literal) => {
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

pub(crate) use {named, parsed};

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

// `error` names these, and cannot parse them: what parses gives its `Error`.
parsed!(OpKind, "operator");
parsed!(Role, "role");

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};
    use std::str::FromStr;

    use crate::quantized::{BlockFormat, CodeType, FloatType, ScaleType};
    use crate::{BagMode, DType, ElementsShapes, Error, IndexType, Negative, OpKind, Reduce, Role};

    /// Every name reads back in any case, no two variants share one, and the error for a name that none
    /// has lists them.
    fn read_back<T>(all: &[T], what: &str)
    where
        T: Copy + Debug + Display + PartialEq + FromStr<Err = Error>,
    {
        for &one in all {
            let name = one.to_string();
            assert_eq!(name.parse(), Ok(one));
            assert_eq!(name.to_ascii_uppercase().parse(), Ok(one));
            assert_eq!(name.to_ascii_lowercase().parse(), Ok(one));
        }
        let names: Vec<String> = all.iter().map(T::to_string).collect();
        let allowed = names.join(", ");
        assert_eq!(
            "no such".parse::<T>().unwrap_err().to_string(),
            format!("unknown {what} \"no such\" (allowed: {allowed})")
        );
    }

    #[test]
    fn names_read_back_and_errors_list_them() {
        read_back(&BagMode::ALL, "mode");
        read_back(&DType::ALL, "element type");
        read_back(&ElementsShapes::ALL, "elements_shapes");
        read_back(&IndexType::ALL, "index type");
        read_back(&Negative::ALL, "negative");
        read_back(&OpKind::ALL, "operator");
        read_back(&Reduce::ALL, "reduce");
        read_back(&Role::ALL, "role");
        read_back(&BlockFormat::ALL, "format");
        read_back(&CodeType::ALL, "code type");
        read_back(&FloatType::ALL, "float type");
        read_back(&ScaleType::ALL, "scale type");
        let error = "no such".parse::<Negative>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown negative \"no such\" (allowed: out-of-bounds, from-end)"
        );
    }
}
