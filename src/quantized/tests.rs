//! Tables by hand, and what is refused.

use super::*;
use crate::error::Result;

const U4: SplitFormat = SplitFormat {
    codes: CodeType::U4,
    scales: ScaleType::F32,
    zero_points: ZeroPoints::Middle,
    block_size: 16,
    axis: 1,
};

/// Row 1 of a table of two rows whose codes are the bytes 0x10, 0x11, … and whose scales 1, 2, …
fn second_row(format: SplitFormat, row: usize, scales: usize, zero_points: &[u8]) -> Vec<f32> {
    let codes: Vec<u8> = (0x10..).take(2 * row * format.codes.bits() / 8).collect();
    let scales: Vec<u8> = (1..=scales)
        .flat_map(|s| (s as f32).to_ne_bytes())
        .collect();
    let shape = [2, row];
    let table = QuantizedTable::new(Format::Split(format), &shape, &codes, &scales, zero_points);
    let mut decoded = vec![0.0; row];
    table.unwrap().decode(row, &mut decoded).unwrap();
    decoded
}

/// Answers of ONNX Runtime 1.31.1, `GatherBlockQuantized` on the CPU.
#[test]
fn split_formats_as_onnx_runtime_has_them() {
    let u8_data = second_row(U4, 32, 4, &[]);
    assert_eq!(
        u8_data[..8],
        [-24., -18., -21., -18., -18., -18., -15., -18.]
    );
    assert_eq!(u8_data[28..], [24., -24., 28., -24.]);

    let zero_points = ZeroPoints::PackedRows;
    let padded = SplitFormat { zero_points, ..U4 };
    let padded = second_row(padded, 40, 6, &[0x21, 0x03, 0x54, 0x06]);
    assert_eq!(padded[..4], [0., -8., 4., -8.]);
    assert_eq!(padded[16..20], [35., -15., 40., -15.]);
    assert_eq!(padded[32..36], [-12., -18., -6., -18.]);

    let zero_points = ZeroPoints::Packed;
    let packed = SplitFormat { zero_points, ..U4 };
    let packed = second_row(packed, 40, 6, &[0x21, 0x43, 0x65]);
    assert_eq!(packed[..4], [0., -8., 4., -8.]);
    assert_eq!(packed[36..], [0., -18., 6., -18.]);

    let (codes, zero_points) = (CodeType::I4, ZeroPoints::Zero);
    let signed = SplitFormat {
        codes,
        zero_points,
        ..U4
    };
    let signed = second_row(signed, 32, 4, &[]);
    assert_eq!(signed[..4], [0., 6., 3., 6.]);
    assert_eq!(signed[16..20], [-32., 8., -28., 8.]);

    let (codes, zero_points) = (CodeType::U2, ZeroPoints::PackedRows);
    let two = SplitFormat {
        codes,
        zero_points,
        ..U4
    };
    let two = second_row(two, 40, 6, &[0b11_1001, 0b11_1001]);
    assert_eq!(two[..8], [4., 4., 0., -4., 8., 4., 0., -4.]);
    assert_eq!(two[32..36], [-6., -18., -6., -18.]);

    let zero_points = ZeroPoints::Packed;
    let bytes = SplitFormat {
        codes: CodeType::U8,
        zero_points,
        ..U4
    };
    let bytes = second_row(bytes, 40, 6, &[1, 2, 3, 4, 5, 6]);
    assert_eq!((bytes[0], bytes[16], bytes[39]), (208., 335., 534.));
}

#[test]
fn rows_that_share_no_byte() {
    // UINT4 of shape [3, 17], scales [3, 2]: row 1 starts within a byte.
    let codes: Vec<u8> = (0x10..).take(26).collect();
    let scales: Vec<u8> = (1..=6).flat_map(|s| (s as f32).to_ne_bytes()).collect();
    let zero_points = ZeroPoints::Zero;
    let format = Format::Split(SplitFormat { zero_points, ..U4 });
    let table = QuantizedTable::new(format, &[3, 17], &codes, &scales, &[]).unwrap();
    let mut row = [0.0; 17];
    table.decode(17, &mut row).unwrap();
    assert_eq!(row[..4], [3., 27., 3., 30.]);
    assert_eq!(row[14..], [3., 0., 8.]);
}

#[test]
fn blocks_run_along_any_axis() {
    // [2, 3, 2], blocks of 2 along the middle: scales [2, 2, 2].
    let codes: Vec<u8> = (0..12).collect();
    let scales: Vec<u8> = (0..8).map(|n| 120 + n).collect();
    let format = SplitFormat {
        codes: CodeType::E4M3,
        scales: ScaleType::E8M0,
        zero_points: ZeroPoints::Zero,
        block_size: 2,
        axis: -2,
    };
    let table = QuantizedTable::new(Format::Split(format), &[2, 3, 2], &codes, &scales, &[]);
    let mut decoded = [0.0; 12];
    table.unwrap().decode(0, &mut decoded).unwrap();
    let blocks = [0, 1, 0, 1, 2, 3, 4, 5, 4, 5, 6, 7];
    for (n, (&got, block)) in decoded.iter().zip(blocks).enumerate() {
        let code = match n {
            0..8 => n as f32 / 512.0,
            _ => (1.0 + (n - 8) as f32 / 8.0) / 64.0,
        };
        assert_eq!(got, code * 2f32.powi(block - 7), "{n}");
    }
}

#[test]
fn rows_with_scale_and_bias() {
    let mut bytes = Vec::new();
    for (codes, scale, bias) in [([1u8, 2, 255], 0.5f32, -1.0f32), ([0, 7, 8], 3.0, 0.25)] {
        bytes.extend(codes);
        bytes.extend(scale.to_le_bytes());
        bytes.extend(bias.to_le_bytes());
    }
    let table = QuantizedTable::rows(&[2, 3], &bytes).unwrap();
    let mut decoded = [0.0; 5];
    table.decode(1, &mut decoded).unwrap();
    assert_eq!(decoded, [0.0, 126.5, 0.25, 21.25, 24.25]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let new = |format, shape: &[usize], codes: &[u8], scales: &[u8], zero_points: &[u8]| {
        let table = QuantizedTable::new(format, shape, codes, scales, zero_points);
        table.map(|_| ()).unwrap_err().to_string()
    };
    let split = |change: fn(&mut SplitFormat)| {
        let mut format = U4;
        change(&mut format);
        new(Format::Split(format), &[2, 32], &[0; 32], &[0; 16], &[])
    };
    let q4_0 = Format::Blocks(BlockFormat::Q4_0);
    let texts = [
        new(q4_0, &[2, 33], &[], &[], &[]),
        new(q4_0, &[2, 32], &[0; 35], &[], &[]),
        new(q4_0, &[2, 32], &[0; 36], &[0; 4], &[]),
        new(q4_0, &[], &[], &[], &[]),
        new(Format::Rows, &[2, 3], &[0; 6], &[], &[]),
        new(Format::Rows, &[usize::MAX, 0], &[], &[], &[]),
        new(q4_0, &[usize::MAX, 32], &[], &[], &[]),
        split(|f| f.axis = 2),
        split(|f| f.block_size = 0),
        split(|f| f.block_size = 8),
        split(|f| f.scales = ScaleType::E8M0),
        split(|f| f.codes = CodeType::E4M3),
        split(|f| f.codes = CodeType::I4),
        split(|f| f.zero_points = ZeroPoints::Packed),
    ];
    assert_eq!(
        texts,
        [
            "codes: a table of shape [2, 33] has no rows of whole blocks of Q4_0 (allowed: a last dim that is a multiple of 32)",
            "codes: a table of shape [2, 32] in Q4_0 takes 36 bytes, got 35",
            "scales: a table of shape [2, 32] in Q4_0 takes 0 bytes, got 4",
            "codes: a table in Q4_0 has rank 0 (allowed: 1 or more)",
            "codes: a table of shape [2, 3] in rows of u8 with scale and bias takes 22 bytes, got 6",
            "codes: shape [18446744073709551615] with 8-byte elements needs more bytes than can be addressed",
            "codes: shape [18446744073709551615, 32] with 4-byte elements needs more bytes than can be addressed",
            "scales: quantize axis 2 is out of range for a table of rank 2 (allowed -2..=1)",
            "scales: the block size is 0 (allowed: 1 or more)",
            "scales: a table of shape [2, 32] in u4 in blocks of 8 along axis 1, scales f32 takes 32 bytes, got 16",
            "scales: u4 codes cannot have e8m0 scales (allowed: e8m0 for e4m3; f32, f16 or bf16 for integers)",
            "scales: e4m3 codes cannot have f32 scales (allowed: e8m0 for e4m3; f32, f16 or bf16 for integers)",
            "zero points: i4 codes cannot have zero points Middle (allowed: Zero for all, Middle for unsigned, Packed and PackedRows for integers)",
            "zero points: a table of shape [2, 32] in u4 in blocks of 16 along axis 1, scales f32 takes 2 bytes, got 0",
        ]
    );
    let decoded = |first, count| -> Result<()> {
        let table = QuantizedTable::blocks(BlockFormat::F16, &[4], &[0; 8])?;
        table.decode(first, &mut vec![0.0; count])
    };
    assert_eq!(decoded(0, 4), Ok(()));
    assert_eq!(decoded(4, 0), Ok(()));
    for (first, count) in [(0, 5), (4, 1), (usize::MAX, 2)] {
        let error = decoded(first, count).unwrap_err().to_string();
        assert!(error.starts_with("a table of 4 elements has no"), "{error}");
    }
}

/// Empty tables have no element, and no scale or zero point either.
#[test]
fn empty_tables_are_tables() {
    let zero_points = ZeroPoints::PackedRows;
    for shape in [[0, 32], [32, 0]] {
        let format = Format::Split(SplitFormat { zero_points, ..U4 });
        let table = QuantizedTable::new(format, &shape, &[], &[], &[]).unwrap();
        assert_eq!(table.decode(0, &mut []), Ok(()));
    }
    assert!(QuantizedTable::rows(&[2, 0], &[0; 16]).is_ok());

    // With more elements behind the axis than can be counted.
    let big = 1usize << (usize::BITS / 2 + 1);
    let (format, shape) = (SplitFormat { axis: 0, ..U4 }, [0, big, big]);
    let table = QuantizedTable::new(Format::Split(format), &shape, &[], &[], &[]).unwrap();
    assert_eq!(table.elements(), 0);
    assert_eq!(format.blocks(&shape, 0).inner, 0);
}
