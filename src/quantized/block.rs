//! GGUF formats: rows of blocks, each with its scales and codes.

use crate::names::named;
use crate::quantized::gguf;

macro_rules! block_formats {
    ($($variant:ident $name:literal $elements:literal $bytes:literal $decode:path, $doc:literal,)*) => {
        /// A block format of GGUF: a fixed number of consecutive elements of a row in a fixed number of bytes,
        /// scales and codes together. Named as in GGUF files.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum BlockFormat {
            $(#[doc = $doc] $variant,)*
        }

        impl BlockFormat {
            /// Elements of a block; a row is whole blocks.
            pub const fn block_elements(self) -> usize {
                match self { $(BlockFormat::$variant => $elements,)* }
            }

            /// Bytes of a block.
            pub const fn block_bytes(self) -> usize {
                match self { $(BlockFormat::$variant => $bytes,)* }
            }

            /// Decodes a block.
            pub(super) fn decoder(self) -> fn(&[u8], &mut [f32]) {
                match self { $(BlockFormat::$variant => $decode,)* }
            }
        }

        named!(BlockFormat, "format", { $($variant $name,)* });
    };
}

block_formats! {
    Q4_0 "Q4_0" 32 18 gguf::q4_0, "4 bits minus 8, times a scale.",
    Q4_1 "Q4_1" 32 20 gguf::q4_1, "4 bits times a scale, plus a minimum.",
    Q5_0 "Q5_0" 32 22 gguf::q5_0, "5 bits minus 16, times a scale.",
    Q5_1 "Q5_1" 32 24 gguf::q5_1, "5 bits times a scale, plus a minimum.",
    Q8_0 "Q8_0" 32 34 gguf::q8_0, "8 signed bits times a scale.",
    Q2K "Q2_K" 256 84 gguf::q2_k, "2 bits; scales and minima of 4 bits for each 16.",
    Q3K "Q3_K" 256 110 gguf::q3_k, "3 bits minus 4; scales of 6 bits for each 16.",
    Q4K "Q4_K" 256 144 gguf::q4_k, "4 bits; scales and minima of 6 bits for each 32.",
    Q5K "Q5_K" 256 176 gguf::q5_k, "5 bits; scales and minima of 6 bits for each 32.",
    Q6K "Q6_K" 256 210 gguf::q6_k, "6 bits minus 32; scales of 8 bits for each 16.",
    Iq4Nl "IQ4_NL" 32 18 gguf::iq4_nl, "4 bits that look a value up, times a scale.",
    Mxfp4 "MXFP4" 32 17 gguf::mxfp4, "Floats of 4 bits times a power of two.",
    F16 "F16" 1 2 gguf::f16, "IEEE half precision.",
    BF16 "BF16" 1 2 gguf::bf16, "The upper half of an f32.",
}
