//! The CPU path.

use anyhow::Result;
use bytemuck::{Pod, try_cast_slice};
use memmap2::MmapMut;
use wgpu_gather::{Element, Executor, Index, TensorView};

use crate::gather::{Gather, Output, Sets};
use crate::ours::typed;
use crate::serve::huge;
use crate::task::{SETS, Task};

/// `Executor::gather`, and the same `into` memory that is kept.
pub(crate) fn contestants<'a>(
    task: &'a Task,
    params: &'a [u8],
) -> Result<Vec<Box<dyn Gather + 'a>>> {
    typed!(task, load(task, params))
}

fn load<'a, T: Pod + Element, I: Pod + Index>(
    task: &'a Task,
    params: &'a [u8],
) -> Result<Vec<Box<dyn Gather + 'a>>> {
    let case = task.case();
    let elements = try_cast_slice(params).map_err(|e| anyhow::anyhow!("params: {e}"))?;
    let indices = task.indices.iter().map(|set| {
        let values: &[I] = try_cast_slice(set).map_err(|e| anyhow::anyhow!("indices: {e}"))?;
        Ok(TensorView::new(&case.indices, values)?)
    });
    let fresh = Fresh::<T, I> {
        task,
        params: TensorView::new(&case.params, elements)?,
        indices: indices.collect::<Result<_>>()?,
    };
    let kept = Kept::<T, I> {
        task,
        params: fresh.params.clone(),
        indices: fresh.indices.clone(),
        output: output(task.scaled.output_bytes())?,
    };
    assert_eq!(kept.indices.len(), SETS);
    Ok(vec![Box::new(fresh), Box::new(kept)])
}

struct Fresh<'a, T: Pod + Element, I: Pod + Index> {
    task: &'a Task,
    params: TensorView<'a, T>,
    indices: Vec<TensorView<'a, I>>,
}

impl<T: Pod + Element, I: Pod + Index> Fresh<'_, T, I> {
    fn gather(&self, set: usize) -> Result<wgpu_gather::Tensor<T>> {
        let (op, rules) = (self.task.case().op, self.task.rules());
        let indices = &self.indices[set];
        Ok(Executor::Cpu
            .gather(op, rules, &self.params, indices)
            .wait()?)
    }
}

impl<T: Pod + Element, I: Pod + Index> Gather for Fresh<'_, T, I> {
    fn call(&self) -> String {
        "Executor::Cpu.gather".into()
    }

    fn run(&mut self, mut sets: Sets) -> Result<()> {
        sets.try_for_each(|set| {
            std::hint::black_box(self.gather(set)?);
            Ok(())
        })
    }

    fn bytes(&mut self, set: usize) -> Result<Vec<u8>> {
        Ok(bytemuck::cast_slice(self.gather(set)?.data()).to_vec())
    }
}

struct Kept<'a, T: Pod + Element, I: Pod + Index> {
    task: &'a Task,
    params: TensorView<'a, T>,
    indices: Vec<TensorView<'a, I>>,
    output: MmapMut,
}

/// Memory that starts with a cache line, as other libraries' tensors do (that of a large `Vec` starts
/// 16 bytes later, and rows of 256 bytes then take 1.1 times as long), in large pages, as NumPy's outputs are. It is
/// written to, so that it is really there.
fn output(bytes: usize) -> Result<MmapMut> {
    huge(&vec![0xa5; bytes])
}

impl<T: Pod + Element, I: Pod + Index> Kept<'_, T, I> {
    fn gather(&mut self, set: usize) -> Result<()> {
        let (op, rules) = (self.task.case().op, self.task.rules());
        let (params, indices) = (&self.params, &self.indices[set]);
        // A mapping starts with a page, so its bytes are elements as they are.
        let output: &mut [T] = bytemuck::cast_slice_mut(&mut self.output[..]);
        let call = Executor::Cpu.gather(op, rules, params, indices);
        Ok(call.into(output).wait()?)
    }
}

impl<T: Pod + Element, I: Pod + Index> Gather for Kept<'_, T, I> {
    fn call(&self) -> String {
        "Executor::Cpu.gather().into()".into()
    }

    fn output(&self) -> Output {
        Output::Kept
    }

    fn run(&mut self, mut sets: Sets) -> Result<()> {
        sets.try_for_each(|set| self.gather(set))
    }

    fn bytes(&mut self, set: usize) -> Result<Vec<u8>> {
        self.gather(set)?;
        Ok(self.output.to_vec())
    }
}
