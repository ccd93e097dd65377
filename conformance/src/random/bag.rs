//! Random pooled lookups.

use wgpu_gather::{BagMode, DType, Fill, IndexType, Layout, Negative, OutOfBounds, Rules};

use crate::bag_call::{Bag, Laid};
use crate::builtin::SplitMix;

/// Draws numbers.
struct Draw<'a>(&'a mut SplitMix);

impl Draw<'_> {
    fn below(&mut self, n: usize) -> usize {
        (self.0.draw() % n.max(1) as u64) as usize
    }

    fn of<T: Clone>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())].clone()
    }
}

/// A random pooled lookup of one of these types.
pub fn random_bag(random: &mut SplitMix, dtypes: &[DType]) -> Bag {
    drawn(random, dtypes, None)
}

/// A random pooled lookup from this table of f32.
pub fn random_bag_of(random: &mut SplitMix, shape: &[usize], table: &[f32]) -> Bag {
    let params = Laid {
        bytes: bytemuck::cast_slice(table).to_vec(),
        layout: Layout::contiguous(shape),
    };
    drawn(random, &[DType::F32], Some(params))
}

fn drawn(random: &mut SplitMix, dtypes: &[DType], params: Option<Laid>) -> Bag {
    let mut draw = Draw(random);
    let dtype = draw.of(dtypes);
    let is_float = matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    let mode = match is_float {
        true => draw.of(&BagMode::ALL),
        false => draw.of(&[BagMode::Sum, BagMode::Max]),
    };
    let is_weighted = is_float && mode == BagMode::Sum && draw.below(2) == 0;
    let drawn_rows = draw.of(&[1, 2, 3, 5, 17, 100, 0]);
    let rows = params.as_ref().map_or(drawn_rows, |p| p.layout.shape()[0]);
    let row = draw.of(&[
        vec![4],
        vec![1],
        vec![3],
        vec![8],
        vec![16],
        vec![],
        vec![2, 3],
        vec![5],
        vec![7, 4],
        vec![2, 2, 2],
        vec![67],
        vec![0],
        vec![260],
    ]);
    let bags = draw.of(&[3, 1, 2, 7, 0, 20]);
    let each = draw.of(&[3, 1, 2, 0, 9, 40]);
    let (shape, offsets) = match draw.below(3) {
        0 => (vec![bags, each], None),
        kind => {
            let indices = bags * each;
            (vec![indices], Some(offsets(&mut draw, indices, kind == 2)))
        }
    };
    let params = params.unwrap_or_else(|| {
        let params = laid(&mut draw, &[&[rows], &row[..]].concat(), dtype.bytes());
        Laid {
            bytes: values(&mut draw, dtype, params.bytes.len(), is_weighted),
            ..params
        }
    });
    let index_type = draw.of(&IndexType::ALL);
    let indices = laid(&mut draw, &shape, index_type.bytes());
    let mut bytes = Vec::new();
    for _ in indices.bytes.chunks(index_type.bytes()) {
        let wild = draw.below(8) == 0;
        let value = match wild {
            true => draw.below(2 * rows + 8) as i64 - rows as i64 - 4,
            false => draw.below(rows) as i64,
        };
        index_type.encode(value.into(), &mut bytes);
    }
    let indices = Laid { bytes, ..indices };
    let weights = is_weighted.then(|| {
        let weights = laid(&mut draw, &shape, dtype.bytes());
        Laid {
            bytes: values(&mut draw, dtype, weights.bytes.len(), true),
            ..weights
        }
    });
    let padding =
        (rows > 0 && draw.below(3) == 0).then(|| draw.below(2 * rows) as isize - rows as isize);
    let fill = Fill::from_bytes(&values(&mut draw, dtype, dtype.bytes(), true));
    let negative = draw.of(&Negative::ALL);
    Bag {
        mode,
        offsets,
        padding,
        rules: Rules::new(negative, draw.of(&OutOfBounds::all(fill))),
        dtype,
        params,
        index_type,
        indices,
        weights,
    }
}

/// Offsets of all kinds: empty bags, one with everything, each its own.
fn offsets(draw: &mut Draw<'_>, indices: usize, with_last: bool) -> (Vec<usize>, bool) {
    let mut offsets = match draw.below(4) {
        0 => vec![0],
        1 => (0..indices.max(1)).collect(),
        _ => {
            let count = draw.below(9);
            let mut some: Vec<usize> = (0..count).map(|_| draw.below(indices + 1)).collect();
            some.push(0);
            some.sort_unstable();
            some
        }
    };
    if with_last && draw.below(2) == 0 {
        offsets.push(indices);
    }
    (offsets, with_last)
}

/// A tensor of that shape, contiguous or not, with room for its data.
fn laid(draw: &mut Draw<'_>, shape: &[usize], width: usize) -> Laid {
    let contiguous = Layout::contiguous(shape);
    let last = shape.len().wrapping_sub(1);
    let layout = match draw.below(6) {
        // with a gap between elements of the outermost dim, and some before
        1 if !shape.is_empty() => {
            let mut strides = contiguous.strides().to_vec();
            strides[0] += 3;
            Layout::strided(shape, &strides, 5).expect("a layout")
        }
        // the other way round
        2 if shape.len() > 1 => {
            let turned: Vec<usize> = shape.iter().rev().copied().collect();
            let axes: Vec<usize> = (0..shape.len()).rev().collect();
            Layout::contiguous(&turned)
                .permute(&axes)
                .expect("each axis")
        }
        // from the end
        3 if !contiguous.is_empty() && !shape.is_empty() => {
            let mut strides = contiguous.strides().to_vec();
            let offset = (shape[0] - 1) as isize * strides[0];
            strides[0] = -strides[0];
            Layout::strided(shape, &strides, offset as usize).expect("a layout")
        }
        // every second of the innermost dim
        4 if !shape.is_empty() => {
            let strides: Vec<isize> = contiguous.strides().iter().map(|s| s * 2).collect();
            Layout::strided(shape, &strides, 1).expect("a layout")
        }
        // the same along a dim
        5 if !shape.is_empty() => {
            let mut strides = contiguous.strides().to_vec();
            strides[last] = 0;
            Layout::strided(shape, &strides, 2).expect("a layout")
        }
        _ => contiguous,
    };
    let elements = shape.iter().product::<usize>() * 2 + 3 * shape.first().unwrap_or(&0) + 8;
    Laid {
        bytes: vec![0; elements * width],
        layout,
    }
}

/// So many bytes of numbers of a type, none of them subnormal; if `tame`, of which the sums and the
/// products are normal numbers, too.
fn values(draw: &mut Draw<'_>, dtype: DType, bytes: usize, tame: bool) -> Vec<u8> {
    let value =
        |draw: &mut Draw<'_>, specials: &[u64], exponents: [u64; 2], mantissa: u32, sign: u32| {
            if !tame && draw.below(40) == 0 {
                return draw.of(specials);
            }
            let exponent = exponents[0] + draw.below((exponents[1] - exponents[0]) as usize) as u64;
            let bits = draw.0.draw() & ((1 << mantissa) - 1);
            bits | exponent << mantissa | (draw.0.draw() & 1) << sign
        };
    let width = dtype.bytes();
    let mut all = Vec::with_capacity(bytes);
    while all.len() < bytes {
        let element = match dtype {
            DType::F32 => value(
                draw,
                &[
                    0,
                    0x8000_0000,
                    0x7f80_0000,
                    0xff80_0000,
                    0x7fc1_2345,
                    0xff81_0000,
                    0x7f7f_ffff,
                ],
                [117, 137],
                23,
                31,
            ),
            DType::F16 => value(
                draw,
                &[0, 0x8000, 0x7c00, 0xfc00, 0x7e01, 0xfc01, 0x7bff, 1],
                [8, 22],
                10,
                15,
            ),
            DType::BF16 => value(
                draw,
                &[0, 0x8000, 0x7f80, 0xff80, 0x7fc1, 0xff81, 0x7f7f],
                [117, 137],
                7,
                15,
            ),
            DType::F64 => value(draw, &[0, 1 << 63, 0x7ff0 << 48], [1013, 1033], 52, 63),
            _ => draw.0.draw(),
        };
        all.extend(&element.to_le_bytes()[..width]);
    }
    all
}
