//! A pooled lookup in bytes, checked against the reference.

use std::fmt;

use approx::AbsDiffEq;
use wgpu_gather::{
    BagMode, Bags, DType, Executor, Fill, IndexType, Indices, Layout, OutOfBounds, Params, Result,
    Rules,
};

use crate::close::within_ulps;
use crate::output::{describe, difference, hexadecimal, poisoned};

/// The error of a mean, in ulps of f32 at most: 2.5 for its division. Rounded up, as two results are
/// compared of which each may be off.
const MEAN_ULPS: u32 = 3;

/// Of a mean that is rounded to f16 or bf16: the one that its f32 may be off.
const HALF_MEAN_ULPS: u32 = 1;

/// The unit of the error of a weighted sum of f32: 2^-24.
const UNIT: f64 = 1.0 / 16_777_216.0;

/// Bytes with a layout.
#[derive(Clone)]
pub struct Laid {
    /// The data.
    pub bytes: Vec<u8>,
    /// How the tensor lies in it.
    pub layout: Layout,
}

impl Laid {
    /// The tensor as the executors take it.
    ///
    /// # Errors
    ///
    /// As [`Params::new`].
    pub fn as_params(&self, dtype: DType) -> Result<Params<'_>> {
        Params::new(&self.bytes, dtype, self.layout.clone())
    }
}

/// The layout, and the data of small tensors.
impl fmt::Debug for Laid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes.len() {
            0..=256 => write!(f, "{:?} in {:02x?}", self.layout, self.bytes),
            bytes => write!(f, "{:?} in {bytes} bytes", self.layout),
        }
    }
}

/// One pooled lookup on tensors in memory.
#[derive(Debug, Clone)]
pub struct Bag {
    /// How the rows of a bag are pooled.
    pub mode: BagMode,
    /// Offsets, and whether the end of the last bag is among them; each row of the indices is a bag
    /// without them.
    pub offsets: Option<(Vec<usize>, bool)>,
    /// The row that is left out.
    pub padding: Option<isize>,
    /// How the indices are treated.
    pub rules: Rules,
    /// The type of the elements.
    pub dtype: DType,
    /// The table.
    pub params: Laid,
    /// The type of the indices.
    pub index_type: IndexType,
    /// The indices.
    pub indices: Laid,
    /// A weight for each index.
    pub weights: Option<Laid>,
}

impl Bag {
    /// The bags as the library takes them.
    pub fn bags(&self) -> Bags<'_> {
        let bags = match &self.offsets {
            None => Bags::rows(self.mode),
            Some((offsets, false)) => Bags::offsets(self.mode, offsets),
            Some((offsets, true)) => Bags::offsets_with_last(self.mode, offsets),
        };
        self.padding
            .map_or(bags, |padding| bags.with_padding_index(padding))
    }

    /// What `executor` makes of it, in a poisoned output.
    ///
    /// # Errors
    ///
    /// The executor's.
    pub fn run(&self, executor: &Executor) -> Result<Vec<u8>> {
        pollster::block_on(self.output(executor))
    }

    /// [`Bag::run`] where nothing may block.
    ///
    /// # Errors
    ///
    /// The executor's.
    pub async fn output(&self, executor: &Executor) -> Result<Vec<u8>> {
        let params = self.params.as_params(self.dtype)?;
        let layout = self.indices.layout.clone();
        let indices = Indices::new(self.indices.bytes.as_slice(), self.index_type, layout)?;
        let weights = self.weights.as_ref();
        let weights = weights.map(|w| w.as_params(self.dtype)).transpose()?;
        let mut call = executor.embedding_bag(self.bags(), &self.rules, &params, &indices);
        if let Some(weights) = &weights {
            call = call.weights(weights);
        }
        let mut output = poisoned(&call.output_shape()?, self.dtype.bytes())?;
        call.into(&mut output).await?;
        Ok(output)
    }

    /// What is wrong with what `executor` makes of it, against the reference.
    pub fn difference(&self, executor: &Executor) -> Option<String> {
        difference(
            self.run(&Executor::Reference),
            self.run(executor),
            |expected, got| self.compare(expected, got),
        )
    }

    /// The first element that differs: in its bits, or, if it may be rounded in more than one way, by more
    /// than the documentation of `Executor::embedding_bag` has it.
    pub fn compare(&self, expected: &[u8], got: &[u8]) -> Option<String> {
        let width = self.dtype.bytes();
        if expected.len() != got.len() {
            return Some(format!("{} bytes, expected {}", got.len(), expected.len()));
        }
        let spread = match (&self.weights, self.dtype) {
            (Some(_), DType::F32) if expected != got => self.spread(),
            _ => Vec::new(),
        };
        let is_close = |n: usize, e: &[u8], g: &[u8]| match (&self.weights, self.mode, self.dtype) {
            (Some(_), _, DType::F32) => {
                let value = |b: &[u8]| f64::from(bytemuck::pod_read_unaligned::<f32>(b));
                e == g || value(e).abs_diff_eq(&value(g), spread[n])
            }
            (_, BagMode::Mean, DType::F32) => within_ulps(self.dtype, e, g, MEAN_ULPS),
            (_, BagMode::Mean, DType::F16 | DType::BF16) => {
                within_ulps(self.dtype, e, g, HALF_MEAN_ULPS)
            }
            _ => e == g,
        };
        let pairs = expected.chunks(width).zip(got.chunks(width));
        let (n, (e, g)) = pairs.enumerate().find(|(n, (e, g))| !is_close(*n, e, g))?;
        let row = self.params.layout.shape()[1..].iter().product::<usize>();
        let shape = [got.len() / width / row, row];
        Some(describe(&shape, n, &hexadecimal(g), &hexadecimal(e)))
    }

    /// How far each weighted sum of f32 may be off: `2 n` units of 2^-24 of the sum of the magnitudes, for
    /// the `n` rows of its bag.
    fn spread(&self) -> Vec<f64> {
        let magnitudes = |laid: &Laid| Laid {
            bytes: laid
                .bytes
                .chunks(4)
                .flat_map(|b| [b[0], b[1], b[2], b[3] & 0x7f])
                .collect(),
            layout: laid.layout.clone(),
        };
        let all = Bag {
            params: magnitudes(&self.params),
            weights: self.weights.as_ref().map(magnitudes),
            rules: match &self.rules.out_of_bounds {
                OutOfBounds::Error => Rules::new(self.rules.negative, OutOfBounds::Zero),
                OutOfBounds::Fill(fill) => {
                    let mut fill = fill.bytes().to_vec();
                    fill.last_mut().into_iter().for_each(|byte| *byte &= 0x7f);
                    let fill = OutOfBounds::Fill(Fill::from_bytes(&fill));
                    Rules::new(self.rules.negative, fill)
                }
                _ => self.rules.clone(),
            },
            ..self.clone()
        };
        let sums = all.run(&Executor::Reference).expect("a sum");
        let row: usize = self.params.layout.shape()[1..].iter().product();
        let sums = sums.chunks(4).map(bytemuck::pod_read_unaligned::<f32>);
        // (The sum of the magnitudes is rounded, too.)
        sums.enumerate()
            .map(|(n, sum)| 2.0 * self.rows_of(n / row) as f64 * UNIT * f64::from(sum.abs()) * 1.01)
            .collect()
    }

    /// How many indices a bag has.
    fn rows_of(&self, bag: usize) -> usize {
        let shape = self.indices.layout.shape();
        match &self.offsets {
            None => shape[1],
            Some((offsets, _)) => offsets.get(bag + 1).unwrap_or(&shape[0]) - offsets[bag],
        }
    }
}
