//! Random gathers from quantized tables.

use wgpu_gather::quantized::{
    BlockFormat, CodeType, FloatType, Format, ScaleType, SplitFormat, ZeroPoints,
};
use wgpu_gather::{Fill, IndexType, Layout, Negative, Op, OutOfBounds, Rules};

use crate::operators::of_params;
use crate::quantized_gather::{Codes, QuantizedGather};

/// Numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `n`.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }

    /// The bits of a finite f16 or bf16, most below 2: larger ones make infinite products.
    fn half(&mut self) -> u16 {
        let bits = self.next() as u16;
        match self.below(16) {
            0 if bits & 0x7c00 != 0x7c00 => bits,
            _ => bits & 0xbfff,
        }
    }

    /// A normal f32, of which products with codes are normal as well.
    fn float(&mut self) -> f32 {
        let sign = (self.next() as u32) << 31;
        let exponent = 67 + self.below(120) as u32;
        f32::from_bits(sign | exponent << 23 | (self.next() as u32 >> 9))
    }
}

/// Where blocks have scales as f16.
fn halves_of(format: BlockFormat) -> &'static [usize] {
    match format.name() {
        "Q4_0" | "Q5_0" | "Q8_0" | "IQ4_NL" => &[0],
        "Q4_1" | "Q5_1" | "Q4_K" | "Q5_K" => &[0, 2],
        "Q2_K" => &[80, 82],
        "Q3_K" => &[108],
        "Q6_K" => &[208],
        _ => &[],
    }
}

impl QuantizedGather {
    /// A call with a table of up to some thousand elements.
    pub fn random(seed: u64) -> QuantizedGather {
        QuantizedGather::sized(seed, 1)
    }

    /// A call with a table of up to a hundred thousand elements, most of which are gathered.
    pub fn large(seed: u64) -> QuantizedGather {
        QuantizedGather::sized(seed + 1_000_000, 12)
    }

    /// A gather of one row of so many elements in Q8_0, out of two.
    pub fn long_row(elements: usize) -> QuantizedGather {
        let mut random = Numbers(elements as u64);
        let format = Format::Blocks(BlockFormat::Q8_0);
        let shape = vec![2, elements];
        let [codes, scales, zero_points] = data(&format, &shape, &mut random);
        QuantizedGather {
            op: Op::gather(0),
            rules: Rules::default(),
            format,
            shape,
            codes: Codes(codes),
            scales: Codes(scales),
            zero_points: Codes(zero_points),
            index_type: IndexType::U32,
            indices_layout: Layout::contiguous(&[1]),
            indices: Codes(1u32.to_ne_bytes().to_vec()),
            to: FloatType::F32,
        }
    }

    fn sized(seed: u64, factor: usize) -> QuantizedGather {
        let mut random = Numbers(seed);
        let format = Format::Blocks(BlockFormat::ALL[0]);
        let format = match random.below(BlockFormat::ALL.len() + 9) {
            n if n < BlockFormat::ALL.len() => Format::Blocks(BlockFormat::ALL[n]),
            n if n < BlockFormat::ALL.len() + 2 => Format::Rows,
            _ => match format {
                Format::Blocks(_) => Format::Split(split(&mut random)),
                other => other,
            },
        };
        let mut shape: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(5)).collect();
        shape.push(row(&format, &mut random));
        if factor > 1 {
            shape.insert(0, 4 * factor + random.below(factor));
        }
        let mut format = format;
        if let Format::Split(split) = &mut format {
            split.axis = random.below(2 * shape.len()) as isize - shape.len() as isize;
        }
        let to = random.pick(&FloatType::ALL);
        let kind = random.pick(&Op::ALL).kind();
        let below = &mut |n| random.below(n);
        let (op, indices_shape) = of_params(kind, &shape, factor, below);
        let rules = rules(to, &mut random);
        let (index_type, indices_layout, indices) = indices(&shape, &indices_shape, &mut random);
        let [codes, scales, zero_points] = data(&format, &shape, &mut random);
        QuantizedGather {
            op,
            rules,
            format,
            shape,
            codes: Codes(codes),
            scales: Codes(scales),
            zero_points: Codes(zero_points),
            index_type,
            indices_layout,
            indices: Codes(indices),
            to,
        }
    }

    /// The same with a table of numbers of which sums and products are normal: powers of two are taken
    /// from their middle. NaNs stay.
    pub fn tame(mut self) -> QuantizedGather {
        let middle = |scale: &mut u8| *scale = 100 + *scale % 50;
        match self.format {
            Format::Split(split) if split.scales == ScaleType::E8M0 => {
                self.scales.0.iter_mut().for_each(middle);
            }
            Format::Blocks(BlockFormat::Mxfp4) => {
                self.codes.0.iter_mut().step_by(17).for_each(middle);
            }
            Format::Blocks(BlockFormat::BF16) => {
                // The upper seven bits of an exponent, above those of the mantissa.
                let halves = self.codes.0.iter_mut().skip(1).step_by(2);
                halves.for_each(|high| *high = (*high & 0x80) | (0x38 + *high % 15));
            }
            _ => {}
        }
        self
    }
}

fn split(random: &mut Numbers) -> SplitFormat {
    let codes = random.pick(&CodeType::ALL);
    let is_float = codes == CodeType::E4M3;
    let scales = match is_float {
        true => ScaleType::E8M0,
        false => random.pick(&[ScaleType::F32, ScaleType::F16, ScaleType::BF16]),
    };
    let zero_points = match random.below(4) {
        0 if !codes.is_signed() => ZeroPoints::Middle,
        1 if !is_float => ZeroPoints::Packed,
        2 if !is_float => ZeroPoints::PackedRows,
        _ => ZeroPoints::Zero,
    };
    SplitFormat {
        codes,
        scales,
        zero_points,
        block_size: random.pick(&[1, 2, 3, 4, 7, 8, 16, 32, 100, usize::MAX]),
        axis: 0,
    }
}

/// Elements of the last dim.
fn row(format: &Format, random: &mut Numbers) -> usize {
    match format {
        Format::Blocks(format) if format.block_elements() > 1 => {
            format.block_elements() * (1 + random.below(3))
        }
        _ => random.pick(&[1, 2, 3, 4, 5, 8, 12, 17, 31, 32, 33, 36, 64, 100]),
    }
}

fn rules(to: FloatType, random: &mut Numbers) -> Rules {
    let fill = Fill::from_bytes(&random.bytes(to.bytes()));
    let out_of_bounds = random.pick(&OutOfBounds::all(fill));
    Rules::new(random.pick(&Negative::ALL), out_of_bounds)
}

fn indices(shape: &[usize], dims: &[usize], random: &mut Numbers) -> (IndexType, Layout, Vec<u8>) {
    let index_type = random.pick(&IndexType::ALL);
    let count: usize = dims.iter().product();
    // Contiguous, or every other index from the second on.
    let (step, offset) = random.pick(&[(1, 0), (1, 0), (1, 3), (2, 1)]);
    let contiguous = Layout::contiguous(dims);
    let strides: Vec<isize> = contiguous.strides().iter().map(|s| s * step).collect();
    let layout = Layout::strided(dims, &strides, offset).expect("one stride for each");
    let few_bad = random.below(2) == 0;
    let least = shape.iter().copied().min().unwrap_or(1) as i64;
    let mut bytes = Vec::new();
    for _ in 0..count * step as usize + offset {
        let value = match random.below(if few_bad { 40 } else { 8 }) {
            0 => random.pick(&[
                -1,
                -2,
                7,
                1000,
                i64::MAX,
                i64::MIN,
                1 << 32,
                i64::from(u32::MAX),
            ]),
            1 => random.below(300) as i64,
            _ => random.below(least as usize) as i64,
        };
        index_type.encode(value.into(), &mut bytes);
    }
    (index_type, layout, bytes)
}

/// Codes, scales and zero points.
fn data(format: &Format, shape: &[usize], random: &mut Numbers) -> [Vec<u8>; 3] {
    let elements: usize = shape.iter().product();
    let row = shape[shape.len() - 1];
    match format {
        Format::Blocks(format) => {
            let blocks = elements / format.block_elements();
            let mut bytes = random.bytes(blocks * format.block_bytes());
            for block in bytes.chunks_mut(format.block_bytes()) {
                for &at in halves_of(*format) {
                    block[at..at + 2].copy_from_slice(&random.half().to_le_bytes());
                }
            }
            [bytes, Vec::new(), Vec::new()]
        }
        Format::Rows => {
            let mut bytes = Vec::new();
            for _ in 0..elements / row {
                bytes.extend(random.bytes(row));
                // Of so few bits that the product is exact, as is that of the formats above.
                let short =
                    |random: &mut Numbers| f32::from_bits(random.float().to_bits() & !0x1ff);
                bytes.extend(short(random).to_le_bytes());
                bytes.extend(short(random).to_le_bytes());
            }
            [bytes, Vec::new(), Vec::new()]
        }
        Format::Split(split) => split_data(split, shape, random),
        other => panic!("no data for {other}"),
    }
}

fn split_data(split: &SplitFormat, shape: &[usize], random: &mut Numbers) -> [Vec<u8>; 3] {
    let axis = (split.axis + shape.len() as isize) as usize % shape.len();
    let mut scales_shape = shape.to_vec();
    scales_shape[axis] = shape[axis].div_ceil(split.block_size);
    let (elements, scales): (usize, usize) =
        (shape.iter().product(), scales_shape.iter().product());
    let packed = |count: usize| (count * split.codes.bits()).div_ceil(8);
    let row = scales_shape[shape.len() - 1];
    let zero_points = match split.zero_points {
        ZeroPoints::Packed => packed(scales),
        ZeroPoints::PackedRows => scales / row * packed(row),
        _ => 0,
    };
    let mut bytes = Vec::new();
    for _ in 0..scales {
        match split.scales {
            ScaleType::F32 => bytes.extend(random.float().to_ne_bytes()),
            ScaleType::F16 => bytes.extend(random.half().to_ne_bytes()),
            ScaleType::BF16 => {
                bytes.extend(((random.float().to_bits() >> 16) as u16).to_ne_bytes());
            }
            _ => bytes.push(random.below(256) as u8),
        }
    }
    [
        random.bytes(packed(elements)),
        bytes,
        random.bytes(zero_points),
    ]
}
