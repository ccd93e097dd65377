//! What the elements of a case are drawn from.

use anyhow::{Result, bail};
use half::{bf16, f16};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use wgpu_gather::DType;

use crate::bench::case::Case;

/// Bytes of a tensor, and lookups, that are drawn from one seed.
pub(crate) const CHUNK: usize = 1 << 20;

pub(crate) fn generator(stream: u64, chunk: usize) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64((stream << 40) | chunk as u64)
}

/// What elements are drawn from.
pub(crate) enum Values {
    /// Any bits.
    Bits,
    /// Blocks of quantised elements, with finite scales.
    Blocks,
    /// These 16 numbers, as bytes of their type.
    Numbers(Vec<Vec<u8>>),
}

impl Values {
    /// What params and updates of `case` are drawn from.
    pub(crate) fn of(case: &Case) -> Result<Self> {
        Ok(match (case.format, case.verb.computes()) {
            (Some(_), _) => Values::Blocks,
            (None, true) => Values::Numbers(whole_numbers(case.dtype)?),
            (None, false) => Values::Bits,
        })
    }

    /// Draws all of `bytes`.
    pub(crate) fn fill(&self, stream: u64, bytes: &mut [u8]) {
        let chunks = bytes.par_chunks_mut(CHUNK).enumerate();
        chunks.for_each(|(n, chunk)| {
            generator(stream, n).fill_bytes(chunk);
            match self {
                Values::Bits => {}
                Values::Blocks => finite(chunk),
                Values::Numbers(numbers) => {
                    for element in chunk.chunks_exact_mut(numbers[0].len()) {
                        element.copy_from_slice(&numbers[usize::from(element[0] % 16)]);
                    }
                }
            }
        });
    }
}

/// The numbers from -8 to 7: few enough of them have the same sum in any order, in every type.
fn whole_numbers(dtype: DType) -> Result<Vec<Vec<u8>>> {
    let of = |write: fn(i8) -> Vec<u8>| Ok((-8..8).map(write).collect());
    match dtype {
        DType::F32 => of(|n| f32::from(n).to_le_bytes().to_vec()),
        DType::F16 => of(|n| f16::from(n).to_le_bytes().to_vec()),
        DType::BF16 => of(|n| bf16::from(n).to_le_bytes().to_vec()),
        DType::I8 => of(|n| n.to_le_bytes().to_vec()),
        DType::I32 => of(|n| i32::from(n).to_le_bytes().to_vec()),
        other => bail!("no numbers of {other} are drawn (allowed: f32, f16, bf16, i8, i32)"),
    }
}

/// Blocks whose scales are finite, wherever they are: without the upper bit of their exponents.
fn finite(blocks: &mut [u8]) {
    blocks.iter_mut().for_each(|byte| *byte &= !0x40);
}
