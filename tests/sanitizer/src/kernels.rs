//! Small kernels with a fault each, and the same without: what they do is known, so what is reported must
//! be just that.

use std::sync::Arc;

use wgpu_gather::gpu::internals::{Watch, Watched};
use wgpu_gather::wgpu;

use crate::bench::{device, limits};
use crate::checks::{MOST_STEPS, complaints};
use crate::memory::Memory;
use crate::recorder::{Pipelines, Recorded, Recorder};
use crate::sectors::sectors;
use crate::trace::{buffer, entry};

/// The words of each of the two buffers that are the call's; the buffers have twice as many.
const WORDS: u64 = 256;

/// A kernel of four workgroups of 64 invocations, which writes `output` and reads `input`.
struct Kernel {
    name: &'static str,
    /// The body, in which `id` is the number of the invocation.
    body: &'static str,
    /// What is said of it; nothing, if there is nothing wrong.
    says: Option<&'static str>,
}

const OUTSIDE: &str = "outside the call's memory";
const BOTH_WRITE: &str = "two invocations write a word";
const READ_AND_WRITTEN: &str = "one invocation writes what another reads";
const STEPS: &str = "steps of an invocation's loops";

const KERNELS: &[Kernel] = &[
    kernel("side by side", "output[id] = input[id];", None),
    kernel(
        "a store one too far",
        "output[id + 1u] = 1u;",
        Some(OUTSIDE),
    ),
    kernel(
        "a load one too far",
        "output[id] = input[id + 1u];",
        Some(OUTSIDE),
    ),
    kernel(
        "a load beyond the binding",
        "output[id] = input[id + 4096u];",
        Some(OUTSIDE),
    ),
    kernel(
        "a load whose bytes wrap",
        "output[id] = input[id + 0x40000000u];",
        Some(OUTSIDE),
    ),
    kernel("one word of two", "output[id / 2u] = id;", Some(BOTH_WRITE)),
    kernel(
        "one word of two, atomic",
        "atomicAdd(&shared_words[id / 2u], 1u);",
        None,
    ),
    kernel(
        "a word that is changed and loaded as an atomic",
        "atomicAdd(&shared_words[id / 2u], atomicLoad(&shared_words[id]));",
        None,
    ),
    kernel(
        "a neighbour's word",
        "output[id] = id; output[id] = output[id ^ 1u];",
        Some(READ_AND_WRITTEN),
    ),
    kernel(
        "a neighbour's word behind a barrier",
        "output[id] = id; storageBarrier(); if (output[id ^ 1u] > 999u) { return; }",
        None,
    ),
    kernel(
        "a neighbour's word behind a barrier for other memory",
        "output[id] = id; workgroupBarrier(); if (output[id ^ 1u] > 999u) { return; }",
        Some(READ_AND_WRITTEN),
    ),
    kernel(
        "another workgroup's word behind a barrier",
        "output[id] = id; storageBarrier(); if (output[id ^ 64u] > 999u) { return; }",
        Some(READ_AND_WRITTEN),
    ),
    kernel(
        "a loop of so many steps",
        "for (var n = 1u; n < MOST; n++) {}",
        None,
    ),
    kernel(
        "a loop of one step more",
        "for (var n = 0u; n < MOST; n++) {}",
        Some(STEPS),
    ),
    kernel(
        "loops in a loop",
        "for (var n = 0u; n < 300u; n++) { for (var m = 0u; m < 300u; m++) {} }",
        Some(STEPS),
    ),
];

const fn kernel(name: &'static str, body: &'static str, says: Option<&'static str>) -> Kernel {
    Kernel { name, body, says }
}

/// The text of a kernel.
fn text(body: &str) -> String {
    let ty = match body.contains("shared_words") {
        true => "var<storage, read_write> shared_words: array<atomic<u32>>",
        false => "var<storage, read_write> output: array<u32>",
    };
    format!(
        "const MOST = {MOST_STEPS}u;
        @group(0) @binding(0) {ty};
        @group(0) @binding(1) var<storage, read> input: array<u32>;
        var<workgroup> own: array<u32, 64>;
        var<workgroup> other: array<vec4<u32>, 64>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) number: vec3<u32>) {{
            let id = number.x;
            {body}
        }}"
    )
}

/// A device for kernels.
pub(crate) struct Kernels {
    device: wgpu::Device,
    queue: wgpu::Queue,
}

impl Kernels {
    /// # Errors
    ///
    /// What keeps lavapipe from being used.
    pub(crate) fn new() -> Result<Self, String> {
        let (device, queue, _) = device()?;
        Ok(Kernels { device, queue })
    }

    /// What a kernel does, if so many bytes of both buffers are the call's; none of them, if nobody says.
    fn run(&self, body: &str, given: Option<u64>) -> Result<Recorded, String> {
        let name = "a kernel";
        let source = text(body);
        let pipelines = Pipelines::from([(name.to_owned(), (source.clone(), "main"))]);
        let recorder = Recorder::new(&self.device, &self.queue, limits(1 << 20), pipelines, None);
        let recorder = Arc::new(recorder);
        let usage = wgpu::BufferUsages::STORAGE;
        let buffers = [0, 1].map(|_| buffer(&self.device, 8 * WORDS, usage));
        for (buffer, bytes) in buffers.iter().zip(given.into_iter().cycle()) {
            recorder.give(buffer, Memory::slice(0..bytes));
        }
        let traced = recorder.shader(source);
        let (pipeline, layout) = self.pipeline(&traced, &recorder);
        let entries = [0, 1].map(|n| wgpu::BindGroupEntry {
            binding: n,
            resource: buffers[n as usize].as_entire_binding(),
        });
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(name),
            layout: &layout,
            entries: &entries,
        });
        let dispatch = Watched {
            pipeline: name.to_owned(),
            entries: &entries,
        };
        let trace = recorder.dispatch(&dispatch);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.set_bind_group(1, trace.as_ref(), &[]);
        pass.dispatch_workgroups(4, 1, 1);
        drop(pass);
        self.queue.submit([encoder.finish()]);
        Ok(recorder.take()?.remove(0))
    }

    fn pipeline(
        &self,
        text: &str,
        recorder: &Recorder,
    ) -> (wgpu::ComputePipeline, wgpu::BindGroupLayout) {
        let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
        let entries = [entry(0, storage(false)), entry(1, storage(true))];
        let layout = wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        };
        let layout = self.device.create_bind_group_layout(&layout);
        let groups = [Some(&layout), recorder.layout()];
        let all = wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &groups,
            immediate_size: 0,
        };
        let module = wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        };
        let pipeline = wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&self.device.create_pipeline_layout(&all)),
            module: &self.device.create_shader_module(module),
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        };
        (self.device.create_compute_pipeline(&pipeline), layout)
    }

    /// Says of each kernel what is not as it should be; nothing, if all is.
    pub(crate) fn check(&self) -> Vec<(String, Option<String>)> {
        let mut all: Vec<_> = KERNELS.iter().map(|kernel| self.one(kernel)).collect();
        all.push(self.unknown_memory());
        all.extend(self.edges());
        all.push(self.too_many_records());
        all.extend(self.sectors());
        all.extend(self.barriers());
        all
    }

    fn one(&self, kernel: &Kernel) -> (String, Option<String>) {
        let said = self.run(kernel.body, Some(4 * WORDS));
        let said = said.map(|recorded| complaints(&recorded));
        (kernel.name.to_owned(), wrong(said, kernel.says))
    }

    fn unknown_memory(&self) -> (String, Option<String>) {
        let said = self.run("output[id] = 1u;", None);
        let said = said.map(|recorded| complaints(&recorded));
        let name = "memory that nobody gave".to_owned();
        (name, wrong(said, Some("of unknown memory")))
    }

    /// The last word is the call's in part.
    fn edges(&self) -> Vec<(String, Option<String>)> {
        let kernels = [
            (
                "a load of a word at the edge",
                "if (input[id] > 9u) { return; }",
                None,
            ),
            (
                "a store of a word at the edge",
                "output[id] = 1u;",
                Some(OUTSIDE),
            ),
            ("a store that keeps the edge", "output[id] |= 1u;", None),
        ];
        let check = |(name, body, says): (&str, &str, Option<&str>)| {
            let said = self.run(body, Some(4 * WORDS - 2));
            let said = said.map(|recorded| complaints(&recorded));
            (name.to_owned(), wrong(said, says))
        };
        kernels.map(check).to_vec()
    }

    fn too_many_records(&self) -> (String, Option<String>) {
        let body = "for (var n = 0u; n < 60000u; n++) { if (input[id] == n + 1u) { return; } }";
        let wrong = match self.run(body, Some(4 * WORDS)) {
            Err(error) if error.contains("have room") => None,
            Err(error) => Some(error),
            Ok(_) => Some("nothing was said".to_owned()),
        };
        ("more records than there is room for".to_owned(), wrong)
    }

    /// Waves of 32 with neighbours side by side and 256 bytes apart, where each has a sector to itself.
    fn sectors(&self) -> Vec<(String, Option<String>)> {
        let of = |name: &str, body, expected: [u64; 2]| {
            let wrong = match self.run(body, Some(4 * WORDS)) {
                Err(error) => Some(error),
                Ok(recorded) => {
                    let [loads, _] = sectors(&recorded, 32);
                    let got = [loads.asked, loads.sectors];
                    (got != expected).then(|| format!("{got:?} bytes, expected {expected:?}"))
                }
            };
            (name.to_owned(), wrong)
        };
        // Eight waves of 32 words.
        let side = of(
            "sectors side by side",
            "if (input[id] > 9u) { return; }",
            [1024, 1024],
        );
        let apart = "if (id < 32u && input[id * 64u] > 9u) { return; }";
        let apart = of("sectors 256 bytes apart", apart, [128, 1024]);
        let turns = "for (var n = 0u; n < 2u; n++) { if (input[n * 8u] > 9u) { return; } }";
        let turns = of("one word, then another", turns, [64, 512]);
        vec![side, apart, turns]
    }

    /// Kernels that share memory in workgroups and wait for each other, and one that does neither.
    fn barriers(&self) -> Vec<(String, Option<String>)> {
        let of = |name: &str, body, expected: [u32; 2]| {
            let wrong = match self.run(body, Some(4 * WORDS)) {
                Err(error) => Some(error),
                Ok(recorded) => {
                    let shared = recorded.dispatch.workgroup.bytes;
                    let got = recorded.most.map(|most| [shared, most.barriers]);
                    (got != Some(expected))
                        .then(|| format!("{got:?} bytes and barriers, expected {expected:?}"))
                }
            };
            (name.to_owned(), wrong)
        };
        let once = "own[id % 64u] = id; workgroupBarrier(); output[id] = own[id % 64u ^ 1u];";
        let loops = "for (var n = 0u; n < 3u; n++) { other[id % 64u].x = n; workgroupBarrier(); }
            storageBarrier();";
        vec![
            of("nothing shared", "output[id] = id;", [0, 0]),
            of("one barrier", once, [256, 1]),
            of("barriers in a loop and behind it", loops, [1024, 4]),
        ]
    }
}

/// What is wrong with what was said.
fn wrong(said: Result<Vec<String>, String>, expected: Option<&str>) -> Option<String> {
    match (said, expected) {
        (Err(error), _) => Some(error),
        (Ok(said), None) => (!said.is_empty()).then(|| said.join("; ")),
        (Ok(said), Some(text)) => {
            let fits = !said.is_empty() && said.iter().all(|s| s.contains(text));
            (!fits).then(|| format!("said {said:?}, expected: {text}"))
        }
    }
}
