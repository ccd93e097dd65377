//! burn, on any of its backends: `select`, `gather` and `gather_nd`.

use anyhow::{Result, anyhow};
use burn_backend::tensor::{FloatTensor, IndexingUpdateOp, IntTensor};
use burn_backend::{Backend, Bytes, DType, Shape, TensorData};
use wgpu_gather::IndexType;

use crate::folds::{self, Call, Kind};
use crate::gather::{Gather, Offer, Peer, Sets};
use crate::task::{Simple, Task};

/// A backend of burn on one of its devices.
#[derive(Clone)]
pub(crate) struct Burn<B: Backend> {
    pub(crate) name: &'static str,
    pub(crate) device: B::Device,
}

impl<B: Backend> Burn<B> {
    fn data(&self, bytes: &[u8], shape: &[usize], dtype: DType) -> TensorData {
        let bytes = match dtype.size() {
            8 => Bytes::from_elems(bytemuck::pod_collect_to_vec::<u8, u64>(bytes)),
            4 => Bytes::from_elems(bytemuck::pod_collect_to_vec::<u8, u32>(bytes)),
            2 => Bytes::from_elems(bytemuck::pod_collect_to_vec::<u8, u16>(bytes)),
            _ => Bytes::from_elems(bytes.to_vec()),
        };
        TensorData::from_bytes(bytes, shape.to_vec(), dtype)
    }

    fn sync(&self) -> Result<()> {
        B::sync(&self.device).map_err(|error| anyhow!("{}: {error:?}", self.name))
    }
}

impl<B: Backend> Burn<B> {
    /// Sums of f32: `float_select_assign` on a copy or in place; of bags, `float_select` of all rows, and their sums.
    pub(crate) fn fold<'a>(&self, task: &'a folds::Task) -> Result<Call<'a>>
    where
        B: 'a,
    {
        let case = &task.case;
        let burn = self.clone();
        let floats = move |values: &[f32]| {
            let shape = [values.len() / case.columns, case.columns];
            let data = burn.data(bytemuck::cast_slice(values), &shape, DType::F32);
            B::float_from_data(data, &burn.device)
        };
        let ids = task.ids.iter().map(|set| {
            let data = self.data(bytemuck::cast_slice(set), &[case.ids], DType::I32);
            B::int_from_data(data, &self.device)
        });
        let (rows, updates) = (floats(task.rows.floats()), floats(task.updates.floats()));
        let ids: Vec<IntTensor<B>> = ids.collect();
        let (ids_of_place, updates_of_place) = (ids.clone(), updates.clone());
        self.sync()?;
        let fold = move |set: usize| -> FloatTensor<B> {
            let (rows, ids) = (rows.clone(), ids[set].clone());
            match case.kind {
                // A copy, for comparison.
                Kind::Scatter(_) | Kind::InPlace(_) | Kind::Gradient => {
                    let add = IndexingUpdateOp::Add;
                    B::float_select_assign(rows, 0, ids, updates.clone(), add)
                }
                Kind::Bags { each, .. } => {
                    let rows = B::float_select(rows, 0, ids);
                    let shape = Shape::from(vec![case.ids / each, each, case.columns]);
                    B::float_sum_dim(B::float_reshape(rows, shape), 1)
                }
            }
        };
        // Rows that nobody else has, which burn then writes to.
        let (mut own, own_ids, own_updates) = (None, ids_of_place, updates_of_place);
        let in_place = move |set: usize| {
            let rows = own.take().unwrap_or_else(|| floats(task.rows.floats()));
            let (ids, updates) = (own_ids[set].clone(), own_updates.clone());
            let add = IndexingUpdateOp::Add;
            own = Some(B::float_select_assign(rows, 0, ids, updates, add));
            Ok(())
        };
        let (again, waiting) = (fold.clone(), self.clone());
        Ok(Call {
            who: self.name,
            name: match case.kind {
                Kind::Scatter(_) | Kind::InPlace(_) | Kind::Gradient => "float_select_assign",
                Kind::Bags { .. } => "float_select, float_sum_dim",
            },
            fold: match case.kind {
                Kind::InPlace(_) => Box::new(in_place),
                _ => Box::new(move |set| {
                    std::hint::black_box(fold(set));
                    Ok(())
                }),
            },
            wait: Box::new(move || waiting.sync()),
            bytes: Box::new(move |set| {
                let data = pollster::block_on(B::float_into_data(again(set)));
                let data = data.map_err(|error| anyhow!("{error:?}"))?;
                Ok(data.as_bytes().to_vec())
            }),
        })
    }
}

impl<B: Backend> Peer for Burn<B> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn load<'a>(&'a self, task: &'a Task) -> Result<Offer<'a>> {
        let op = match task.simple() {
            Ok(op) => op,
            Err(reason) => return Ok(Offer::Not(reason)),
        };
        let case = task.case();
        let (dtype, index_type) = (dtype(case.dtype), index_type(case.index_type));
        for dtype in [dtype, index_type] {
            if !B::supports_dtype(&self.device, dtype) {
                return Ok(Offer::not(format!("no {dtype:?} on this device")));
            }
        }
        let params = self.data(&task.params, &case.params, dtype);
        let params = match dtype.is_float() {
            true => Either::Float(B::float_from_data(params, &self.device)),
            false => Either::Int(B::int_from_data(params, &self.device)),
        };
        let indices = task.indices.iter().map(|set| {
            let data = self.data(set, &case.indices, index_type);
            B::int_from_data(data, &self.device)
        });
        let loaded = Loaded {
            burn: self,
            op,
            indices: indices.collect(),
            params,
        };
        self.sync()?;
        Ok(Offer::of(loaded))
    }
}

fn dtype(dtype: wgpu_gather::DType) -> DType {
    use wgpu_gather::DType as Ours;
    match dtype {
        Ours::F16 => DType::F16,
        Ours::F32 => DType::F32,
        Ours::U8 => DType::U8,
        Ours::I32 => DType::I32,
        other => unreachable!("no case has {other}"),
    }
}

fn index_type(index_type: IndexType) -> DType {
    match index_type {
        IndexType::I64 | IndexType::U64 => DType::I64,
        IndexType::I32 | IndexType::U32 => DType::I32,
    }
}

/// Tensors of floats and of integers are different types.
enum Either<F, I> {
    Float(F),
    Int(I),
}

struct Loaded<'a, B: Backend> {
    burn: &'a Burn<B>,
    op: Simple,
    params: Either<FloatTensor<B>, IntTensor<B>>,
    indices: Vec<IntTensor<B>>,
}

impl<B: Backend> Loaded<'_, B> {
    fn gather(&self, set: usize) -> Either<FloatTensor<B>, IntTensor<B>> {
        let indices = self.indices[set].clone();
        match &self.params {
            Either::Float(params) => {
                let params = params.clone();
                Either::Float(match self.op {
                    Simple::Select(dim) => B::float_select(params, dim, indices),
                    Simple::Elements(dim) => B::float_gather(dim, params, indices),
                    Simple::Nd => B::float_gather_nd(params, indices),
                })
            }
            Either::Int(params) => {
                let params = params.clone();
                Either::Int(match self.op {
                    Simple::Select(dim) => B::int_select(params, dim, indices),
                    Simple::Elements(dim) => B::int_gather(dim, params, indices),
                    Simple::Nd => B::int_gather_nd(params, indices),
                })
            }
        }
    }
}

impl<B: Backend> Gather for Loaded<'_, B> {
    fn call(&self) -> String {
        let kind = match self.params {
            Either::Float(_) => "float",
            Either::Int(_) => "int",
        };
        let op = match self.op {
            Simple::Select(_) => "select",
            Simple::Elements(_) => "gather",
            Simple::Nd => "gather_nd",
        };
        format!("{kind}_{op}")
    }

    fn run(&mut self, sets: Sets) -> Result<()> {
        for set in sets {
            std::hint::black_box(self.gather(set));
        }
        self.burn.sync()
    }

    fn bytes(&mut self, set: usize) -> Result<Vec<u8>> {
        let data = match self.gather(set) {
            Either::Float(output) => pollster::block_on(B::float_into_data(output)),
            Either::Int(output) => pollster::block_on(B::int_into_data(output)),
        };
        let data = data.map_err(|error| anyhow!("{}: {error:?}", self.burn.name))?;
        Ok(data.as_bytes().to_vec())
    }
}
