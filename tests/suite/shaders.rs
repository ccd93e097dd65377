//! Every kernel specialisation, without a device: parsed, validated with no optional capability,
//! its overrides resolved, and written for every API that wgpu has.

use std::collections::BTreeSet;

use naga::back::{glsl, hlsl, msl, pipeline_constants, spv};
use naga::valid::ValidationFlags;
use wgpu_gather::gpu::{Specialisation, Stage};
use wgpu_gather::plan::{Bounds, Form, Kernel, KernelKind, Part, Parts, Plan, Starts, passes};
use wgpu_gather::verify::{builtin, call_from};
use wgpu_gather::wgpu::{DownlevelFlags, Features};

/// The module and its validation, with the overrides resolved.
pub(crate) fn resolve(specialisation: &Specialisation) -> (naga::Module, naga::valid::ModuleInfo) {
    let source = specialisation.source();
    let module = naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|e| panic!("{specialisation:?}: {}", e.emit_to_string(&source)));
    let mut validator = wgpu_naga_bridge::create_validator(
        Features::empty(),
        DownlevelFlags::all(),
        ValidationFlags::all(),
    );
    let info = validator
        .validate(&module)
        .unwrap_or_else(|e| panic!("{specialisation:?}: {}", e.emit_to_string(&source)));
    let constants = specialisation
        .constants()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let entry = (naga::ShaderStage::Compute, specialisation.entry_point());
    let (module, info) =
        pipeline_constants::process_overrides(&module, &info, Some(entry), &constants)
            .unwrap_or_else(|e| panic!("{specialisation:?}: {e}"));
    (module.into_owned(), info.into_owned())
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
        zero_initialize_workgroup_memory: true,
        restrict_indexing: true,
        force_loop_bounding: true,
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
fn every_specialisation_is_valid_and_can_be_written_for_every_api() {
    let all = Specialisation::all(6);
    for specialisation in &all {
        let (module, info) = resolve(specialisation);
        let entry = specialisation.entry_point();
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
            "{specialisation:?}: {lengths:?}"
        );
    }
    println!(
        "{} specialisations, each as SPIR-V, MSL, HLSL and GLSL",
        all.len()
    );
}

#[test]
fn the_list_of_specialisations_is_complete() {
    let all: BTreeSet<_> = Specialisation::all(6).into_iter().collect();
    // 9 copies in 6 forms, 3 in the 3 that are fast, and 2 checks, for each width of an index. For
    // up to 2, 4 and 6 segments of params all 12 in one form, and for 6 the 9 in another.
    assert_eq!(all.len(), (9 * 6 + 3 * 3 + 2 + 3 * 12 + 9) * 2 + 1);
    for form in Form::ALL {
        for kind in KINDS {
            let fast_only = matches!(kind, KernelKind::Runs | KernelKind::Packed4);
            let there = all
                .iter()
                .any(|s| matches!(s.stage, Stage::Copy(k, _, f) if (k, f) == (kind, form)));
            assert_eq!(
                there,
                !fast_only || form.depth() == Some(1),
                "{kind:?} {form:?}"
            );
        }
    }
}

const KINDS: [KernelKind; 6] = [
    KernelKind::Rows,
    KernelKind::Elements,
    KernelKind::Runs,
    KernelKind::Packed,
    KernelKind::Packed4,
    KernelKind::Units,
];

/// Every kernel is chosen by calls that the other tests make, and only those that are tested are.
#[test]
fn the_calls_of_the_tests_use_every_kernel() {
    let all: BTreeSet<_> = Specialisation::all(6).into_iter().collect();
    let mut chosen = BTreeSet::new();
    let random = (0..20_000u32).map(|n| {
        let mix = |at: u32| {
            (n * 1009 + at)
                .wrapping_mul(2_654_435_761)
                .rotate_left(at % 31)
        };
        call_from(&(0..90).map(mix).collect::<Vec<_>>())
    });
    for call in builtin().into_iter().chain(random) {
        let Ok(plan) = call.plan() else { continue };
        if plan.is_empty() {
            continue;
        }
        let kernels = [0, 1, 3].into_iter().filter_map(|output| {
            let starts = Starts {
                output: output * plan.element_bytes() as u64,
                ..Starts::default()
            };
            Kernel::copy(&plan, starts, 65_535).ok()
        });
        let whole = kernels.map(|kernel| (kernel, 1));
        let params_bytes = [64, 128, 256].into_iter();
        let in_segments = params_bytes.flat_map(|bytes| in_segments(&plan, bytes));
        for (kernel, segments) in whole.chain(in_segments) {
            let specialisation = Specialisation::of(&plan, &kernel, segments, &bounds(0));
            assert!(all.contains(&specialisation), "{specialisation:?}");
            chosen.insert(specialisation);
        }
    }
    let copies = all
        .into_iter()
        .filter(|s| matches!(s.stage, Stage::Copy(..)));
    let unused: Vec<_> = copies.filter(|s| !chosen.contains(s)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// A device that binds six segments of params of so many bytes.
fn bounds(params_bytes: u64) -> Bounds {
    Bounds {
        params_bytes,
        indices_bytes: 1 << 20,
        output_bytes: 1 << 20,
        segments: 6,
        alignment: 16,
        pass_bytes: 1 << 20,
        workgroups: 65_535,
    }
}

/// The kernels of a plan's first passes over tensors in one buffer each, where bindings of params
/// hold so few bytes; with their numbers of segments.
fn in_segments(plan: &Plan, params_bytes: u64) -> Vec<(Kernel, usize)> {
    let buffer = |bytes| {
        [Part {
            start: 0,
            offset: 0,
            bytes,
        }]
    };
    let parts = Parts {
        params: &buffer(1 << 12),
        indices: &buffer(1 << 20),
        output: &buffer(1 << 20),
    };
    let passes = passes(plan, parts, &bounds(params_bytes)).unwrap_or_default();
    let kernels = passes.iter().take(4).filter_map(|pass| {
        let kernel = Kernel::of_pass(&plan.part(pass), pass, false, 65_535);
        Some((kernel.ok()?, pass.params.len()))
    });
    kernels.collect()
}

#[test]
fn a_broken_shader_would_be_noticed() {
    let source = Specialisation::all(6)[0].source();
    let broken = source.replace("geometry.row_count", "geometry.rows");
    assert_ne!(source, broken);
    assert!(naga::front::wgsl::parse_str(&broken).is_err());
}
