//! Steps with one tensor: uploads, views, clones, writes of the program.

use wgpu_gather::gpu::AnyDeviceTensor;
use wgpu_gather::{DType, Layout, Params};

use super::calls::DTYPES;
use super::expected::{Difference, Outcome, Stepped};
use super::machine::Machine;
use super::model::Call;
use super::slots::Slot;
use super::view::{View, to_bytes};

/// Element number `n` of an upload: most integers are good indices of small tensors.
fn element(dtype: DType, seed: u16, n: usize) -> u64 {
    let mixed = (u64::from(seed) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        ^ (n as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let random = (mixed ^ (mixed >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32;
    let is_odd = seed % 4 == 3 && random.is_multiple_of(5);
    match dtype {
        DType::U32 if is_odd => [7, 9, u64::from(u32::MAX), 0xffff_fffe][(random / 5 % 4) as usize],
        DType::I64 if is_odd => {
            [-1i64, -7, (1 << 32) + 1, i64::MIN][(random / 5 % 4) as usize] as u64
        }
        DType::U32 | DType::I64 => random / 16 % 3,
        DType::F32 => u64::from(((random / 16 % 23) as f32 * 0.5 - 4.0).to_bits()),
        _ => random & 0xff,
    }
}

fn extents(shape: &[u8]) -> Vec<usize> {
    let extent = |&n: &u8| if n == 0 { 0 } else { 1 + usize::from(n) % 5 };
    shape.iter().map(extent).collect()
}

/// Why a step that wants tensors of its own does nothing.
pub(super) const LOST: &str = "no tensor on a lost device";

impl Machine {
    pub(super) fn upload(&mut self, engine: u8, dtype: u8, shape: &[u8], seed: u16) -> Stepped {
        let engine = usize::from(engine) % self.engines.len();
        let dtype = DTYPES[usize::from(dtype) % DTYPES.len()];
        self.uploaded(engine, dtype, &extents(shape), seed)?;
        Ok(Outcome::Done)
    }

    /// A new tensor.
    pub(super) fn uploaded(
        &mut self,
        engine: usize,
        dtype: DType,
        shape: &[usize],
        seed: u16,
    ) -> std::result::Result<Slot, Difference> {
        let count = shape.iter().product();
        let elements: Vec<u64> = (0..count).map(|n| element(dtype, seed, n)).collect();
        let bytes = to_bytes(dtype, &elements);
        let params = Params::new(&bytes, dtype, Layout::contiguous(shape));
        let made = params.and_then(|params| self.engines[engine].upload(&params).wait());
        let Some(tensor) = self.expects(engine).check("an upload", made)? else {
            return Err(LOST.to_owned());
        };
        let view = self.model.upload(dtype, shape, elements);
        Ok(self.keep(tensor, view, engine, false))
    }

    /// Adds a tensor to those of the program.
    pub(super) fn keep(
        &mut self,
        tensor: AnyDeviceTensor,
        view: View,
        engine: usize,
        is_new: bool,
    ) -> Slot {
        let slot = Slot {
            tensor,
            view,
            engine,
            is_new,
            is_wrapped: false,
        };
        self.slots.push(slot.clone());
        slot
    }

    pub(super) fn view(&mut self, of: u8, how: u8, a: u8, b: u8) -> Stepped {
        let Some(slot) = self.pick(of, None, |slot| slot.view.rank() > 0) else {
            return Ok(Outcome::Skipped);
        };
        let (view, tensor) = (&slot.view, &slot.tensor);
        let (a, b) = (usize::from(a), usize::from(b));
        let axis = a % view.rank();
        let extent = view.shape[axis];
        let (made, view) = match how % 6 {
            0..3 => {
                let start = a / 8 % (extent + 1);
                let end = start + b % (extent - start + 1);
                (tensor.slice(axis, start..end), view.slice(axis, start, end))
            }
            3 => {
                let mut axes: Vec<usize> = (0..view.rank()).collect();
                axes.swap(axis, b % view.rank());
                (tensor.permute(&axes), view.permute(&axes))
            }
            4 => {
                let times = 1 + b % 3;
                let shape = [&[times], &view.shape[..]].concat();
                (tensor.broadcast(&shape), view.repeated(times))
            }
            _ if !view.is_contiguous() || view.is_empty() => return Ok(Outcome::Skipped),
            _ => {
                let all = view.elements();
                let shape = match b % 2 {
                    0 => vec![all],
                    _ => vec![view.shape[0], all / view.shape[0]],
                };
                (tensor.reshape(&shape), view.reshape(&shape))
            }
        };
        if view.rank() > 6 {
            return Ok(Outcome::Skipped);
        }
        let made = made.map_err(|error| format!("a view: {error:?}"))?;
        if made.shape() != view.shape {
            return Err(format!(
                "a view: {:?}, expected {:?}",
                made.shape(),
                view.shape
            ));
        }
        let made = Slot {
            tensor: made,
            view,
            ..slot
        };
        self.slots.push(made);
        Ok(Outcome::Done)
    }

    pub(super) fn clone_of(&mut self, of: u8) -> Stepped {
        let Some(slot) = self.pick(of, None, |_| true) else {
            return Ok(Outcome::Skipped);
        };
        self.slots.push(slot);
        Ok(Outcome::Done)
    }

    pub(super) fn drop_one(&mut self, of: u8) -> Stepped {
        if self.slots.len() < 5 {
            return Ok(Outcome::Skipped);
        }
        let at = usize::from(of) % self.slots.len();
        self.slots.remove(at);
        Ok(Outcome::Done)
    }

    /// Overwrites a row of a tensor by the queue, after its buffer was taken.
    pub(super) fn write(&mut self, to: u8, at: u8, seed: u16) -> Stepped {
        let is_good = |slot: &Slot| {
            let words = slot.view.dtype.bytes() >= 4;
            words && slot.view.is_contiguous() && !slot.view.is_empty() && !slot.is_new
        };
        let Some(slot) = self.pick(to, None, is_good) else {
            return Ok(Outcome::Skipped);
        };
        let (dtype, all) = (slot.view.dtype, slot.view.elements());
        let first = usize::from(at) % all;
        let count = 1 + usize::from(at / 8) % (all - first);
        let elements: Vec<u64> = (0..count).map(|n| element(dtype, seed, n)).collect();
        let part = slot.view.reshape(&[all]).slice(0, first, first + count);
        let slice = slot.tensor.share_slice();
        let offset = slice.offset() + (part.offset * dtype.bytes()) as u64;
        let queue = self.engines[slot.engine].queue();
        queue.write_buffer(slice.buffer(), offset, &to_bytes(dtype, &elements));
        self.model.write(&part, &elements);
        Ok(Outcome::Done)
    }

    /// Writes host data to a tensor or a view, by the engine: data of another shape or type is refused.
    pub(super) fn put(&mut self, to: u8, seed: u16, stray: u8) -> Stepped {
        let is_good = |slot: &Slot| self.is_ready(slot) && !self.model.is_in_batch(&slot.view);
        let Some(slot) = self.pick(to, None, is_good) else {
            return Ok(Outcome::Skipped);
        };
        let (dtype, shape) = match stray {
            1 => (slot.view.dtype, [&[2], &slot.view.shape[..]].concat()),
            2 => (DTYPES[usize::from(to / 8) % 5], slot.view.shape.clone()),
            _ => (slot.view.dtype, slot.view.shape.clone()),
        };
        let count = shape.iter().product();
        let elements: Vec<u64> = (0..count).map(|n| element(dtype, seed, n)).collect();
        let bytes = to_bytes(dtype, &elements);
        let mut expected = self.expects(slot.engine);
        expected.when(shape != slot.view.shape, "UpdatesShape");
        expected.when(dtype != slot.view.dtype, "OtherElements");
        expected.when(slot.view.overlaps(), "OverlappingDestination");
        let mut tensor = slot.tensor.clone();
        let data = Params::new(&bytes, dtype, Layout::contiguous(&shape));
        let engine = &self.engines[slot.engine];
        let got = data.and_then(|data| engine.write(&mut tensor, &data).wait());
        if expected.check("a write of host data", got)?.is_none() {
            return Ok(Outcome::Refused);
        }
        let from = self.model.upload(dtype, &shape, elements);
        let to = slot.view;
        let replaces = self.model.is_whole(&to);
        let call = Call::Copy {
            from,
            to: to.clone(),
        };
        self.model.record_now(call, &to, &[], replaces);
        Ok(Outcome::Done)
    }

    /// Wraps the buffer of a tensor, from the tensor on.
    pub(super) fn wrap(&mut self, of: u8) -> Stepped {
        let is_good = |slot: &Slot| {
            let starts = (slot.view.offset * slot.view.dtype.bytes()).is_multiple_of(16);
            starts && slot.view.is_contiguous() && !slot.view.is_empty() && !slot.is_new
        };
        let Some(slot) = self.pick(of, None, is_good) else {
            return Ok(Outcome::Skipped);
        };
        let width = slot.view.dtype.bytes();
        let all = slot.tensor.share_slice();
        let offset = all.offset() + (slot.view.offset * width) as u64;
        let slice = all.buffer().slice(offset..);
        let layout = Layout::contiguous(&slot.view.shape);
        let wrapped = AnyDeviceTensor::wrap(slice, slot.view.dtype, layout);
        let tensor = wrapped.map_err(|error| format!("a wrap: {error:?}"))?;
        let view = self.model.wrap(&slot.view, all.buffer().size() - offset);
        self.slots.push(Slot {
            tensor,
            view,
            is_wrapped: true,
            ..slot
        });
        Ok(Outcome::Done)
    }

    pub(super) fn flush(&mut self, engine: u8) -> Stepped {
        let engine = usize::from(engine) % self.engines.len();
        let flushed = self.engines[engine].flush();
        match self.expects(engine).check("a flush", flushed)? {
            Some(()) => Ok(Outcome::Done),
            None => Ok(Outcome::Refused),
        }
    }

    pub(super) fn trim(&mut self, engine: u8) -> Stepped {
        let engine = &self.engines[usize::from(engine) % self.engines.len()];
        engine.trim_pool();
        match engine.pool_bytes() {
            bytes if bytes == 0 || !self.is_alone => Ok(Outcome::Done),
            bytes => Err(format!("a pool of {bytes} bytes after it was trimmed")),
        }
    }
}
