//! Scatters as bytes, random ones among them, checked against the reference.

use gather_conformance::{Call, SplitMix, call_from};
use wgpu_gather::{
    DType, Executor, Fill, Layout, OutOfBounds, Params, Reduce, Result, ScatterCall,
};

use crate::common::block_on;

/// One scatter on tensors in memory. `call` has the operator, the rules and the indices; its params
/// are the destination, of which the shape counts.
#[derive(Debug, Clone)]
pub(crate) struct Scatter {
    pub(crate) call: Call,
    pub(crate) reduce: Reduce,
    pub(crate) dtype: DType,
    pub(crate) base: Vec<u8>,
    pub(crate) updates: Vec<u8>,
    pub(crate) updates_layout: Layout,
}

impl Scatter {
    /// What `executor` leaves in the destination.
    pub(crate) fn run(&self, executor: &Executor) -> Result<Vec<u8>> {
        self.run_by(|call, destination| block_on(executor.scatter_bytes(call, destination)))
    }

    /// What `execute` leaves in the destination.
    pub(crate) fn run_by(
        &self,
        execute: impl FnOnce(ScatterCall<'_>, &mut [u8]) -> Result<()>,
    ) -> Result<Vec<u8>> {
        let width = self.dtype.bytes();
        let updates = Params::new(&self.updates, width, self.updates_layout.clone())?;
        let indices = self.call.indices()?;
        let mut destination = self.base.clone();
        let call = ScatterCall {
            op: self.call.op,
            reduce: self.reduce,
            rules: &self.call.rules,
            dtype: self.dtype,
            shape: self.call.params_layout.shape(),
            indices: &indices,
            updates: &updates,
        };
        execute(call, &mut destination)?;
        Ok(destination)
    }

    /// What is wrong with what `executor` makes of it; nothing, if that is what the reference makes.
    pub(crate) fn difference(&self, executor: &Executor) -> Option<String> {
        let expected = self.run(&Executor::Reference);
        let got = self.run(executor);
        match (expected, got) {
            (Ok(expected), Ok(got)) => {
                let width = self.dtype.bytes();
                let elements = expected.chunks(width).zip(got.chunks(width));
                let differs = elements.enumerate().find(|(_, (e, g))| e != g);
                differs.map(|(n, (e, g))| format!("element {n} is {g:02x?}, expected {e:02x?}"))
            }
            (Err(expected), Err(got)) if expected == got => None,
            (expected, got) => Some(format!(
                "{:?}, expected {:?}",
                got.map(|_| "a result"),
                expected.map(|_| "a result")
            )),
        }
    }
}

/// The shape of a gather of so many random numbers, made a scatter; `None`, if the shapes do not fit.
pub(crate) fn random_scatter(random: &mut SplitMix, dtypes: &[DType]) -> Option<Scatter> {
    let choices: Vec<u32> = (0..120).map(|_| random.draw() as u32).collect();
    let mut call = call_from(&choices);
    let mut below = |n: usize| random.draw() as usize % n;
    let dtype = dtypes[below(dtypes.len())];
    let reduce = Reduce::ALL[below(5)];
    let shape = call.params_layout.shape().to_vec();
    call.params_layout = Layout::contiguous(&shape);
    call.element_bytes = dtype.bytes();
    if let OutOfBounds::Fill(_) = call.rules.out_of_bounds {
        let value = Fill::from_bytes(&vec![7; dtype.bytes()]);
        call.rules.out_of_bounds = OutOfBounds::Fill(value);
    }
    let updates_shape = call.output_shape().ok()?;
    let count: usize = updates_shape.iter().product();
    let elements: usize = shape.iter().product();
    if count > 1 << 14 || elements > 1 << 16 {
        return None;
    }
    let (updates_layout, reached) = some_layout(below(4), &updates_shape, count);
    Some(Scatter {
        base: values(dtype, elements, below(1 << 30) as u64),
        updates: values(dtype, reached, below(1 << 30) as u64),
        call,
        reduce,
        dtype,
        updates_layout,
    })
}

/// A layout of this shape, and how many elements it reaches.
fn some_layout(kind: usize, shape: &[usize], count: usize) -> (Layout, usize) {
    let usual = Layout::contiguous(shape);
    let strided = |strides: &[isize], offset| Layout::strided(shape, strides, offset).unwrap();
    match kind {
        // the dims the other way round in memory
        0 => {
            let reversed: Vec<usize> = shape.iter().rev().copied().collect();
            let mut strides = Layout::contiguous(&reversed).strides().to_vec();
            strides.reverse();
            (strided(&strides, 0), count)
        }
        // with gaps
        1 => {
            let strides: Vec<isize> = usual.strides().iter().map(|s| 2 * s).collect();
            (strided(&strides, 1), 2 * count + 1)
        }
        _ => (usual, count),
    }
}

/// Values of a type: small numbers, large ones, and what is special about floats but subnormals.
pub(crate) fn values(dtype: DType, count: usize, seed: u64) -> Vec<u8> {
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
            _ => bytes.extend(&bits.to_ne_bytes()[..dtype.bytes()]),
        }
    }
    bytes
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
