//! Decoding to f16 and bf16. The type of the output is a number in a uniform block, and the path that is
//! followed through a pipeline is that of f32; with a constant in place of the number, it is that of halves.

use wgpu_gather::gpu::internals::PipelineSource;

/// The types, and what `option` in `shaders/decode/table.wgsl` then finds.
const TYPES: [(&str, &str); 2] = [("f16", "HALVES"), ("bf16", "(HALVES | BFLOAT)")];

/// What `option` returns there.
const OPTION: &str = "return (table.options & bit) != 0u;";

/// Adds the pipelines that decode once more for each of the two types.
pub(crate) fn add(all: &mut Vec<PipelineSource>) {
    let decode = all.iter().filter(|p| p.kernel.starts_with("decode"));
    let halves: Vec<_> = decode
        .flat_map(|pipeline| TYPES.map(|(to, options)| to_halves(pipeline, to, options)))
        .collect();
    all.extend(halves);
}

fn to_halves(pipeline: &PipelineSource, to: &str, options: &str) -> PipelineSource {
    assert!(
        pipeline.wgsl.contains(OPTION),
        "{} has no options",
        pipeline.name
    );
    let known = format!(
        "if ((bit & (HALVES | BFLOAT)) != 0u) {{ return ({options} & bit) != 0u; }} {OPTION}"
    );
    PipelineSource {
        name: format!("{} to {to}", pipeline.name),
        wgsl: pipeline.wgsl.replace(OPTION, &known),
        kernel: match pipeline.kernel {
            "decode rows" => "decode rows to halves",
            _ => "decode elements to halves",
        },
        ..pipeline.clone()
    }
}
