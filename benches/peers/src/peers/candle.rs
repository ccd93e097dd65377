//! candle on the CPU: `index_select` and `gather`. It gathers on one thread.

use anyhow::Result;
use candle_core::{Device, Tensor, WithDType};
use half::f16;
use wgpu_gather::{DType, IndexType};

use crate::gather::{Gather, Offer, Peer, Sets};
use crate::task::{Simple, Task};

pub(crate) struct Candle;

impl Peer for Candle {
    fn name(&self) -> &'static str {
        "candle-core"
    }

    fn load<'a>(&'a self, task: &'a Task) -> Result<Offer<'a>> {
        let op = match task.simple() {
            Ok(Simple::Nd) => return Ok(Offer::not("no gather_nd")),
            Ok(op) => op,
            Err(reason) => return Ok(Offer::Not(reason)),
        };
        let case = task.case();
        let params = match case.dtype {
            DType::U8 => tensor::<u8>(&task.params, &case.params),
            DType::F16 => tensor::<f16>(&task.params, &case.params),
            DType::F32 => tensor::<f32>(&task.params, &case.params),
            DType::I32 => tensor::<i32>(&task.params, &case.params),
            other => return Ok(Offer::not(format!("no {other}"))),
        }?;
        // Its indices are u8, u32 and i64; no index of a case is negative.
        let indices = task.indices.iter().map(|set| match case.index_type {
            IndexType::I64 | IndexType::U64 => tensor::<i64>(set, &case.indices),
            IndexType::I32 | IndexType::U32 => tensor::<u32>(set, &case.indices),
        });
        Ok(Offer::of(Loaded {
            op,
            params,
            indices: indices.collect::<Result<_>>()?,
        }))
    }
}

fn tensor<T: WithDType + bytemuck::Pod>(bytes: &[u8], shape: &[usize]) -> Result<Tensor> {
    let values: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
    Ok(Tensor::from_vec(values, shape, &Device::Cpu)?)
}

struct Loaded {
    op: Simple,
    params: Tensor,
    indices: Vec<Tensor>,
}

impl Loaded {
    fn gather(&self, set: usize) -> Result<Tensor> {
        let indices = &self.indices[set];
        Ok(match self.op {
            Simple::Elements(dim) => self.params.gather(indices, dim)?,
            Simple::Select(dim) => self.params.index_select(indices, dim)?,
            Simple::Nd => anyhow::bail!("no gather_nd"),
        })
    }
}

impl Gather for Loaded {
    fn call(&self) -> String {
        match self.op {
            Simple::Elements(_) => "Tensor::gather".into(),
            _ => "Tensor::index_select".into(),
        }
    }

    fn run(&mut self, mut sets: Sets) -> Result<()> {
        sets.try_for_each(|set| {
            std::hint::black_box(self.gather(set)?);
            Ok(())
        })
    }

    fn bytes(&mut self, set: usize) -> Result<Vec<u8>> {
        let output = self.gather(set)?.flatten_all()?;
        Ok(match output.dtype() {
            candle_core::DType::U8 => output.to_vec1::<u8>()?,
            candle_core::DType::F16 => bytes(&output.to_vec1::<f16>()?),
            candle_core::DType::F32 => bytes(&output.to_vec1::<f32>()?),
            _ => bytes(&output.to_vec1::<i32>()?),
        })
    }
}

fn bytes<T: bytemuck::Pod>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}
