//! A pipeline's module as a driver's front end sees it. The suite has this file, too.

use naga::back::pipeline_constants::process_overrides;
use naga::valid::{ModuleInfo, ValidationFlags};
use naga::{Module, ShaderStage};
use wgpu_gather::gpu::internals::PipelineSource;
use wgpu_gather::wgpu::{DownlevelFlags, Features};

/// The module and its validation, with no optional capability and the overrides resolved.
pub(crate) fn resolve(pipeline: &PipelineSource) -> Result<(Module, ModuleInfo), String> {
    let wgsl = &pipeline.wgsl;
    let module = naga::front::wgsl::parse_str(wgsl).map_err(|e| e.emit_to_string(wgsl))?;
    let mut validator = wgpu_naga_bridge::create_validator(
        Features::empty(),
        DownlevelFlags::all(),
        ValidationFlags::all(),
    );
    let info = validator
        .validate(&module)
        .map_err(|e| e.emit_to_string(wgsl))?;
    let constants = pipeline.constants.iter();
    let constants = constants.map(|&(name, value)| (name.to_owned(), value));
    let entry = (ShaderStage::Compute, pipeline.entry_point);
    let (module, info) = process_overrides(&module, &info, Some(entry), &constants.collect())
        .map_err(|e| e.to_string())?;
    Ok((module.into_owned(), info.into_owned()))
}
