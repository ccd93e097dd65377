//! What a gather is explained for: an adapter, or limits.

use anyhow::Result;
use wgpu_gather::gpu::{Options, adapters, find_adapter, requirements};
use wgpu_gather::{BindingLimits, wgpu};

use crate::explain::args::{ExplainArgs, LimitsArg};

/// What a gather is explained for.
pub(crate) struct Place {
    /// In words.
    pub(crate) label: String,
    /// The adapter, if it is one.
    pub(crate) adapter: Option<String>,
    /// What one dispatch may bind and run there.
    pub(crate) limits: BindingLimits,
}

const DEFAULT: &str = "the default limits of WebGPU";

impl Place {
    /// The place that `args` ask for.
    pub(crate) fn new(args: &ExplainArgs) -> Result<Self> {
        match args.limits {
            Some(LimitsArg::Default) => {
                return Ok(Place::of_limits(
                    DEFAULT.to_owned(),
                    &wgpu::Limits::default(),
                ));
            }
            Some(LimitsArg::Downlevel) => {
                let limits = wgpu::Limits::downlevel_defaults();
                return Ok(Place::of_limits(
                    "wgpu's downlevel limits".to_owned(),
                    &limits,
                ));
            }
            None => {}
        }
        if args.adapter.is_some() || args.measure {
            let adapter = find_adapter(args.adapter.as_deref()).wait()?;
            return Ok(Place::of_adapter(&adapter));
        }
        let why = match adapters().wait().first() {
            None => "there is no GPU adapter here",
            Some(first) if first.is_software() => "here is a software adapter only",
            // The one that is taken without a name: of software only if no GPU runs gathers.
            Some(_) => match find_adapter(None).wait() {
                Ok(adapter) if !is_software(&adapter) => return Ok(Place::of_adapter(&adapter)),
                _ => "no GPU here can run gathers",
            },
        };
        let label = format!("{DEFAULT}, as {why}");
        Ok(Place::of_limits(label, &wgpu::Limits::default()))
    }

    fn of_limits(label: String, limits: &wgpu::Limits) -> Self {
        Place {
            label,
            adapter: None,
            limits: BindingLimits::new(limits, Options::default().max_pass_bytes),
        }
    }

    fn of_adapter(adapter: &wgpu::Adapter) -> Self {
        let info = adapter.get_info();
        let software = match is_software(adapter) {
            true => ", software adapter",
            false => "",
        };
        let label = format!("{} ({}){software}", info.name, info.backend);
        Place {
            adapter: Some(label.clone()),
            ..Place::of_limits(label, &requirements::usable_limits(adapter))
        }
    }
}

fn is_software(adapter: &wgpu::Adapter) -> bool {
    adapter.get_info().device_type == wgpu::DeviceType::Cpu
}
