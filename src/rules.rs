//! What an index may be, and what happens where it is not.
//!
//! One predicate decides for every executor: [`Rules::resolve`] here, `resolve` in
//! `shaders/index.wgsl` on the device. It looks at one coordinate at a time, at full index width.

mod fill;
mod text;

pub use fill::Fill;

use crate::element::DType;
use crate::names::named;

/// What a negative index means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Negative {
    /// It is out of bounds (TensorFlow, torch).
    #[default]
    OutOfBounds,
    /// `-s..=-1` count from the end of an axis of extent `s`, once (ONNX, NumPy).
    FromEnd,
}

/// The result of an out-of-bounds index.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum OutOfBounds {
    /// All-zero bits for the whole slice: what TensorFlow documents for GPUs.
    #[default]
    Zero,
    /// A value of the element type, in every element of the slice.
    Fill(Fill),
    /// The nearest valid element: a negative index reads the first, a large one the last.
    Clip,
    /// The index modulo the extent, which is never negative (`numpy.take(mode="wrap")`).
    Wrap,
    /// The call fails with [`Error::IndexOutOfBounds`](crate::Error::IndexOutOfBounds).
    Error,
}

named!(Negative, "negative", {
    OutOfBounds "out-of-bounds",
    FromEnd "from-end",
});

impl OutOfBounds {
    /// Each of the rules, that with a value with this one.
    pub fn all(fill: Fill) -> [OutOfBounds; 5] {
        [
            OutOfBounds::Zero,
            OutOfBounds::Fill(fill),
            OutOfBounds::Clip,
            OutOfBounds::Wrap,
            OutOfBounds::Error,
        ]
    }

    /// Whether it takes a division, which in a shader is a loop (`modulo` in `shaders/index.wgsl`).
    pub(crate) fn divides(&self) -> bool {
        *self == OutOfBounds::Wrap
    }

    /// Whether it moves a bad index to a valid one, so that every lookup finds an element.
    pub const fn moves(&self) -> bool {
        match self {
            OutOfBounds::Clip | OutOfBounds::Wrap => true,
            OutOfBounds::Zero | OutOfBounds::Fill(_) | OutOfBounds::Error => false,
        }
    }

    /// What happens to a bad index, as the end of a sentence about it.
    pub(crate) const fn effect(&self) -> &'static str {
        match self {
            OutOfBounds::Zero => "gives zeros",
            OutOfBounds::Fill(_) => "gives the fill value",
            OutOfBounds::Clip => "is clipped",
            OutOfBounds::Wrap => "wraps around",
            OutOfBounds::Error => "is an error",
        }
    }

    /// The name: `zero`, `fill`, `clip`, `wrap`, `error`.
    pub const fn name(&self) -> &'static str {
        match self {
            OutOfBounds::Zero => "zero",
            OutOfBounds::Fill(_) => "fill",
            OutOfBounds::Clip => "clip",
            OutOfBounds::Wrap => "wrap",
            OutOfBounds::Error => "error",
        }
    }
}

/// Which shapes `gather_elements` accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ElementsShapes {
    /// Ranks at least 1 and equal, indices no larger than params off the axis (ONNX).
    #[default]
    Onnx,
    /// The same, but a 0-d tensor acts as shape `[1]`, and empty indices give an empty output of
    /// their shape whatever the rank and dims of params (torch).
    Torch,
}

named!(ElementsShapes, "elements_shapes", {
    Onnx "onnx",
    Torch "torch",
});

/// How a gather treats its indices.
///
/// The default is [`Rules::TENSORFLOW_GPU`]: negative indices are out of bounds, and what is out
/// of bounds gives zeros.
///
/// ```
/// use wgpu_gather::{Fill, OutOfBounds, Rules};
///
/// let rules = Rules::NUMPY.with_out_of_bounds(OutOfBounds::Fill(Fill::new(f32::NAN)));
/// assert_eq!(rules.resolve(-1, 10), Some(9));
/// assert_eq!(rules.resolve(10, 10), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct Rules {
    /// What a negative index means.
    pub negative: Negative,
    /// The result of an out-of-bounds index.
    pub out_of_bounds: OutOfBounds,
    /// Which shapes `gather_elements` accepts.
    pub elements_shapes: ElementsShapes,
}

macro_rules! presets {
    ($($(#[$doc:meta])* $name:ident $text:literal $negative:ident $oob:ident $shapes:ident;)*) => {
        impl Rules {
            $($(#[$doc])*
            pub const $name: Rules = Rules {
                negative: Negative::$negative,
                out_of_bounds: OutOfBounds::$oob,
                elements_shapes: ElementsShapes::$shapes,
            };)*

            /// The presets that need no element type, with the names that [`Rules::preset`] and the
            /// command take.
            pub const PRESETS: &'static [(&'static str, Rules)] =
                &[$(($text, Rules::$name)),*];
        }
    };
}

presets! {
    /// `tf.gather` and `tf.gather_nd` on a GPU: an index outside `0..extent` gives zeros.
    ///
    /// Source: the documentation of both ("On GPU, if an out of bound index is found, a 0 is
    /// stored"). TensorFlow has GPU kernels for some element types only; for the others its CPU
    /// kernel runs and raises, where these rules still give zeros.
    TENSORFLOW_GPU "tensorflow-gpu" OutOfBounds Zero Onnx;
    /// `tf.gather` and `tf.gather_nd` on a CPU: an index outside `0..extent` is an error.
    ///
    /// TensorFlow also refuses a `gather_nd` of more than 0 entries from params without elements
    /// even if the result is empty, and `batch_dims + depth > 7`; these rules do not.
    TENSORFLOW_CPU "tensorflow-cpu" OutOfBounds Error Onnx;
    /// TensorFlow under XLA (`jit_compile=True`), and StableHLO's gather: clamped per coordinate,
    /// so a negative index reads the first element.
    XLA "xla" OutOfBounds Clip Onnx;
    /// ONNX Gather-13, GatherElements-13, GatherND-13: `-s..=s-1`, anything else is an error.
    ///
    /// ONNX Runtime's CPU kernel of Gather reports a bad index even where the output is empty;
    /// here nothing is read for an empty output, so nothing is reported.
    ONNX "onnx" FromEnd Error Onnx;
    /// ONNX Runtime's CUDA kernel of Gather: `-s..=s-1`, anything else gives zeros.
    ONNX_CUDA "onnx-cuda" FromEnd Zero Onnx;
    /// `torch.gather` and `torch.index_select`: an index outside `0..extent` is an error; 0-d
    /// tensors act as shape `[1]` and empty indices are not compared with params.
    TORCH "torch" OutOfBounds Error Torch;
    /// `numpy.take` and `numpy.take_along_axis`: `-s..=s-1`, anything else is an error.
    ///
    /// NumPy's `take_along_axis` broadcasts params and indices against each other; pass broadcast
    /// views for that.
    NUMPY "numpy" FromEnd Error Onnx;
    /// `numpy.take(mode="wrap")`: modulo the extent.
    NUMPY_WRAP "numpy-wrap" OutOfBounds Wrap Onnx;
    /// `numpy.take(mode="clip")`: clamped, so negative indices read the first element.
    NUMPY_CLIP "numpy-clip" OutOfBounds Clip Onnx;
    /// `jax.numpy.take(mode="clip")`: clamped, so negative indices read the first element.
    JAX_CLIP "jax-clip" OutOfBounds Clip Onnx;
    /// WebNN `gather`, `gatherElements`, `gatherND` as the web platform tests expect them:
    /// negative indices count from the end once, what is still outside is clamped.
    ///
    /// WebNN wants indices of `gatherElements` to equal params off the axis and has no zero-size
    /// dims; these rules also accept smaller indices and empty tensors.
    WEBNN "webnn" FromEnd Clip Onnx;
    /// OpenVINO Gather-7: an index outside `0..extent` gives zeros.
    OPENVINO_7 "openvino-7" OutOfBounds Zero Onnx;
    /// OpenVINO Gather-8: `-s..=s-1`, anything else gives zeros.
    OPENVINO_8 "openvino-8" FromEnd Zero Onnx;
}

impl Rules {
    /// These two, with the shapes of ONNX.
    pub const fn new(negative: Negative, out_of_bounds: OutOfBounds) -> Rules {
        Rules {
            negative,
            out_of_bounds,
            elements_shapes: ElementsShapes::Onnx,
        }
    }

    /// The same, but for what a negative index means.
    pub fn with_negative(self, negative: Negative) -> Rules {
        Rules { negative, ..self }
    }

    /// The same, but for what an index out of bounds gives.
    pub fn with_out_of_bounds(self, out_of_bounds: OutOfBounds) -> Rules {
        Rules {
            out_of_bounds,
            ..self
        }
    }

    /// The same, but for the shapes that `gather_elements` accepts.
    pub fn with_elements_shapes(self, elements_shapes: ElementsShapes) -> Rules {
        Rules {
            elements_shapes,
            ..self
        }
    }

    /// `jax.numpy.take`'s default mode, `fill`: negative indices count from the end once, what is
    /// still outside gives NaN (floats), the least value (signed), the greatest value (unsigned),
    /// `true` (bool) or NaN + 0i (complex).
    pub fn jax_fill(dtype: DType) -> Rules {
        let fill = Fill::from_bytes(&dtype.missing());
        Rules::NUMPY.with_out_of_bounds(OutOfBounds::Fill(fill))
    }

    /// The coordinate that `index` selects on an axis of `extent`, or `None` where the output
    /// holds zeros or the fill value (or the call fails).
    ///
    /// Negative indices are counted from the end first, if they are to be; what is then still
    /// outside is clipped or wrapped, if it is to be. An axis of extent 0 has no coordinate.
    #[inline]
    pub fn resolve(&self, index: i128, extent: usize) -> Option<usize> {
        // What lies inside means the same under every rule.
        if (0..extent as i128).contains(&index) {
            return Some(index as usize);
        }
        self.resolve_outside(index, extent as i128)
    }

    /// Whether `index` lies outside an axis of `extent`, whatever the rules then make of it: where
    /// negative indices count from the end, `-extent..extent` lies inside.
    pub(crate) fn is_bad(&self, index: i128, extent: usize) -> bool {
        let from_end = index < 0 && self.negative == Negative::FromEnd;
        let index = if from_end {
            index + extent as i128
        } else {
            index
        };
        !(0..extent as i128).contains(&index)
    }

    #[cold]
    fn resolve_outside(&self, index: i128, extent: i128) -> Option<usize> {
        let index = match self.negative {
            Negative::FromEnd if index < 0 => index + extent,
            _ => index,
        };
        if extent == 0 {
            return None;
        }
        let coordinate = match self.out_of_bounds {
            OutOfBounds::Clip => index.clamp(0, extent - 1),
            OutOfBounds::Wrap => index.rem_euclid(extent),
            OutOfBounds::Zero | OutOfBounds::Fill(_) | OutOfBounds::Error => index,
        };
        (0..extent)
            .contains(&coordinate)
            .then_some(coordinate as usize)
    }

    /// The rules for reading where bad indices lead, which a value to fill with says nothing of.
    pub(crate) fn without_fill(&self) -> Rules {
        match self.out_of_bounds {
            OutOfBounds::Fill(_) => self.clone().with_out_of_bounds(OutOfBounds::Zero),
            _ => self.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_predicate_by_hand() {
        use OutOfBounds as O;
        let table = [
            // index, zero/out, zero/from end, clip/out, clip/from end, wrap
            (0i128, Some(0), Some(0), Some(0), Some(0), Some(0)),
            (4, Some(4), Some(4), Some(4), Some(4), Some(4)),
            (5, None, None, Some(4), Some(4), Some(0)),
            (-1, None, Some(4), Some(0), Some(4), Some(4)),
            (-5, None, Some(0), Some(0), Some(0), Some(0)),
            (-6, None, None, Some(0), Some(0), Some(4)),
            (-11, None, None, Some(0), Some(0), Some(4)),
            (1 << 32, None, None, Some(4), Some(4), Some(1)),
            ((1 << 32) + 2, None, None, Some(4), Some(4), Some(3)),
            (i128::from(i64::MIN), None, None, Some(0), Some(0), Some(2)),
            (i128::from(u64::MAX), None, None, Some(4), Some(4), Some(0)),
        ];
        for (index, zero_out, zero_end, clip_out, clip_end, wrap) in table {
            let got = |n, o| Rules::new(n, o).resolve(index, 5);
            assert_eq!(got(Negative::OutOfBounds, O::Zero), zero_out, "{index}");
            assert_eq!(got(Negative::FromEnd, O::Zero), zero_end, "{index}");
            assert_eq!(got(Negative::OutOfBounds, O::Error), zero_out, "{index}");
            assert_eq!(got(Negative::OutOfBounds, O::Clip), clip_out, "{index}");
            assert_eq!(got(Negative::FromEnd, O::Clip), clip_end, "{index}");
            assert_eq!(got(Negative::OutOfBounds, O::Wrap), wrap, "{index}");
            assert_eq!(got(Negative::FromEnd, O::Wrap), wrap, "{index}");
        }
    }

    #[test]
    fn an_axis_of_extent_zero_has_no_coordinate() {
        for (name, rules) in Rules::PRESETS {
            for index in [0, -1, 1] {
                assert_eq!(rules.resolve(index, 0), None, "{name}");
            }
        }
    }
}
