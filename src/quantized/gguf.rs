//! Decodes blocks as GGUF defines them. Each function is given the bytes of a block and its elements.
//!
//! `d` is a scale and `m` a minimum, both f16. A product of a scale, a scale of a part and a code has at
//! most 24 significant bits, so it is exact in f32; what is added after that rounds once.

use super::float::scaled;
use crate::halves::{bf16_to_f32, f16_to_f32};

fn half(block: &[u8], at: usize) -> f32 {
    f16_to_f32(u16::from_le_bytes([block[at], block[at + 1]]))
}

/// Unpacks 4-bit codes: the low nibbles of all bytes, then the high ones.
fn nibbles(codes: &[u8], output: &mut [f32], value: impl Fn(usize, u8) -> f32) {
    let half = codes.len();
    let (low, high) = output.split_at_mut(half);
    // Two loops without indexing, which compilers vectorise.
    for (n, (to, &code)) in low.iter_mut().zip(codes).enumerate() {
        *to = value(n, code & 15);
    }
    for (n, (to, &code)) in high.iter_mut().zip(codes).enumerate() {
        *to = value(n + half, code >> 4);
    }
}

pub(super) fn q4_0(block: &[u8], output: &mut [f32]) {
    let d = half(block, 0);
    nibbles(&block[2..18], output, |_, q| d * (f32::from(q) - 8.0));
}

pub(super) fn q4_1(block: &[u8], output: &mut [f32]) {
    let (d, m) = (half(block, 0), half(block, 2));
    nibbles(&block[4..20], output, |_, q| d * f32::from(q) + m);
}

/// Bit `n` of four bytes, as bit 4.
fn fifth_bits(bytes: &[u8]) -> impl Fn(usize) -> u8 {
    let bits = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    move |n| (bits >> n & 1) as u8 * 16
}

pub(super) fn q5_0(block: &[u8], output: &mut [f32]) {
    let (d, fifth) = (half(block, 0), fifth_bits(&block[2..6]));
    nibbles(&block[6..22], output, |n, q| {
        d * (f32::from(q | fifth(n)) - 16.0)
    });
}

pub(super) fn q5_1(block: &[u8], output: &mut [f32]) {
    let (d, m) = (half(block, 0), half(block, 2));
    let fifth = fifth_bits(&block[4..8]);
    nibbles(&block[8..24], output, |n, q| {
        d * f32::from(q | fifth(n)) + m
    });
}

pub(super) fn q8_0(block: &[u8], output: &mut [f32]) {
    let d = half(block, 0);
    for (to, &code) in output.iter_mut().zip(&block[2..34]) {
        *to = f32::from(code as i8) * d;
    }
}

/// 16 scales, 64 bytes of codes, `d`, `m`. A byte has codes that are 32 elements apart.
pub(super) fn q2_k(block: &[u8], output: &mut [f32]) {
    let (scales, codes) = (&block[..16], &block[16..80]);
    let (d, m) = (half(block, 80), half(block, 82));
    for (part, to) in output.chunks_exact_mut(16).enumerate() {
        let scale = d * f32::from(scales[part] & 15);
        let least = m * f32::from(scales[part] >> 4);
        let (first, shift) = (part / 8 * 32 + part % 2 * 16, part / 2 % 4 * 2);
        for (to, &code) in to.iter_mut().zip(&codes[first..]) {
            *to = scale * f32::from(code >> shift & 3) - least;
        }
    }
}

/// 32 bytes of third bits, 64 of two bits, 12 of scales, `d`.
pub(super) fn q3_k(block: &[u8], output: &mut [f32]) {
    let (third, codes, scales) = (&block[..32], &block[32..96], &block[96..108]);
    let d = half(block, 108);
    for (part, to) in output.chunks_exact_mut(16).enumerate() {
        let low = scales[part % 8] >> (part / 8 * 4) & 15;
        let high = scales[8 + part % 4] >> (part / 4 * 2) & 3;
        let scale = d * (f32::from(low | high << 4) - 32.0);
        let (column, shift) = (part % 2 * 16, part / 2 % 4 * 2);
        let codes = &codes[part / 8 * 32 + column..];
        for (n, to) in to.iter_mut().enumerate() {
            let set = third[column + n] >> (part / 2) & 1;
            *to = scale * (f32::from(codes[n] >> shift & 3 | set << 2) - 4.0);
        }
    }
}

/// The 6-bit scale and the 6-bit minimum of a sub-block of 32 elements.
fn scale_and_least(scales: &[u8], part: usize) -> (u8, u8) {
    match part {
        0..4 => (scales[part] & 63, scales[part + 4] & 63),
        _ => (
            scales[part + 4] & 15 | scales[part - 4] >> 6 << 4,
            scales[part + 4] >> 4 | scales[part] >> 6 << 4,
        ),
    }
}

/// `d`, `m`, 12 bytes of scales, 128 of codes. A byte has codes that are 32 elements apart.
pub(super) fn q4_k(block: &[u8], output: &mut [f32]) {
    q45_k(block, &block[16..144], |_, _| 0, output);
}

/// As Q4_K, with 32 bytes of fifth bits before the codes.
pub(super) fn q5_k(block: &[u8], output: &mut [f32]) {
    let fifth = |part: usize, n: usize| (block[16 + n] >> part & 1) * 16;
    q45_k(block, &block[48..176], fifth, output);
}

fn q45_k(block: &[u8], codes: &[u8], fifth: impl Fn(usize, usize) -> u8, output: &mut [f32]) {
    let (d, m) = (half(block, 0), half(block, 2));
    for (part, to) in output.chunks_exact_mut(32).enumerate() {
        let (scale, least) = scale_and_least(&block[4..16], part);
        let (scale, least) = (d * f32::from(scale), m * f32::from(least));
        let codes = &codes[part / 2 * 32..][..32];
        for (n, (to, &code)) in to.iter_mut().zip(codes).enumerate() {
            let code = code >> (part % 2 * 4) & 15 | fifth(part, n);
            *to = scale * f32::from(code) - least;
        }
    }
}

/// 128 bytes of four bits, 64 of two more, 16 scales, `d`.
pub(super) fn q6_k(block: &[u8], output: &mut [f32]) {
    let (low, high, scales) = (&block[..128], &block[128..192], &block[192..208]);
    let d = half(block, 208);
    for (part, to) in output.chunks_exact_mut(16).enumerate() {
        let scale = d * f32::from(scales[part] as i8);
        let (side, within) = (part / 8, part % 8 * 16);
        let low = &low[side * 64 + within % 64..];
        let high = &high[side * 32 + within % 32..];
        for (to, (&low, &high)) in to.iter_mut().zip(low.iter().zip(high)) {
            let code = low >> (within / 64 * 4) & 15 | (high >> (within / 32 * 2) & 3) << 4;
            *to = scale * (f32::from(code) - 32.0);
        }
    }
}

const IQ4_NL_VALUES: [i8; 16] = [
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
];

pub(super) fn iq4_nl(block: &[u8], output: &mut [f32]) {
    let d = half(block, 0);
    nibbles(&block[2..18], output, |_, q| {
        d * f32::from(IQ4_NL_VALUES[usize::from(q)])
    });
}

/// Magnitudes of E2M1 (4-bit floats) times two, indexed by the lower three bits.
const E2M1_DOUBLED: [u32; 8] = [0, 1, 2, 3, 4, 6, 8, 12];

/// A power of two in a byte (E8M0), then the codes. Negative zero decodes to zero, as in GGUF.
pub(super) fn mxfp4(block: &[u8], output: &mut [f32]) {
    let exponent = i32::from(block[0]) - 128;
    nibbles(&block[1..17], output, |_, q| {
        let doubled = E2M1_DOUBLED[usize::from(q & 7)];
        let sign = if q > 8 { 1 << 31 } else { 0 };
        scaled(sign, doubled, exponent)
    });
}

pub(super) fn f16(block: &[u8], output: &mut [f32]) {
    output[0] = half(block, 0);
}

pub(super) fn bf16(block: &[u8], output: &mut [f32]) {
    output[0] = bf16_to_f32(u16::from_le_bytes([block[0], block[1]]));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit-exact decoding relies on exact products of scale, sub-block scale and code. An f64 holds all
    /// of them.
    #[test]
    fn products_are_exact() {
        let values = IQ4_NL_VALUES.map(i32::from);
        let formats: [(&str, Vec<i32>, Vec<i32>); 9] = [
            ("Q4_0, Q4_1", vec![1], (-8..16).collect()),
            ("Q5_0, Q5_1", vec![1], (-16..32).collect()),
            ("Q8_0", vec![1], (-128..128).collect()),
            ("Q2_K", (0..16).collect(), (0..4).collect()),
            ("Q3_K", (-32..32).collect(), (-4..4).collect()),
            ("Q4_K, Q5_K", (0..64).collect(), (0..32).collect()),
            ("Q6_K", (-128..128).collect(), (-32..32).collect()),
            ("IQ4_NL", vec![1], values.to_vec()),
            ("minima of K", vec![1], (0..64).collect()),
        ];
        // Every significand of an f16, at both ends of its range, and the subnormals.
        let halves = (0..0x800u16).chain(0x7800..0x7c00);
        for d in halves.map(f16_to_f32) {
            for (name, scales, codes) in &formats {
                for (&scale, &code) in scales
                    .iter()
                    .flat_map(|s| codes.iter().map(move |c| (s, c)))
                {
                    let product = d * scale as f32 * code as f32;
                    let exact = f64::from(d) * f64::from(scale) * f64::from(code);
                    assert_eq!(f64::from(product), exact, "{name}: {d} * {scale} * {code}");
                }
            }
        }
    }
}
