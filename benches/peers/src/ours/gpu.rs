//! The GPU path, with the tensors on the device.

use anyhow::{Context, Result, bail};
use bytemuck::{Pod, try_cast_slice};
use wgpu_gather::gpu::{Binding, DeviceTensor, Engine, find_adapter};
use wgpu_gather::{Element, Index, TensorView, wgpu};

use crate::gather::{Gather, Output, Sets};
use crate::ours::typed;
use crate::task::Task;

/// A device with all that its adapter has, for us and for a peer.
pub(crate) struct Device {
    pub(crate) adapter: wgpu::Adapter,
    pub(crate) engine: Engine,
}

impl Device {
    /// A device of the adapter that `wanted` names, or of the first.
    pub(crate) fn open(wanted: Option<&str>) -> Result<Self> {
        let adapter = find_adapter(wanted).wait()?;
        let experimental = wgpu::Features::all_experimental_mask();
        let mappable = wgpu::Features::MAPPABLE_PRIMARY_BUFFERS;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("peers"),
            required_features: adapter.features().difference(experimental | mappable),
            required_limits: adapter.limits(),
            // As burn-wgpu asks for: both of us pool.
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let info = adapter.get_info();
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .with_context(|| format!("no device of {} ({})", info.name, info.backend))?;
        let engine = Engine::new(device, queue).wait()?;
        Ok(Device { adapter, engine })
    }
}

/// Waits for all that was called.
pub(crate) fn wait(engine: &Engine) -> Result<()> {
    engine.flush()?;
    match engine.device().poll(wgpu::PollType::wait_indefinitely()) {
        Ok(_) => Ok(()),
        Err(error) => bail!("waiting for the device: {error}"),
    }
}

/// `Engine::gather`, and `Binding::encode_in_pass`.
pub(crate) fn contestants<'a>(
    engine: &Engine,
    task: &'a Task,
) -> Result<Vec<Box<dyn Gather + 'a>>> {
    typed!(task, load(engine, task))
}

fn load<'a, T: Pod + Element, I: Pod + Index<Wide = I>>(
    engine: &Engine,
    task: &'a Task,
) -> Result<Vec<Box<dyn Gather + 'a>>> {
    let pooled = Pooled::<T, I> {
        engine: engine.clone(),
        task,
        tensors: tensors(engine, task)?,
    };
    // Tensors of its own: gathers from buffers that were handed out share no submission.
    let (params, indices) = tensors::<T, I>(engine, task)?;
    let (op, rules) = (task.case().op, task.rules());
    let mut output = engine.gather(op, rules, &params, &indices[0])?;
    let bound = indices
        .iter()
        .map(|set| Ok(engine.bind(|r| r.gather_into(op, rules, &params, set, &mut output))?));
    let bound = bound.collect::<Result<_>>()?;
    let bound = Bound {
        engine: engine.clone(),
        bound,
        output,
    };
    Ok(vec![Box::new(pooled), Box::new(bound)])
}

/// Params, and the sets of indices.
type Tensors<T, I> = (DeviceTensor<T>, Vec<DeviceTensor<I>>);

fn tensors<T: Pod + Element, I: Pod + Index<Wide = I>>(
    engine: &Engine,
    task: &Task,
) -> Result<Tensors<T, I>> {
    let params = upload(engine, &task.case().params, &task.params)?;
    let indices = task
        .indices
        .iter()
        .map(|set| upload(engine, &task.case().indices, set));
    Ok((params, indices.collect::<Result<_>>()?))
}

fn upload<T: Pod + Element>(
    engine: &Engine,
    shape: &[usize],
    bytes: &[u8],
) -> Result<DeviceTensor<T>> {
    let values: &[T] = try_cast_slice(bytes).map_err(|e| anyhow::anyhow!("a tensor: {e}"))?;
    let view = TensorView::new(shape, values)?;
    Ok(engine.upload(&view).wait()?)
}

fn download<T: Pod + Element>(engine: &Engine, tensor: &DeviceTensor<T>) -> Result<Vec<u8>> {
    let tensor = engine.download(tensor).wait()?;
    Ok(bytemuck::cast_slice(tensor.data()).to_vec())
}

/// Every output is a new tensor; its memory comes from the pool of the engine.
struct Pooled<'a, T: Pod + Element, I: Pod + Index> {
    engine: Engine,
    task: &'a Task,
    tensors: Tensors<T, I>,
}

impl<T: Pod + Element, I: Pod + Index<Wide = I>> Pooled<'_, T, I> {
    fn gather(&self, set: usize) -> Result<DeviceTensor<T>> {
        let (op, rules) = (self.task.case().op, self.task.rules());
        let (params, indices) = &self.tensors;
        Ok(self.engine.gather(op, rules, params, &indices[set])?)
    }
}

impl<T: Pod + Element, I: Pod + Index<Wide = I>> Gather for Pooled<'_, T, I> {
    fn call(&self) -> String {
        "Engine::gather".into()
    }

    fn run(&mut self, sets: Sets) -> Result<()> {
        for set in sets {
            self.gather(set)?;
        }
        wait(&self.engine)
    }

    fn bytes(&mut self, set: usize) -> Result<Vec<u8>> {
        download(&self.engine, &self.gather(set)?)
    }
}

/// One output, bound once, all gathers of a turn in one pass.
struct Bound<T: Pod + Element> {
    engine: Engine,
    bound: Vec<Binding>,
    output: DeviceTensor<T>,
}

impl<T: Pod + Element> Gather for Bound<T> {
    fn call(&self) -> String {
        "Binding::encode_in_pass".into()
    }

    fn output(&self) -> Output {
        Output::Bound
    }

    fn run(&mut self, sets: Sets) -> Result<()> {
        let device = self.engine.device();
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for set in sets {
            self.bound[set].encode_in_pass(&mut pass)?;
        }
        drop(pass);
        self.engine.queue().submit([encoder.finish()]);
        wait(&self.engine)
    }

    fn bytes(&mut self, set: usize) -> Result<Vec<u8>> {
        self.run(Sets::new(set, 1))?;
        download(&self.engine, &self.output)
    }
}
