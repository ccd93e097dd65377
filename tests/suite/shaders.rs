//! Every pipeline, without a device: parsed, validated with no optional capability,
//! its overrides resolved, and written for every API that wgpu has.

use naga::back::{glsl, hlsl, msl, spv};
use wgpu_gather::gpu::internals::{PipelineSource, pipelines};

#[path = "../isa/src/resolve.rs"]
mod shared;

/// The module and its validation, with the overrides resolved.
pub(crate) fn resolve(pipeline: &PipelineSource) -> (naga::Module, naga::valid::ModuleInfo) {
    let resolved = shared::resolve(pipeline);
    resolved.unwrap_or_else(|why| panic!("{}: {why}", pipeline.name))
}

fn write_spirv(module: &naga::Module, info: &naga::valid::ModuleInfo) -> usize {
    spv::write_vec(module, info, &spv::Options::default(), None)
        .expect("SPIR-V")
        .len()
}

fn write_msl(module: &naga::Module, info: &naga::valid::ModuleInfo) -> usize {
    let options = msl::Options {
        fake_missing_bindings: true,
        ..Default::default()
    };
    let (text, _) =
        msl::write_string(module, info, &options, &msl::PipelineOptions::default()).expect("MSL");
    text.len()
}

/// HLSL with the bindings and options of wgpu's DX12 backend, and the name of its entry point there.
pub(crate) fn write_hlsl(
    module: &naga::Module,
    info: &naga::valid::ModuleInfo,
    entry: &str,
    shader_model: hlsl::ShaderModel,
) -> (String, String) {
    let bound = module
        .global_variables
        .iter()
        .filter_map(|(_, v)| Some((v.binding?, v.space)));
    let mut bound: Vec<_> = bound.collect();
    bound.sort_by_key(|(binding, _)| *binding);
    // Registers are numbered by kind: constant buffers, what is read, what is written.
    let [mut uniforms, mut read, mut written] = [hlsl::BindTarget::default(); 3];
    let mut binding_map = hlsl::BindingMap::default();
    for (binding, space) in bound {
        let next = match space {
            naga::AddressSpace::Uniform => &mut uniforms,
            naga::AddressSpace::Storage { access }
                if access.contains(naga::StorageAccess::STORE) =>
            {
                &mut written
            }
            _ => &mut read,
        };
        binding_map.insert(binding, *next);
        next.register += 1;
    }
    let options = hlsl::Options {
        shader_model,
        binding_map,
        fake_missing_bindings: false,
        special_constants_binding: Some(uniforms),
        // These two as pipelines are made: with zeros, FXC takes minutes over some.
        zero_initialize_workgroup_memory: false,
        restrict_indexing: true,
        force_loop_bounding: false,
        ..Default::default()
    };
    let pipeline_options = hlsl::PipelineOptions {
        entry_point: Some((naga::ShaderStage::Compute, entry.to_owned())),
    };
    let mut text = String::new();
    let reflection = hlsl::Writer::new(&mut text, &options, &pipeline_options)
        .write(module, info, None)
        .expect("HLSL");
    let name = reflection.entry_point_names[0].as_ref().expect("its name");
    (text, name.clone())
}

fn write_glsl(module: &naga::Module, info: &naga::valid::ModuleInfo, entry: &str) -> usize {
    let mut text = String::new();
    let options = glsl::Options {
        version: glsl::Version::new_gles(310),
        ..Default::default()
    };
    let pipeline_options = glsl::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: entry.to_owned(),
        multiview: None,
    };
    let policies = naga::proc::BoundsCheckPolicies::default();
    glsl::Writer::new(
        &mut text,
        module,
        info,
        &options,
        &pipeline_options,
        policies,
    )
    .expect("GLSL")
    .write()
    .expect("GLSL");
    text.len()
}

#[test]
fn every_pipeline_is_valid_and_can_be_written_for_every_api() {
    let all = pipelines(6);
    for pipeline in &all {
        let (module, info) = resolve(pipeline);
        let entry = pipeline.entry_point;
        let lengths = [
            write_spirv(&module, &info),
            write_msl(&module, &info),
            write_hlsl(&module, &info, entry, hlsl::ShaderModel::V5_1)
                .0
                .len(),
            write_glsl(&module, &info, entry),
        ];
        assert!(
            lengths.iter().all(|&l| l > 500),
            "{}: {lengths:?}",
            pipeline.name
        );
    }
    println!(
        "{} pipelines, each as SPIR-V, MSL, HLSL and GLSL",
        all.len()
    );
}

#[test]
fn a_broken_shader_would_be_noticed() {
    let source = &pipelines(6)[0].wgsl;
    let broken = source.replace("geometry.row_count", "geometry.rows");
    assert_ne!(*source, broken);
    assert!(naga::front::wgsl::parse_str(&broken).is_err());
}
