//! ndarray: `select`. It gathers on one thread.

use anyhow::Result;
use bytemuck::Pod;
use ndarray::{Array, Axis, Dimension, Ix1, Ix2, Ix3, Ix4, RemoveAxis};
use wgpu_gather::IndexType;

use crate::gather::{Gather, Offer, Peer, Sets};
use crate::task::{Simple, Task};

pub(crate) struct Ndarray;

impl Peer for Ndarray {
    fn name(&self) -> &'static str {
        "ndarray"
    }

    fn load<'a>(&'a self, task: &'a Task) -> Result<Offer<'a>> {
        let axis = match task.simple() {
            Ok(Simple::Select(dim)) => Axis(dim),
            Ok(Simple::Nd) => return Ok(Offer::not("no gather_nd")),
            Ok(Simple::Elements(_)) => return Ok(Offer::not("no gather_elements")),
            Err(reason) => return Ok(Offer::Not(reason)),
        };
        match task.case().dtype.bytes() {
            1 => ranked::<u8>(task, axis),
            2 => ranked::<u16>(task, axis),
            _ => ranked::<u32>(task, axis),
        }
    }
}

/// With the number of dims in the type, as its users mostly have it.
fn ranked<T: Pod>(task: &Task, axis: Axis) -> Result<Offer<'_>> {
    match task.case().params.len() {
        1 => load::<T, Ix1>(task, axis),
        2 => load::<T, Ix2>(task, axis),
        3 => load::<T, Ix3>(task, axis),
        4 => load::<T, Ix4>(task, axis),
        rank => Ok(Offer::not(format!("rank {rank} is not written here"))),
    }
}

fn load<'a, T: Pod, D: Dimension + RemoveAxis + 'a>(
    task: &'a Task,
    axis: Axis,
) -> Result<Offer<'a>> {
    let values: Vec<T> = bytemuck::pod_collect_to_vec(&task.params);
    let params = Array::from_shape_vec(task.case().params.clone(), values)?;
    let indices = task.indices.iter().map(|set| match task.case().index_type {
        IndexType::I64 => positions::<i64>(set),
        _ => positions::<i32>(set),
    });
    Ok(Offer::of(Loaded::<T, D> {
        axis,
        params: params.into_dimensionality()?,
        indices: indices.collect(),
    }))
}

/// The indices as it wants them: `usize`.
fn positions<I: Pod + Into<i64>>(bytes: &[u8]) -> Vec<usize> {
    let values: Vec<I> = bytemuck::pod_collect_to_vec(bytes);
    values.into_iter().map(|i| i.into() as usize).collect()
}

struct Loaded<T, D> {
    axis: Axis,
    params: Array<T, D>,
    indices: Vec<Vec<usize>>,
}

impl<T: Pod, D: Dimension + RemoveAxis> Gather for Loaded<T, D> {
    fn call(&self) -> String {
        "ArrayBase::select".into()
    }

    fn run(&mut self, sets: Sets) -> Result<()> {
        for set in sets {
            std::hint::black_box(self.params.select(self.axis, &self.indices[set]));
        }
        Ok(())
    }

    fn bytes(&mut self, set: usize) -> Result<Vec<u8>> {
        let output = self.params.select(self.axis, &self.indices[set]);
        let values: Vec<T> = output.iter().copied().collect();
        Ok(bytemuck::cast_slice(&values).to_vec())
    }
}
