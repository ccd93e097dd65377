//! Every kernel specialisation, without a device: parsed, validated with no optional capability,
//! its overrides resolved, and written for every API that wgpu has.

use std::collections::BTreeSet;

use naga::back::{glsl, hlsl, msl, pipeline_constants, spv};
use naga::valid::ValidationFlags;
use wgpu_gather::gpu::{Specialisation, Stage};
use wgpu_gather::plan::{Form, Kernel, KernelKind, Starts};
use wgpu_gather::verify::{builtin, call_from};
use wgpu_gather::wgpu::{DownlevelFlags, Features};

/// The module and its validation, with the overrides resolved.
fn resolve(specialisation: &Specialisation) -> (naga::Module, naga::valid::ModuleInfo) {
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

fn write_hlsl(module: &naga::Module, info: &naga::valid::ModuleInfo) -> usize {
    let mut text = String::new();
    let options = hlsl::Options::default();
    let pipeline_options = hlsl::PipelineOptions::default();
    hlsl::Writer::new(&mut text, &options, &pipeline_options)
        .write(module, info, None)
        .expect("HLSL");
    text.len()
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
        let lengths = [
            write_spirv(&module, &info),
            write_msl(&module, &info),
            write_hlsl(&module, &info),
            write_glsl(&module, &info, specialisation.entry_point()),
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
    // 9 copies in 4 forms, 3 in the 2 that are fast, and 2 checks, for each width of an index. Of
    // the 9, two forms also for several segments of params.
    assert_eq!(all.len(), (9 * 4 + 3 * 2 + 2 + 9 * 2) * 2 + 1);
    for form in [Form::Single, Form::Nested, Form::Tuples, Form::General] {
        for kind in KINDS {
            let fast_only = matches!(kind, KernelKind::Runs | KernelKind::Packed4);
            let there = all
                .iter()
                .any(|s| matches!(s.stage, Stage::Copy(k, _, f) if (k, f) == (kind, form)));
            assert_eq!(
                there,
                !fast_only || form <= Form::Nested,
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
        for output in [0, 1, 3] {
            let starts = Starts {
                output: output * plan.element_bytes() as u64,
                ..Starts::default()
            };
            let Ok(kernel) = Kernel::copy(&plan, starts, 65_535) else {
                continue;
            };
            let specialisation = Specialisation {
                stage: Stage::Copy(kernel.kind, kernel.lane_bytes, kernel.form),
                index_words: plan.index_type().bytes() as u32 / 4,
                segments: 0,
            };
            assert!(all.contains(&specialisation), "{specialisation:?}");
            chosen.insert(specialisation);
        }
    }
    let copies = all
        .into_iter()
        .filter(|s| matches!(s.stage, Stage::Copy(..)) && s.segments == 0);
    let unused: Vec<_> = copies.filter(|s| !chosen.contains(s)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn a_broken_shader_would_be_noticed() {
    let source = Specialisation::all(6)[0].source();
    let broken = source.replace("geometry.row_count", "geometry.rows");
    assert_ne!(source, broken);
    assert!(naga::front::wgsl::parse_str(&broken).is_err());
}
