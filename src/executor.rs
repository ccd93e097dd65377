//! One public API over the executors: the same call gives the same bits on each.

mod bag;
mod bag_quantized;
mod quantized;
mod scatter;

use bytemuck::AnyBitPattern;

use crate::call::{GatherCall, PlannedCall};
use crate::cloned;
use crate::cpu;
use crate::element::{Element, elements_from_bits};
#[cfg(feature = "gpu")]
use crate::error::{Error, Lacking};
use crate::error::{Result, Role};
#[cfg(feature = "gpu")]
use crate::gpu::{Engine, Options, WhenFull, first_usable_gpu};
use crate::index::Index;
use crate::memory::zeroed_bits;
use crate::op::Op;
use crate::operand::{Indices, Params};
use crate::plan::Plan;
use crate::rules::Rules;
use crate::tensor::{Tensor, TensorView};

/// What executes a gather.
///
/// The async calls of [`Executor::Reference`] and [`Executor::Cpu`] compute inside `poll`; see
/// [`Executor::run`] for what to do about it.
///
/// ```
/// use wgpu_gather::{Executor, Op, Rules, Tensor};
///
/// let table = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let ids = Tensor::new(&[2], vec![2i64, 7])?;
/// let rows = Executor::Cpu.run_blocking(
///     Op::gather(0), &Rules::TENSORFLOW_GPU, &table.view(), &ids.view(),
/// )?;
/// assert_eq!(rows.data(), [5.0, 6.0, 0.0, 0.0]); // 7 is out of bounds
/// # Ok::<(), wgpu_gather::Error>(())
/// ```
#[derive(Debug, Clone)]
pub enum Executor {
    /// The definitions of the operators, one element at a time: slow and plain.
    Reference,
    /// The CPU path, on all cores.
    Cpu,
    /// The GPU path, on one device.
    #[cfg(feature = "gpu")]
    Gpu(Engine),
}

/// An executor chosen for this machine, and why.
#[derive(Debug, Clone)]
pub struct Auto {
    /// What was chosen.
    pub executor: Executor,
    /// Why, in a few words.
    pub reason: String,
}

impl Executor {
    /// The GPU path if this machine has a GPU that runs gathers, the CPU path if it has none or only
    /// a software adapter, which runs shaders on the same cores with more effort.
    ///
    /// Each GPU is tried on a small gather (`gpu::Engine::probe`) before it is taken; the
    /// reason says what those lack that were passed over.
    ///
    /// A call between host tensors uploads all of params to a GPU each time, which no gather there
    /// makes up for: on data that the host has, [`Executor::Cpu`] is the faster one. The GPU pays
    /// where tables stay on the device (`gpu::Engine::upload`, once).
    pub async fn auto() -> Auto {
        #[cfg(feature = "gpu")]
        return Executor::auto_with(Options::default()).await;
        #[cfg(not(feature = "gpu"))]
        Auto {
            executor: Executor::Cpu,
            reason: "built without the gpu feature".to_owned(),
        }
    }

    /// [`Executor::auto`], with options for the engine if there is a GPU.
    #[cfg(feature = "gpu")]
    pub async fn auto_with(options: Options) -> Auto {
        let (found, software) = first_usable_gpu(&options).await;
        let lacking = Lacking(&found.lacking).to_string();
        if let Some((_, engine)) = found.usable {
            let kind = engine.adapter().kind_name();
            let reason = match found.lacking.is_empty() {
                true => format!("a {kind} GPU"),
                false => format!("a {kind} GPU; {lacking}"),
            };
            let executor = Executor::Gpu(engine);
            return Auto { executor, reason };
        }
        let reason = match software {
            _ if !found.lacking.is_empty() => lacking,
            Some(label) => format!("only a software adapter: {label}"),
            None => "no GPU adapter".to_owned(),
        };
        let executor = Executor::Cpu;
        Auto { executor, reason }
    }

    /// [`Executor::auto`], blocking this thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn auto_blocking() -> Auto {
        pollster::block_on(Executor::auto())
    }

    /// How many threads share the work of [`Executor::Cpu`].
    pub fn cpu_threads() -> usize {
        cpu::threads::threads()
    }

    /// The executor and what it runs on: `reference`, `cpu (8 threads)`,
    /// `gpu: NVIDIA H200 (vulkan)`.
    pub fn describe(&self) -> String {
        match self {
            Executor::Reference => "reference".to_owned(),
            Executor::Cpu => format!("cpu ({} threads)", Executor::cpu_threads()),
            #[cfg(feature = "gpu")]
            Executor::Gpu(engine) => format!("gpu: {}", engine.adapter().label()),
        }
    }

    /// Gathers from `params` at `indices`.
    ///
    /// Only the GPU path ever waits. The CPU path and the reference compute the whole output when
    /// the future is first polled, and that thread does nothing else meanwhile. In an async program
    /// hand such a call to a thread that may block, for example
    /// `tokio::task::spawn_blocking(move || executor.run_blocking(…))`.
    ///
    /// # Errors
    ///
    /// As [`Executor::run_bytes`], [`Error::HostOutOfMemory`](crate::Error::HostOutOfMemory), and
    /// [`Error::InvalidBits`](crate::Error::InvalidBits) for a fill value that is none of `T`.
    pub async fn run<T: Element, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        params: &TensorView<'_, T>,
        indices: &TensorView<'_, I>,
    ) -> Result<Tensor<T>> {
        let (params, indices) = (Params::try_from(params)?, Indices::try_from(indices)?);
        let call = GatherCall::new(op, rules, &params, &indices).planned()?;
        if let Executor::Cpu = self {
            let bits = cpu::gather::<T>(&call.plan, &params, &indices)?;
            return tensor_of(&call.plan, bits);
        }
        let mut bits = memory_for::<T>(&call.plan)?;
        self.execute(&call, bytemuck::cast_slice_mut(&mut bits))
            .await?;
        tensor_of(&call.plan, bits)
    }

    /// Gathers into `output`, memory of the caller, which receives the elements, row-major.
    ///
    /// Saves what a new output costs each time: the system clears fresh memory page by page before
    /// it is written to. The GPU path downloads straight to `output`.
    ///
    /// ```
    /// use wgpu_gather::{Executor, Op, Rules, Tensor};
    ///
    /// let table = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let mut rows = [0.0f32; 4];
    /// for ids in [[2i64, 0], [1, 1]] {
    ///     let ids = Tensor::new(&[2], ids.to_vec())?;
    ///     Executor::Cpu.run_into_blocking(
    ///         Op::gather(0), &Rules::NUMPY, &table.view(), &ids.view(), &mut rows,
    ///     )?;
    /// }
    /// assert_eq!(rows, [3.0, 4.0, 3.0, 4.0]);
    /// # Ok::<(), wgpu_gather::Error>(())
    /// ```
    ///
    /// Any bits are a value of `T`, as for all types that are [`bytemuck::Pod`]; so not `bool` and
    /// `char`, for which there are `u8` and `u32`.
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`](crate::Error::OutputLength) if `output` has not as many elements as
    /// the output; then nothing is written. Else as [`Executor::run_bytes`]; under
    /// [`Error::IndexOutOfBounds`](crate::Error::IndexOutOfBounds) and the errors of a device, what
    /// `output` holds is not specified.
    pub async fn run_into<T: Element + AnyBitPattern, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        params: &TensorView<'_, T>,
        indices: &TensorView<'_, I>,
        output: &mut [T],
    ) -> Result<()> {
        let (params, indices) = (Params::try_from(params)?, Indices::try_from(indices)?);
        let call = GatherCall::new(op, rules, &params, &indices).planned()?;
        self.execute(&call, bytemuck::cast_slice_mut(output)).await
    }

    /// Gathers bytes: `output` receives the elements, row-major.
    ///
    /// # Errors
    ///
    /// As [`Plan::new`]; [`Error::OutputLength`](crate::Error::OutputLength), and
    /// [`Error::IndexOutOfBounds`](crate::Error::IndexOutOfBounds) under the rule
    /// [`OutOfBounds::Error`](crate::OutOfBounds::Error). On a GPU also as `gpu::Engine::execute`.
    pub async fn run_bytes(
        &self,
        op: Op,
        rules: &Rules,
        params: &Params<'_>,
        indices: &Indices<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        let call = GatherCall::new(op, rules, params, indices);
        if let Executor::Reference = self {
            return cpu::reference::gather(call, output); // without a plan, which may be wrong
        }
        self.execute(&call.planned()?, output).await
    }

    /// Gathers values that are no plain bits, such as strings: the executor gathers their
    /// positions, and the values are cloned from there. A bad index gives `default` (under
    /// [`OutOfBounds::Zero`](crate::OutOfBounds::Zero) and
    /// [`OutOfBounds::Fill`](crate::OutOfBounds::Fill) alike).
    ///
    /// # Errors
    ///
    /// As [`Executor::run`].
    pub async fn run_cloned<S: Clone, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        params: &TensorView<'_, S>,
        indices: &TensorView<'_, I>,
        default: &S,
    ) -> Result<Tensor<S>> {
        let positions = cloned::positions(params);
        let positions = TensorView::strided(params.layout().clone(), &positions)?;
        let rules = cloned::rules(rules);
        let found = self.run(op, &rules, &positions, indices).await?;
        cloned::values(op, &rules, params, &found, default)
    }

    async fn execute(&self, planned: &PlannedCall<'_>, output: &mut [u8]) -> Result<()> {
        let PlannedCall { call, plan } = planned;
        match self {
            Executor::Reference => cpu::reference::gather(*call, output),
            Executor::Cpu => cpu::parallel::execute(plan, call.params, call.indices, output),
            #[cfg(feature = "gpu")]
            Executor::Gpu(engine) => {
                let made = engine
                    .execute(plan, call.params, call.indices, output)
                    .await;
                or_on_the_cpu(made, engine, planned, output)
            }
        }
    }
}

/// The blocking twins. In a browser nothing may block, so there they do not exist.
#[cfg(not(target_arch = "wasm32"))]
impl Executor {
    /// [`Executor::run`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::run`].
    pub fn run_blocking<T: Element, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        params: &TensorView<'_, T>,
        indices: &TensorView<'_, I>,
    ) -> Result<Tensor<T>> {
        #[cfg(feature = "gpu")]
        if let Executor::Gpu(_) = self {
            let (params, indices) = (Params::try_from(params)?, Indices::try_from(indices)?);
            let call = GatherCall::new(op, rules, &params, &indices).planned()?;
            let mut bits = memory_for::<T>(&call.plan)?;
            self.execute_blocking(&call, bytemuck::cast_slice_mut(&mut bits))?;
            return tensor_of(&call.plan, bits);
        }
        pollster::block_on(self.run(op, rules, params, indices))
    }

    /// [`Executor::run_into`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::run_into`].
    pub fn run_into_blocking<T: Element + AnyBitPattern, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        params: &TensorView<'_, T>,
        indices: &TensorView<'_, I>,
        output: &mut [T],
    ) -> Result<()> {
        let (params, indices) = (Params::try_from(params)?, Indices::try_from(indices)?);
        let call = GatherCall::new(op, rules, &params, &indices).planned()?;
        self.execute_blocking(&call, bytemuck::cast_slice_mut(output))
    }

    /// [`Executor::run_bytes`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::run_bytes`].
    pub fn run_bytes_blocking(
        &self,
        op: Op,
        rules: &Rules,
        params: &Params<'_>,
        indices: &Indices<'_>,
        output: &mut [u8],
    ) -> Result<()> {
        #[cfg(feature = "gpu")]
        if let Executor::Gpu(_) = self {
            let call = GatherCall::new(op, rules, params, indices).planned()?;
            return self.execute_blocking(&call, output);
        }
        pollster::block_on(self.run_bytes(op, rules, params, indices, output))
    }

    /// [`Executor::run_cloned`], blocking this thread.
    ///
    /// # Errors
    ///
    /// As [`Executor::run_cloned`].
    pub fn run_cloned_blocking<S: Clone, I: Index>(
        &self,
        op: Op,
        rules: &Rules,
        params: &TensorView<'_, S>,
        indices: &TensorView<'_, I>,
        default: &S,
    ) -> Result<Tensor<S>> {
        let positions = cloned::positions(params);
        let positions = TensorView::strided(params.layout().clone(), &positions)?;
        let rules = cloned::rules(rules);
        let found = self.run_blocking(op, &rules, &positions, indices)?;
        cloned::values(op, &rules, params, &found, default)
    }

    fn execute_blocking(&self, planned: &PlannedCall<'_>, output: &mut [u8]) -> Result<()> {
        match self {
            // This thread drives the device, instead of waiting for one that does.
            #[cfg(feature = "gpu")]
            Executor::Gpu(engine) => {
                let PlannedCall { call, plan } = planned;
                let made = engine.execute_blocking(plan, call.params, call.indices, output);
                or_on_the_cpu(made, engine, planned, output)
            }
            _ => pollster::block_on(self.execute(planned, output)),
        }
    }
}

/// What the device made of a call; if it had no memory for it, what the CPU path makes, as the
/// options of the engine say.
#[cfg(feature = "gpu")]
fn or_on_the_cpu(
    made: Result<()>,
    engine: &Engine,
    PlannedCall { call, plan }: &PlannedCall<'_>,
    output: &mut [u8],
) -> Result<()> {
    match made {
        Err(Error::GpuOutOfMemory { .. }) if engine.when_full() == WhenFull::UseCpu => {
            cpu::parallel::execute(plan, call.params, call.indices, output)
        }
        made => made,
    }
}

/// Memory for the output.
fn memory_for<T: Element>(plan: &Plan) -> Result<Vec<T::Bits>> {
    let len = plan.output_bytes() / plan.element_bytes();
    zeroed_bits::<T>(Role::Output, len)
}

/// The output, of these bits.
fn tensor_of<T: Element>(plan: &Plan, bits: Vec<T::Bits>) -> Result<Tensor<T>> {
    let data = elements_from_bits(Role::Output, bits)?;
    Tensor::new(plan.output_shape(), data)
}
