//! Quantized tables of files: from the tensors and the options to the library's view of them.

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use wgpu_gather::DType;
use wgpu_gather::quantized::{
    BlockFormat, CodeType, FloatType, Format, QuantizedTable, ScaleType, SplitFormat, ZeroPoints,
};
use wgpu_gather_files::{Error, Stored, StoredTensor};

use crate::named::Named;
use crate::tensors::element_type;

/// How params are quantized, and what they are decoded to.
#[derive(Args)]
#[command(next_help_heading = "Quantized params")]
pub(crate) struct QuantizedArgs {
    /// The scales of a table of codes, as ONNX's GatherBlockQuantized has them; params then are the
    /// codes, u8 or i8, and the last dim of their file is of bytes. f32, f16, or raw bytes with --dtype
    /// bf16. FILE as for params. GGUF files have the scales of their tensors in them
    #[arg(long, value_name = "S", requires_all = ["block_size", "bits"])]
    pub(crate) scales: Option<String>,
    /// The zero points of such a table, of the type of the codes and packed as they are: each row
    /// begins a byte [default: 2^(bits-1) for u8, 0 for i8]
    #[arg(long, value_name = "Z", requires = "scales")]
    pub(crate) zero_points: Option<String>,
    /// How many codes along the quantise axis share a scale; the last block may be short
    #[arg(long, value_name = "B", requires = "scales")]
    block_size: Option<usize>,
    /// Bits of a code: 2, 4 or 8. Several of them lie in a byte, the low bits first
    #[arg(long, value_name = "N", requires = "scales", value_parser = bits)]
    bits: Option<usize>,
    /// The dim that blocks run along; negative counts from the back
    #[arg(
        long,
        value_name = "A",
        default_value_t = -1,
        requires = "scales",
        allow_negative_numbers = true
    )]
    quantize_axis: isize,
    /// What elements of quantized params, and of f16 and bf16, are decoded to [default: the type of
    /// the scales; f32 for blocks of GGUF and in pooled lookups, which take no other]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub(crate) to: Option<To>,
}

/// The values of `--to`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum To {
    F32,
    F16,
    #[value(name = "bf16")]
    BF16,
}

impl To {
    fn float(self) -> FloatType {
        match self {
            To::F32 => FloatType::F32,
            To::F16 => FloatType::F16,
            To::BF16 => FloatType::BF16,
        }
    }
}

fn bits(text: &str) -> Result<usize, &'static str> {
    match text {
        "2" => Ok(2),
        "4" => Ok(4),
        "8" => Ok(8),
        _ => Err("allowed: 2, 4, 8"),
    }
}

/// Where scales and zero points are.
pub(crate) struct Sources {
    scales: Option<Named>,
    zero_points: Option<Named>,
}

/// Scales and zero points as files have them, with what messages call them.
pub(crate) struct Parts<'s> {
    scales: Option<(&'s Named, StoredTensor)>,
    zero_points: Option<(&'s Named, StoredTensor)>,
}

impl Sources {
    pub(crate) fn parse(args: &QuantizedArgs) -> Result<Self> {
        Ok(Sources {
            scales: Named::optional("scales", args.scales.as_ref())?,
            zero_points: Named::optional("zero points", args.zero_points.as_ref())?,
        })
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Named> {
        self.scales.iter().chain(&self.zero_points)
    }

    pub(crate) fn read(&self) -> Result<Parts<'_>> {
        fn read(at: Option<&Named>) -> Result<Option<(&Named, StoredTensor)>> {
            at.map(|at| Ok((at, at.read()?))).transpose()
        }
        Ok(Parts {
            scales: read(self.scales.as_ref())?,
            zero_points: read(self.zero_points.as_ref())?,
        })
    }
}

impl Parts<'_> {
    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &StoredTensor> {
        let all = self.scales.iter().chain(&self.zero_points);
        all.map(|(_, tensor)| tensor)
    }
}

/// The table, and what it is decoded to, if params are quantized or are to be decoded.
pub(crate) fn table<'a>(
    args: &QuantizedArgs,
    declared: Option<DType>,
    (at, params): (&Named, &'a StoredTensor),
    parts: &'a Parts<'_>,
) -> Result<Option<(QuantizedTable<'a>, FloatType)>> {
    if parts.scales.is_some() {
        return split_table(args, declared, (at, params), parts).map(Some);
    }
    at.name(block_table(args, declared, params))
}

/// The table that a pooled lookup decodes to f32, if params are quantized or are to be decoded.
pub(crate) fn table_to_f32<'a>(
    args: &QuantizedArgs,
    declared: Option<DType>,
    params: (&Named, &'a StoredTensor),
    parts: &'a Parts<'_>,
) -> Result<Option<QuantizedTable<'a>>> {
    let to = args.to.map_or(FloatType::F32, To::float).dtype();
    ensure!(
        to == DType::F32,
        "embedding_bag: --to {to}, but rows are decoded to f32 (allowed: f32)"
    );
    let found = table(args, declared, params, parts)?;
    Ok(found.map(|(table, _)| table))
}

/// A table that holds its scales, or is of halves.
fn block_table<'a>(
    args: &QuantizedArgs,
    declared: Option<DType>,
    params: &'a StoredTensor,
) -> Result<Option<(QuantizedTable<'a>, FloatType)>> {
    let (format, usual) = match (params.stored(), args.to) {
        (Stored::Blocks(format), _) => {
            ensure!(
                declared.is_none(),
                "--dtype is for raw bytes, but the file says that the elements are {format}"
            );
            (format, To::F32)
        }
        (_, None) => return Ok(None),
        (stored, Some(to)) => match element_type(stored, declared)? {
            DType::F16 => (BlockFormat::F16, to),
            DType::BF16 => (BlockFormat::BF16, to),
            other => {
                bail!("--to is for quantized elements, f16 and bf16, but the elements are {other}")
            }
        },
    };
    let table = params.quantized_as(format).map_err(Error::into_problem)?;
    Ok(Some((table, args.to.unwrap_or(usual).float())))
}

/// A table whose scales are in a file of their own.
fn split_table<'a>(
    args: &QuantizedArgs,
    declared: Option<DType>,
    (at, params): (&Named, &'a StoredTensor),
    parts: &'a Parts<'_>,
) -> Result<(QuantizedTable<'a>, FloatType)> {
    let (Some(bits), Some(block_size), Some((scales_at, scales))) =
        (args.bits, args.block_size, parts.scales.as_ref())
    else {
        bail!("--scales needs --bits and --block-size");
    };
    let (codes, shape) = at.name(codes(params, bits))?;
    let (scale_type, usual) = scales_at.name(scale_type(scales, declared))?;
    let format = SplitFormat {
        codes,
        scales: scale_type,
        zero_points: match (&parts.zero_points, codes.is_signed()) {
            (Some(_), _) => ZeroPoints::PackedRows,
            (None, false) => ZeroPoints::Middle,
            (None, true) => ZeroPoints::Zero,
        },
        block_size,
        axis: args.quantize_axis,
    };
    let mut blocks = format.scales_shape(&shape)?;
    scales_at.name(fits(scales, &blocks))?;
    if let Some((at, zero_points)) = &parts.zero_points {
        if let Some(last) = blocks.last_mut() {
            *last = last.div_ceil(8 / bits);
        }
        at.name(zero_points_fit(zero_points, params.stored(), &blocks))?;
    }
    let zero_points = parts.zero_points.as_ref();
    let zero_points = zero_points.map_or(&[][..], |(_, tensor)| tensor.bytes());
    let table = QuantizedTable::new(
        Format::Split(format),
        &shape,
        params.bytes(),
        scales.bytes(),
        zero_points,
    )?;
    Ok((table, args.to.map_or(usual, To::float)))
}

/// The type of codes of so many bits, and their shape: of the bytes of the file, unpacked.
fn codes(params: &StoredTensor, bits: usize) -> Result<(CodeType, Vec<usize>)> {
    let codes = code_type(params.stored(), bits)?;
    let mut shape = params.layout().shape().to_vec();
    let last = shape
        .last_mut()
        .context("codes have rank 0 (allowed: 1 or more)")?;
    *last = last
        .checked_mul(8 / bits)
        .context("more codes than can be addressed")?;
    row_major(params)?;
    Ok((codes, shape))
}

fn code_type(stored: Stored, bits: usize) -> Result<CodeType> {
    Ok(match (stored, bits) {
        (Stored::Typed(DType::U8), 2) => CodeType::U2,
        (Stored::Typed(DType::U8), 4) => CodeType::U4,
        (Stored::Typed(DType::U8), _) => CodeType::U8,
        (Stored::Typed(DType::I8), 2) => CodeType::I2,
        (Stored::Typed(DType::I8), 4) => CodeType::I4,
        (Stored::Typed(DType::I8), _) => CodeType::I8,
        (other, _) => bail!("elements of type {other} cannot be codes (allowed: u8, i8)"),
    })
}

fn scale_type(scales: &StoredTensor, declared: Option<DType>) -> Result<(ScaleType, FloatType)> {
    // What the file says needs no declaration, which is for raw bytes.
    Ok(match element_type(scales.stored(), declared)? {
        DType::F32 => (ScaleType::F32, FloatType::F32),
        DType::F16 => (ScaleType::F16, FloatType::F16),
        DType::BF16 => (ScaleType::BF16, FloatType::BF16),
        other => bail!("elements of type {other} cannot be scales (allowed: f32, f16, bf16)"),
    })
}

fn zero_points_fit(zero_points: &StoredTensor, codes: Stored, shape: &[usize]) -> Result<()> {
    let stored = zero_points.stored();
    ensure!(
        stored == codes,
        "elements of type {stored} cannot be zero points of {codes} codes (allowed: {codes})"
    );
    fits(zero_points, shape)
}

fn fits(tensor: &StoredTensor, shape: &[usize]) -> Result<()> {
    let got = tensor.layout().shape();
    ensure!(
        got == shape,
        "shape {got:?} does not fit the codes (allowed: {shape:?})"
    );
    row_major(tensor)
}

fn row_major(tensor: &StoredTensor) -> Result<()> {
    let bytes = tensor.row_major_bytes();
    bytes.map_err(Error::into_problem)?;
    Ok(())
}
