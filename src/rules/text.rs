//! Rules as text, and back.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::names;
use crate::rules::{Fill, OutOfBounds, Rules};
use crate::serial::serialized_as_text;

serialized_as_text!(OutOfBounds);
serialized_as_text!(Fill);

impl Rules {
    /// The preset of that name, in upper or lower case: one of [`Rules::PRESETS`].
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] for any other name. JAX's `fill` is none of them, as it needs an element
    /// type: [`Rules::jax_fill`].
    ///
    /// ```
    /// use wgpu_gather::Rules;
    ///
    /// assert_eq!(Rules::preset("torch"), Ok(Rules::TORCH));
    /// let error = Rules::preset("caffe").unwrap_err().to_string();
    /// assert!(error.starts_with("unknown rules \"caffe\" (allowed: tensorflow-gpu, "));
    /// ```
    pub fn preset(name: &str) -> Result<Rules> {
        names::parse("rules", Rules::PRESETS.iter().cloned(), name)
    }
}

/// The name of the preset, the first one if several are equal; else each of the rules.
///
/// ```
/// use wgpu_gather::{Negative, Rules};
///
/// assert_eq!(Rules::TORCH.to_string(), "torch");
/// assert_eq!(
///     Rules::TORCH.with_negative(Negative::FromEnd).to_string(),
///     "negative: from-end; out of bounds: error; elements shapes: torch"
/// );
/// ```
impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((name, _)) = Rules::PRESETS.iter().find(|(_, rules)| rules == self) {
            return f.pad(name);
        }
        write!(
            f,
            "negative: {}; out of bounds: {}; elements shapes: {}",
            self.negative, self.out_of_bounds, self.elements_shapes
        )
    }
}

/// `zero`, `clip`, `wrap`, `error`, or `fill=` and the value: `fill=0x7fc00000`.
impl fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutOfBounds::Fill(fill) => write!(f, "{}={fill}", self.name()),
            other => f.pad(other.name()),
        }
    }
}

impl FromStr for OutOfBounds {
    type Err = Error;

    /// From the text that it prints as. [`Error::UnknownName`] for any other.
    ///
    /// ```
    /// use wgpu_gather::{Fill, OutOfBounds};
    ///
    /// assert_eq!("clip".parse(), Ok(OutOfBounds::Clip));
    /// assert_eq!("fill=0x7fc00000".parse(), Ok(OutOfBounds::Fill(Fill::new(f32::NAN))));
    /// ```
    fn from_str(text: &str) -> Result<Self> {
        if let Some(value) = text.strip_prefix("fill=") {
            return value.parse().map(OutOfBounds::Fill);
        }
        let all = OutOfBounds::all(Fill::new(0u8)).into_iter();
        let plain = all.filter(|rule| !matches!(rule, OutOfBounds::Fill(_)));
        let found = names::parse("out_of_bounds", plain.map(|rule| (rule.name(), rule)), text);
        found.map_err(|mut error| {
            if let Error::UnknownName { allowed, .. } = &mut error {
                allowed.push("fill=0x…");
            }
            error
        })
    }
}

/// The bits of the element as one number: `0x` and two hexadecimal digits for each byte.
impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        highest_first(self.bytes().to_vec())
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fill {
    type Err = Error;

    /// From the text that it prints as. [`Error::UnknownName`] for any other.
    fn from_str(text: &str) -> Result<Self> {
        let digits = text.strip_prefix("0x").filter(|digits| {
            digits.len().is_multiple_of(2) && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        let bytes = digits.and_then(|digits| {
            let pairs = (0..digits.len()).step_by(2).map(|at| &digits[at..at + 2]);
            let bytes = pairs.map(|pair| u8::from_str_radix(pair, 16));
            bytes.collect::<Result<Vec<u8>, _>>().ok()
        });
        match bytes {
            Some(bytes) => Ok(Fill::from_bytes(&highest_first(bytes))),
            None => Err(Error::UnknownName {
                what: "fill value",
                name: text.to_owned(),
                allowed: vec!["0x and two hexadecimal digits for each byte"],
            }),
        }
    }
}

/// Bytes in this machine's order, the highest first; and back.
fn highest_first(mut bytes: Vec<u8>) -> Vec<u8> {
    if cfg!(target_endian = "little") {
        bytes.reverse();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, ElementsShapes, Negative};

    #[test]
    fn presets_are_found_by_name_and_print_one_of_their_names() {
        for (name, rules) in Rules::PRESETS {
            assert_eq!(Rules::preset(name).as_ref(), Ok(rules));
            assert_eq!(Rules::preset(&rules.to_string()).as_ref(), Ok(rules));
        }
        // The first of those that are equal.
        assert_eq!(Rules::NUMPY.to_string(), "onnx");
        assert_eq!(format!("{:>6}|", Rules::XLA), "   xla|");
        assert!(Rules::preset("jax-fill").is_err());
    }

    #[test]
    fn other_rules_print_their_parts() {
        let rules = Rules::jax_fill(DType::F32).with_elements_shapes(ElementsShapes::Torch);
        assert_eq!(
            rules.with_negative(Negative::OutOfBounds).to_string(),
            "negative: out-of-bounds; out of bounds: fill=0x7fc00000; elements shapes: torch"
        );
    }

    #[test]
    fn out_of_bounds_reads_back() {
        for fill in [
            Fill::new(-2i16),
            Fill::new([1.5f32; 5]),
            Fill::from_bytes(&[]),
        ] {
            for rule in OutOfBounds::all(fill) {
                assert_eq!(rule.to_string().parse(), Ok(rule));
            }
        }
        assert_eq!(
            OutOfBounds::Fill(Fill::new(-2i16)).to_string(),
            "fill=0xfffe"
        );
        let error = |text: &str| text.parse::<OutOfBounds>().unwrap_err().to_string();
        let text = error("fill");
        let known = "unknown out_of_bounds \"fill\" (allowed: zero, clip, ";
        assert!(text.starts_with(known), "{text}");
        assert!(text.ends_with(", error, fill=0x…)"), "{text}");
        for wrong in ["", "7", "0x1", "0x+1", "0x0g", "0xü"] {
            assert_eq!(
                error(&format!("fill={wrong}")),
                format!(
                    "unknown fill value \"{wrong}\" (allowed: 0x and two hexadecimal digits for each byte)"
                )
            );
        }
    }
}
