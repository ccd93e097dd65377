//! One public API over the executors: the same call gives the same bits on each.

mod bag;
mod chunks;
mod gather;
mod gradient;
mod scatter;
mod waits;

use crate::cpu;
#[cfg(feature = "gpu")]
use crate::error::Lacking;
#[cfg(feature = "gpu")]
use crate::gpu::{Engine, Options, first_usable_gpu};
#[cfg(feature = "gpu")]
use crate::waiting::PollMode;
use crate::waiting::Waiting;

pub use bag::EmbeddingBagCall;
pub use gather::GatherCall;
pub use gradient::GradientCall;
pub use scatter::ScatterCall;

/// Executes the verbs on host tensors: reference, CPU or GPU.
///
/// Each verb gives a call, which is one value: `.await` it, or block this thread with `wait`. Only the GPU
/// path ever waits. [`Executor::Cpu`] and [`Executor::Reference`] compute all of the output when the future
/// is first polled, and that thread does nothing else meanwhile: in an async program, hand such a call to a
/// thread that may block, for example `tokio::task::spawn_blocking(move || executor.gather(…).wait())`.
///
/// ```
/// use wgpu_gather::{Executor, Op, Rules, Tensor};
///
/// let table = Tensor::new(&[3, 2], vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let ids = Tensor::new(&[2], vec![2i64, 7])?;
/// let rows = Executor::Cpu.gather(Op::gather(0), &Rules::TENSORFLOW_GPU, &table, &ids).wait()?;
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
    /// The chosen executor.
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
    pub fn auto() -> Waiting<'static, Auto> {
        #[cfg(feature = "gpu")]
        return Executor::auto_with(Options::default());
        #[cfg(not(feature = "gpu"))]
        Waiting::new(|_| {
            std::future::ready(Auto {
                executor: Executor::Cpu,
                reason: "built without the gpu feature".to_owned(),
            })
        })
    }

    /// [`Executor::auto`], with options for the engine if there is a GPU.
    #[cfg(feature = "gpu")]
    pub fn auto_with(options: Options) -> Waiting<'static, Auto> {
        Waiting::new(|poll_mode| async move { choose(&options, poll_mode).await })
    }

    /// Number of threads that [`Executor::Cpu`] uses.
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
}

/// The first GPU that runs gathers, or the CPU path.
#[cfg(feature = "gpu")]
async fn choose(options: &Options, poll_mode: PollMode) -> Auto {
    let (found, software) = first_usable_gpu(options, poll_mode).await;
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
