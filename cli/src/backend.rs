//! The executor that the command line asks for.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use wgpu_gather::Executor;
use wgpu_gather::gpu::{AdapterSummary, Engine, Options};

use crate::size::Size;

/// What computes.
#[derive(Args)]
#[command(next_help_heading = "Where it runs")]
pub struct BackendArgs {
    /// What computes; auto is the GPU, or the CPU where there is no GPU or only a software adapter
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    pub backend: Backend,
    /// The adapter to use: part of its name, or its API (vulkan, metal, dx12, gl); implies
    /// --backend gpu
    #[arg(long, value_name = "TEXT")]
    pub adapter: Option<String>,
    /// The most memory of the GPU that the tensors of a call take: bytes, or a number with KiB,
    /// MiB, GiB or TiB. Larger tensors go through it part by part, or are gathered by the CPU
    /// where less than half as much is gathered as params holds [default: no limit]
    #[arg(long, value_name = "SIZE")]
    pub max_gpu_memory: Option<Size>,
}

/// The values of `--backend`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The GPU if this machine has one, else the CPU
    Auto,
    /// A GPU adapter, software ones included
    Gpu,
    /// The CPU, on all cores
    Cpu,
    /// The definitions of the operators, one element at a time
    Reference,
}

/// An executor, and why it was chosen if that was left to us.
pub struct Chosen {
    /// What executes.
    pub executor: Executor,
    /// Why, under `--backend auto`.
    pub reason: Option<String>,
}

impl Chosen {
    /// The executor for `args`.
    pub fn new(args: &BackendArgs) -> Result<Self> {
        Chosen::with_options(args, Options::default())
    }

    /// [`Chosen::new`], with other options for a GPU than the library's; `args` come before them.
    pub fn with_options(args: &BackendArgs, mut options: Options) -> Result<Self> {
        let wanted = args.adapter.as_deref();
        if let Some(most) = args.max_gpu_memory {
            options.max_memory_bytes = most.0;
        }
        let executor = match (args.backend, wanted) {
            (Backend::Auto, None) => return Ok(Self::auto(options)),
            (Backend::Auto | Backend::Gpu, _) => {
                Executor::Gpu(Engine::headless_with(wanted, options).wait()?)
            }
            (Backend::Cpu | Backend::Reference, _) if args.max_gpu_memory.is_some() => {
                bail!("--max-gpu-memory needs --backend gpu or auto; the CPU path uses no GPU")
            }
            (Backend::Cpu, None) => Executor::Cpu,
            (Backend::Reference, None) => Executor::Reference,
            (Backend::Cpu | Backend::Reference, Some(_)) => {
                bail!("--adapter needs --backend gpu or auto; the CPU path has no adapter")
            }
        };
        Ok(Chosen {
            executor,
            reason: None,
        })
    }

    fn auto(options: Options) -> Self {
        let auto = Executor::auto_with(options).wait();
        Chosen {
            executor: auto.executor,
            reason: Some(auto.reason),
        }
    }

    /// `cpu (2 threads; no GPU adapter)`, `gpu: NVIDIA H200 (vulkan)`.
    pub fn describe(&self) -> String {
        let text = self.executor.describe();
        match (&self.reason, text.strip_suffix(')')) {
            (None, _) => text,
            (Some(reason), Some(open)) => format!("{open}; {reason})"),
            (Some(reason), None) => format!("{text} ({reason})"),
        }
    }

    /// `reference`, `cpu` or `gpu`.
    pub fn name(&self) -> &'static str {
        match self.executor {
            Executor::Reference => "reference",
            Executor::Cpu => "cpu",
            Executor::Gpu(_) => "gpu",
        }
    }

    /// The adapter, if a GPU executes.
    pub fn adapter(&self) -> Option<&AdapterSummary> {
        match &self.executor {
            Executor::Gpu(engine) => Some(engine.adapter()),
            _ => None,
        }
    }
}
