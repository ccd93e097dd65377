//! On a device, against burn-wgpu on the same one and a copy.

use anyhow::{Result, bail};
use burn_wgpu::Wgpu;
use wgpu_gather::gpu::{DeviceTensor, Engine};
use wgpu_gather::{BagMode, Bags, Op, Reduce, Rules, TensorView, wgpu};

use super::calls::Call;
use super::{Kind, Task};
use crate::line::{OURS, Run};
use crate::ours::{Device, wait};
use crate::peers::Burn;
use crate::run::burn_on;

/// A device, and burn on it.
pub(crate) struct Raced {
    device: Device,
    burn: Burn<Wgpu>,
}

impl Raced {
    pub(crate) fn open(adapter: &str) -> Result<Self> {
        let device = Device::open(Some(adapter))?;
        let burn = burn_on(&device);
        Ok(Raced { device, burn })
    }

    pub(crate) fn describe(&self, run: &mut Run) {
        run.describe(self.device.engine.adapter());
    }

    pub(crate) fn calls<'a>(&'a self, task: &'a Task) -> Result<Vec<Call<'a>>> {
        let engine = &self.device.engine;
        let tensors = Tensors::new(engine, task)?;
        let mut all = Vec::new();
        match task.case.kind {
            Kind::Scatter(_) => {
                let tensors = tensors.clone();
                all.push(call(engine, "Engine::scatter", move |set| {
                    tensors.scatter(set)
                }));
            }
            Kind::InPlace(_) => {
                let (copying, mut in_place) = (tensors.clone(), tensors.clone());
                // Rows of their own, which nothing else reads.
                in_place.rows = Tensors::new(engine, task)?.rows;
                let call = call(engine, "Engine::scatter_into", move |set| {
                    copying.scatter(set)
                });
                all.push(Call {
                    fold: Box::new(move |set| in_place.add(set)),
                    ..call
                });
            }
            Kind::Bags { .. } => {
                let [bags, gathered] = [tensors.clone(), tensors.clone()];
                let name = "Engine::embedding_bag";
                all.push(call(engine, name, move |set| bags.bags(set)));
                let name = "gather, then embedding_bag in order";
                all.push(call(engine, name, move |set| gathered.gathered(set)));
            }
            Kind::Gradient => bail!("no gradient runs on a device"),
        }
        all.push(self.burn.fold(task)?);
        all.push(copy(engine, task.bytes() / 2));
        Ok(all)
    }
}

/// The tensors of a task on the device.
#[derive(Clone)]
struct Tensors {
    engine: Engine,
    rows: DeviceTensor<f32>,
    updates: DeviceTensor<f32>,
    ids: Vec<DeviceTensor<i32>>,
    in_order: DeviceTensor<i32>,
}

impl Tensors {
    fn new(engine: &Engine, task: &Task) -> Result<Self> {
        let case = &task.case;
        let floats = |rows: usize, values: &[f32]| {
            engine
                .upload(&TensorView::new(&[rows, case.columns], values)?)
                .wait()
        };
        let shape = case.ids_shape();
        let ids = |ids: &[i32]| engine.upload(&TensorView::new(&shape, ids)?).wait();
        let updates = task.updates.floats();
        let in_order: Vec<i32> = (0..case.ids as i32).collect();
        Ok(Tensors {
            engine: engine.clone(),
            rows: floats(case.rows, task.rows.floats())?,
            updates: floats(updates.len() / case.columns, updates)?,
            ids: task
                .ids
                .iter()
                .map(|set| ids(set))
                .collect::<Result<_, _>>()?,
            in_order: ids(&in_order)?,
        })
    }

    fn scatter(&self, set: usize) -> Result<DeviceTensor<f32>> {
        let (op, add, rules) = (Op::gather(0), Reduce::Add, Rules::default());
        let ids = &self.ids[set];
        Ok(self
            .engine
            .scatter(op, add, &rules, &self.rows, ids, &self.updates)?)
    }

    fn add(&mut self, set: usize) -> Result<()> {
        let (op, add, rules) = (Op::gather(0), Reduce::Add, Rules::default());
        let (rows, ids) = (&mut self.rows, &self.ids[set]);
        self.engine
            .scatter_into(op, add, &rules, rows, ids, &self.updates)?;
        Ok(())
    }

    fn bags(&self, set: usize) -> Result<DeviceTensor<f32>> {
        let (sums, rules) = (Bags::rows(BagMode::Sum), Rules::default());
        Ok(self
            .engine
            .embedding_bag(sums, &rules, &self.rows, &self.ids[set], None)?)
    }

    fn gathered(&self, set: usize) -> Result<DeviceTensor<f32>> {
        let (sums, rules) = (Bags::rows(BagMode::Sum), Rules::default());
        let ids = &self.ids[set];
        let rows = self.engine.gather(Op::gather(0), &rules, &self.rows, ids)?;
        let columns = self.rows.shape()[1];
        let rows = rows.reshape(&[ids.shape().iter().product(), columns])?;
        Ok(self
            .engine
            .embedding_bag(sums, &rules, &rows, &self.in_order, None)?)
    }
}

fn call<'a>(
    engine: &Engine,
    name: &'static str,
    fold: impl Fn(usize) -> Result<DeviceTensor<f32>> + Clone + 'a,
) -> Call<'a> {
    let (again, waiting, downloading) = (fold.clone(), engine.clone(), engine.clone());
    Call {
        who: OURS,
        name,
        fold: Box::new(move |set| fold(set).map(drop)),
        wait: Box::new(move || wait(&waiting)),
        bytes: Box::new(move |set| {
            let tensor = downloading.download(&again(set)?).wait()?;
            Ok(bytemuck::cast_slice(tensor.data()).to_vec())
        }),
    }
}

/// As many bytes as the fold has to read and write, half of them each.
fn copy<'a>(engine: &Engine, bytes: u64) -> Call<'a> {
    let bytes = bytes / 4 * 4;
    let buffer = |usage| {
        engine.device().create_buffer(&wgpu::BufferDescriptor {
            label: Some("copy"),
            size: bytes,
            usage,
            mapped_at_creation: false,
        })
    };
    let from = buffer(wgpu::BufferUsages::COPY_SRC);
    let to = buffer(wgpu::BufferUsages::COPY_DST);
    let (engine, waiting) = (engine.clone(), engine.clone());
    Call {
        who: "copy",
        name: "copy_buffer_to_buffer",
        fold: Box::new(move |_| {
            let mut encoder = engine.device().create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes);
            engine.queue().submit([encoder.finish()]);
            Ok(())
        }),
        wait: Box::new(move || wait(&waiting)),
        bytes: Box::new(|_| Ok(Vec::new())),
    }
}
