//! Engines with a device of their own: on an adapter by name, or on the first that runs gathers.
//!
//! Called by users and by `Executor::auto`. Whether an adapter runs gathers is for `probe` to say.

use crate::error::{Error, Result};
use crate::gpu::device::adapter::{self, AdapterSummary};
use crate::gpu::device::requirements;
use crate::gpu::device::scope::one_line;
use crate::gpu::engine::{Engine, Options};
use crate::waiting::{PollMode, Waiting};

impl Engine {
    /// An engine with a device of its own: on the first adapter whose name contains `wanted` or
    /// whose API is `wanted` (`vulkan`, `metal`, `dx12`, `gl`), if it compiles gathers; without a
    /// name, on the fastest kind of all that [run](Engine::probe) them.
    ///
    /// # Errors
    ///
    /// [`Error::NoAdapter`] with the adapters there are, [`Error::AdapterLacks`],
    /// [`Error::RequestDevice`]; without a name, [`Error::NoUsableAdapter`] with what each lacks.
    pub fn headless(wanted: Option<&str>) -> Waiting<'static, Result<Engine>> {
        Engine::headless_with(wanted, Options::default())
    }

    /// An engine with a device of its own, chosen as by [`Engine::headless`], with [`Options`].
    ///
    /// # Errors
    ///
    /// [`Error::NoAdapter`] with the adapters there are, [`Error::AdapterLacks`], [`Error::RequestDevice`]; without
    /// a name, [`Error::NoUsableAdapter`] with what each lacks.
    pub fn headless_with(
        wanted: Option<&str>,
        options: Options,
    ) -> Waiting<'static, Result<Engine>> {
        let wanted = wanted.map(str::to_owned);
        Waiting::new(|poll_mode| async move {
            if wanted.is_none() {
                let (_, engine) = choose_usable(&options, poll_mode).await?;
                return Ok(engine);
            }
            // One that gives wrong results can be had, too: `verify` is there to say which.
            let adapter = adapter::choose(wanted.as_deref()).await?;
            let engine = Engine::open(&adapter, options).await?;
            engine.probe_compiler().await?;
            Ok(engine)
        })
    }

    /// An engine with a device of its own on `adapter`.
    async fn open(adapter: &wgpu::Adapter, options: Options) -> Result<Engine> {
        let label = AdapterSummary::of(adapter).label();
        if let Some(what) = adapter::missing(adapter) {
            let adapter = label;
            return Err(Error::AdapterLacks { adapter, what });
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("wgpu-gather"),
            required_features: requirements::usable_features(adapter),
            required_limits: requirements::usable_limits(adapter),
            ..Default::default()
        };
        let (device, queue) =
            adapter
                .request_device(&descriptor)
                .await
                .map_err(|error| Error::RequestDevice {
                    adapter: label,
                    reason: one_line(&error.to_string()),
                })?;
        let engine = Engine::open_with(device, queue, options).await?;
        engine.context().watch_loss();
        Ok(engine)
    }
}

/// The adapter that [`Engine::headless`](crate::gpu::Engine::headless) would take, for a device of
/// one's own: with other features, for example.
///
/// # Errors
///
/// [`Error::NoAdapter`] with the adapters there are; without a name, [`Error::NoUsableAdapter`].
/// (In a browser there is one adapter, and it gives one device; that is left to the caller.)
pub fn find_adapter(wanted: Option<&str>) -> Waiting<'static, Result<wgpu::Adapter>> {
    let wanted = wanted.map(str::to_owned);
    Waiting::new(|poll_mode| async move {
        if wanted.is_some() || cfg!(target_arch = "wasm32") {
            return adapter::choose(wanted.as_deref()).await;
        }
        let (adapter, _) = choose_usable(&Options::default(), poll_mode).await?;
        Ok(adapter)
    })
}

/// An adapter, and the reason why it cannot run gathers, if it cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbedAdapter {
    /// The adapter.
    pub adapter: AdapterSummary,
    /// Missing capability in one line, such as `compute shaders`; `None` if it runs gathers.
    pub lacks: Option<String>,
}

/// Every adapter of this machine, each [probed](Engine::probe) with a device of its own: those that
/// run gathers first, in the order of [`adapters`](crate::gpu::adapters), then those that do not,
/// which [`Engine::headless`] takes only by name.
pub fn probe_adapters() -> Waiting<'static, Vec<ProbedAdapter>> {
    Waiting::new(probe_all)
}

async fn probe_all(poll_mode: PollMode) -> Vec<ProbedAdapter> {
    let mut probed = Vec::new();
    for adapter in adapter::enumerate().await {
        let opened = open_probed(&adapter, Options::default(), poll_mode).await;
        probed.push(ProbedAdapter {
            adapter: AdapterSummary::of(&adapter),
            lacks: opened.err().map(lack),
        });
    }
    probed.sort_by_key(|p| p.lacks.is_some());
    probed
}

/// Result of trying adapters in order.
pub(crate) struct Found {
    /// The first that runs gathers, with an engine on it.
    pub(crate) usable: Option<(wgpu::Adapter, Engine)>,
    /// Adapters that were rejected before it: label and missing capability.
    pub(crate) lacking: Vec<(String, String)>,
}

/// Tries `adapters` in order.
async fn first_usable(
    adapters: Vec<wgpu::Adapter>,
    options: &Options,
    poll_mode: PollMode,
) -> Found {
    let mut lacking = Vec::new();
    for adapter in adapters {
        match open_probed(&adapter, options.clone(), poll_mode).await {
            Ok(engine) => {
                let usable = Some((adapter, engine));
                return Found { usable, lacking };
            }
            Err(error) => lacking.push((AdapterSummary::of(&adapter).label(), lack(error))),
        }
    }
    let usable = None;
    Found { usable, lacking }
}

/// Tries the adapters that do not run shaders on the CPU. The label of the first that does is
/// beside what comes of it.
pub(crate) async fn first_usable_gpu(
    options: &Options,
    poll_mode: PollMode,
) -> (Found, Option<String>) {
    let adapters = adapter::enumerate().await;
    let (software, gpus): (Vec<_>, Vec<_>) = adapters
        .into_iter()
        .partition(|a| AdapterSummary::of(a).is_software());
    let software = software.first().map(|a| AdapterSummary::of(a).label());
    (first_usable(gpus, options, poll_mode).await, software)
}

async fn open_probed(
    adapter: &wgpu::Adapter,
    options: Options,
    poll_mode: PollMode,
) -> Result<Engine> {
    let engine = Engine::open(adapter, options).await?;
    engine.probe_driven(poll_mode).await?;
    Ok(engine)
}

/// Turns the error of an adapter into its missing capability, for lists that name the adapter beside it.
fn lack(error: Error) -> String {
    match error {
        Error::AdapterLacks { what, .. } => what,
        Error::RequestDevice { reason, .. } => format!("a device: {reason}"),
        other => format!("a working device: {other}"),
    }
}

/// The first adapter that is found to run gathers, with an engine on it.
async fn choose_usable(options: &Options, poll_mode: PollMode) -> Result<(wgpu::Adapter, Engine)> {
    let all = adapter::enumerate().await;
    let Found { usable, lacking } = first_usable(all, options, poll_mode).await;
    usable.ok_or(match lacking.is_empty() {
        true => Error::NoAdapter {
            wanted: None,
            available: Vec::new(),
        },
        false => Error::NoUsableAdapter { lacking },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_does_not_repeat_the_adapter() {
        let adapter = || "A (gl)".to_owned();
        for (error, expected) in [
            (
                Error::AdapterLacks {
                    adapter: adapter(),
                    what: "compute shaders".to_owned(),
                },
                "compute shaders",
            ),
            (
                Error::RequestDevice {
                    adapter: adapter(),
                    reason: "no".to_owned(),
                },
                "a device: no",
            ),
            (
                Error::DeviceLost {
                    reason: "gone".to_owned(),
                },
                "a working device: the GPU device is lost: gone",
            ),
        ] {
            assert_eq!(lack(error), expected);
        }
    }
}
