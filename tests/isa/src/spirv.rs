//! WGSL to SPIR-V, with the options that wgpu-hal 30 has on Vulkan (`spv::Options` in its
//! src/vulkan/adapter.rs, `compile_stage` in its src/vulkan/device.rs).

use std::collections::BTreeMap;

use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::{AddressSpace, Module, ResourceBinding, ShaderStage};
use wgpu_gather::gpu::internals::PipelineSource;

use crate::resolve::resolve;

/// A compute shader as a driver is given it.
#[derive(Debug, Clone)]
pub(crate) struct Shader {
    pub(crate) words: Vec<u32>,
    pub(crate) entry_point: &'static str,
    /// Of each binding, whether it is a uniform buffer. Others are storage buffers.
    pub(crate) uniforms: Vec<bool>,
}

impl Shader {
    pub(crate) fn new(source: &PipelineSource) -> Result<Self, String> {
        let (module, info) = resolve(source)?;
        let bindings = bindings(&module);
        let pipeline = spv::PipelineOptions {
            entry_point: source.entry_point.to_owned(),
            shader_stage: ShaderStage::Compute,
        };
        let options = options(&bindings);
        let words = spv::write_vec(&module, &info, &options, Some(&pipeline));
        Ok(Shader {
            words: words.map_err(|e| e.to_string())?,
            entry_point: source.entry_point,
            uniforms: bindings.into_values().collect(),
        })
    }
}

/// The bindings of a module, and whether each is a uniform buffer.
fn bindings(module: &Module) -> BTreeMap<ResourceBinding, bool> {
    let variables = module.global_variables.iter();
    let bound = variables.filter_map(|(_, v)| Some((v.binding?, v.space == AddressSpace::Uniform)));
    bound.collect()
}

fn options(bindings: &BTreeMap<ResourceBinding, bool>) -> spv::Options<'static> {
    // wgpu-hal numbers the bindings of a layout anew, without gaps.
    let renumbered = bindings.keys().zip(0..).map(|(&from, binding)| {
        let to = spv::BindingInfo {
            descriptor_set: 0,
            binding,
            binding_array_size: None,
        };
        (from, to)
    });
    let capabilities = [
        spv::Capability::Shader,
        spv::Capability::Matrix,
        spv::Capability::Sampled1D,
        spv::Capability::Image1D,
        spv::Capability::ImageQuery,
        spv::Capability::DerivativeControl,
        spv::Capability::StorageImageExtendedFormats,
        spv::Capability::SampledCubeArray,
        spv::Capability::SampleRateShading,
        spv::Capability::DotProductInputAllKHR,
        spv::Capability::DotProductInput4x8BitKHR,
        spv::Capability::DotProductInput4x8BitPackedKHR,
        spv::Capability::DotProductKHR,
        spv::Capability::Int8,
    ];
    spv::Options {
        lang_version: (1, 6),
        flags: spv::WriterFlags::LABEL_VARYINGS | spv::WriterFlags::FORCE_POINT_SIZE,
        capabilities: Some(capabilities.into_iter().collect()),
        // On a device with robustBufferAccess2.
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        ray_query_initialization_tracking: true,
        use_storage_input_output_16: false,
        fake_missing_bindings: false,
        binding_map: renumbered.collect(),
        debug_info: None,
        task_dispatch_limits: None,
        mesh_shader_primitive_indices_clamp: true,
        trace_ray_argument_validation: true,
        emit_int_div_checks: true,
    }
}
