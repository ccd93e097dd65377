//! The executor that the command line asks for.

use anyhow::{Result, bail};
use wgpu_gather::Executor;
use wgpu_gather::gpu::{AdapterSummary, Engine, Options};

use crate::args::{Backend, BackendArgs};

/// An executor, and why it was chosen if that was left to us.
pub(crate) struct Chosen {
    /// What executes.
    pub(crate) executor: Executor,
    /// Why, under `--backend auto`.
    pub(crate) reason: Option<String>,
}

impl Chosen {
    /// The executor for `args`.
    pub(crate) fn new(args: &BackendArgs) -> Result<Self> {
        let wanted = args.adapter.as_deref();
        let mut options = Options::default();
        if let Some(most) = args.max_gpu_memory {
            options.max_memory_bytes = most.0;
        }
        let executor = match (args.backend, wanted) {
            (Backend::Auto, None) => return Ok(Self::auto(options)),
            (Backend::Auto | Backend::Gpu, _) => {
                Executor::Gpu(pollster::block_on(Engine::headless_with(wanted, options))?)
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
        let auto = pollster::block_on(Executor::auto_with(options));
        Chosen {
            executor: auto.executor,
            reason: Some(auto.reason),
        }
    }

    /// `cpu (2 threads; no GPU adapter)`, `gpu: NVIDIA H200 (vulkan)`.
    pub(crate) fn describe(&self) -> String {
        let text = self.executor.describe();
        match (&self.reason, text.strip_suffix(')')) {
            (None, _) => text,
            (Some(reason), Some(open)) => format!("{open}; {reason})"),
            (Some(reason), None) => format!("{text} ({reason})"),
        }
    }

    /// `reference`, `cpu` or `gpu`.
    pub(crate) fn name(&self) -> &'static str {
        match self.executor {
            Executor::Reference => "reference",
            Executor::Cpu => "cpu",
            Executor::Gpu(_) => "gpu",
        }
    }

    /// The adapter, if a GPU executes.
    pub(crate) fn adapter(&self) -> Option<&AdapterSummary> {
        match &self.executor {
            Executor::Gpu(engine) => Some(engine.adapter()),
            _ => None,
        }
    }
}
