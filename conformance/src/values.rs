//! Values of all types, in bytes.

use wgpu_gather::{DType, Reduce};

use crate::builtin::SplitMix;

/// Element types that every executor folds.
pub const FOLDED: [DType; 11] = [
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::U8,
    DType::I8,
    DType::U16,
    DType::I16,
    DType::U32,
    DType::I32,
    DType::U64,
    DType::I64,
];

/// Values of a type: small numbers, large ones, and what is special about floats but subnormals.
pub fn values(dtype: DType, count: usize, seed: u64) -> Vec<u8> {
    numbers(dtype, count, seed, float, |bits| bits)
}

/// A float that stays normal in a few products.
fn float(bits: u64) -> f32 {
    let mantissa = (bits >> 24) as u32 & 0x7f_ffff;
    let sign = (bits as u32 & 0x80) << 24;
    let exponent = 124 + (bits >> 8) as u32 % 7;
    match bits as u8 & 0x7f {
        0 => f32::from_bits(sign), // a zero
        1 => f32::from_bits(0x7f80_0000 | sign),
        2 => f32::from_bits(0x7fc0_0000 | sign | mantissa),
        3 => 16_777_216.0,
        _ => f32::from_bits(sign | exponent << 23 | mantissa),
    }
}

/// Values of which thousands are combined without an overflow: near one for products, and odd, so that each
/// shows in the result.
pub fn tame_values(dtype: DType, reduce: Reduce, count: usize, seed: u64) -> Vec<u8> {
    let is_product = reduce == Reduce::Mul;
    let float = |bits: u64| match is_product {
        true => near_one(bits),
        false => {
            f32::from_bits((bits as u32 & 0x807f_ffff) | (124 + (bits >> 32) as u32 % 7) << 23)
        }
    };
    numbers(dtype, count, seed, float, |bits| {
        bits | u64::from(is_product)
    })
}

/// Numbers of a type, each made of bits by `float` or `integer`.
fn numbers(
    dtype: DType,
    count: usize,
    seed: u64,
    float: impl Fn(u64) -> f32,
    integer: impl Fn(u64) -> u64,
) -> Vec<u8> {
    let mut random = SplitMix(seed);
    let mut bytes = Vec::with_capacity(count * dtype.bytes());
    for _ in 0..count {
        let bits = random.draw();
        match dtype {
            DType::Bool => bytes.push((bits & 1) as u8),
            DType::F32 => bytes.extend(float(bits).to_ne_bytes()),
            DType::F64 => bytes.extend(f64::from(float(bits)).to_ne_bytes()),
            DType::F16 => {
                let value = half::f16::from_f32(float(bits).clamp(-6e4, 6e4));
                bytes.extend(value.to_bits().to_ne_bytes());
            }
            DType::BF16 => {
                let value = half::bf16::from_f32(float(bits));
                bytes.extend(value.to_bits().to_ne_bytes());
            }
            DType::C64 => {
                bytes.extend(float(bits).to_ne_bytes());
                bytes.extend(float(bits >> 20).to_ne_bytes());
            }
            DType::C128 => {
                bytes.extend(f64::from(float(bits)).to_ne_bytes());
                bytes.extend(f64::from(float(bits >> 20)).to_ne_bytes());
            }
            _ => bytes.extend(&integer(bits).to_le_bytes()[..dtype.bytes()]),
        }
    }
    bytes
}

/// 1 + 2^-7 or 1 - 2^-7, which halves hold, and a little further off in f32.
fn near_one(bits: u64) -> f32 {
    let off = 1.0 / 128.0 + (bits >> 40 & 0xff) as f32 / 16_777_216.0;
    if bits & 1 == 0 { 1.0 + off } else { 1.0 - off }
}
