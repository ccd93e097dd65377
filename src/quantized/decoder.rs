//! The decoding shader of each format.

use crate::quantized::block::BlockFormat;
use crate::quantized::format::Format;
use crate::quantized::split::CodeType;

/// Identifies the decoding shader; each variant has its own source in `shaders/decode/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Decoder {
    /// GGUF's blocks.
    Blocks(BlockFormat),
    /// Rows with scale and bias.
    Rows,
    /// Integers with scales and zero points.
    Integers,
    /// Floats of 8 bits with powers of two.
    E4M3,
}

impl Decoder {
    /// All of them.
    pub(crate) fn all() -> impl Iterator<Item = Decoder> {
        let others = [Decoder::Rows, Decoder::Integers, Decoder::E4M3];
        let blocks = BlockFormat::ALL.into_iter().map(Decoder::Blocks);
        blocks.chain(others)
    }

    /// The name, as a part of pipeline names.
    #[cfg(feature = "gpu")]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Decoder::Blocks(format) => format.name(),
            Decoder::Rows => "rows",
            Decoder::Integers => "integers",
            Decoder::E4M3 => "e4m3",
        }
    }
}

impl Format {
    /// The shader that decodes this format.
    pub(crate) fn decoder(&self) -> Decoder {
        match self {
            Format::Blocks(format) => Decoder::Blocks(*format),
            Format::Rows => Decoder::Rows,
            Format::Split(split) if split.codes == CodeType::E4M3 => Decoder::E4M3,
            Format::Split(_) => Decoder::Integers,
        }
    }
}
