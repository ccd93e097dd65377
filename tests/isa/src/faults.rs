//! Faults planted in the shaders' text, which the limits must report.

use wgpu_gather::gpu::internals::PipelineSource;

use crate::bench::Bench;

struct Fault {
    name: &'static str,
    /// The kernel and the access of the pipeline that has it.
    pipeline: (&'static str, usize),
    /// Text that must be there, and what it becomes.
    changes: &'static [(&'static str, &'static str)],
    /// What the complaint must say.
    said: &'static str,
    /// Whether other drivers' statistics show it, too.
    everywhere: bool,
}

const FAULTS: [Fault; 5] = [
    Fault {
        name: "none",
        pipeline: ("rows", 16),
        changes: &[],
        said: "",
        everywhere: true,
    },
    Fault {
        name: "scalar loads in place of a vector load",
        pipeline: ("rows", 16),
        changes: &[
            ("params: array<Vector>", "params: array<u32>"),
            (
                "return params[at];",
                "let n = 4u * at;
                let last = arrayLength(&params) - 1u;
                return Vector(
                    params[min(n, last)],
                    params[min(n + 1u, last)],
                    params[min(n + 2u, last)],
                    params[min(n + 3u, last)],
                );",
            ),
        ],
        said: "loads of 16 bring",
        everywhere: false,
    },
    Fault {
        name: "a division",
        pipeline: ("subword", 1),
        changes: &[(
            "fn divide(value: u32, divisor: vec2<u32>) -> u32 {",
            "fn divide(value: u32, divisor: vec2<u32>) -> u32 {
                return value / divisor.x;
            }
            fn former(value: u32, divisor: vec2<u32>) -> u32 {",
        )],
        said: "divisions",
        everywhere: false,
    },
    Fault {
        name: "a load that waits",
        pipeline: ("rows", 16),
        changes: &[(
            "return params[at];",
            "let a = any(params[at] == Vector());
            let b = any(params[select(at, at ^ 1u, a)] == Vector());
            return params[select(at, at ^ 1u, b)];",
        )],
        said: "times in turn",
        everywhere: false,
    },
    Fault {
        name: "a spill",
        pipeline: ("rows", 16),
        changes: &[(
            "return params[at];",
            "var kept: array<Vector, 64>;
            for (var n = 0u; n < 64u; n++) {
                kept[n] = params[at + n];
            }
            return kept[kept[at & 63u].x & 63u];",
        )],
        said: "it spills",
        everywhere: true,
    },
];

/// Plants all that the device can show: how many were reported, and what is wrong with others.
pub(crate) fn check(bench: &Bench, all: &[PipelineSource]) -> (usize, Vec<String>) {
    let shown = FAULTS
        .iter()
        .filter(|fault| fault.everywhere || bench.is_amd());
    let mut wrong = Vec::new();
    let mut reported = 0;
    for fault in shown {
        match fault.check(bench, all) {
            Ok(()) => reported += 1,
            Err(e) => wrong.push(format!("planted, {}: {e}", fault.name)),
        }
    }
    (reported, wrong)
}

impl Fault {
    fn check(&self, bench: &Bench, all: &[PipelineSource]) -> Result<(), String> {
        let mut source = self.pipeline(all)?.clone();
        for (from, to) in self.changes {
            if !source.wgsl.contains(from) {
                return Err(format!("the fault has lost its place: {from}"));
            }
            source.wgsl = source.wgsl.replace(from, to);
        }
        let complaints = bench.measure(&source)?.complaints;
        let reported = match self.changes {
            [] => complaints.is_empty(),
            _ => complaints.iter().any(|c| c.contains(self.said)),
        };
        match reported {
            true => Ok(()),
            false => Err(format!("{} is said to be: {complaints:?}", source.name)),
        }
    }

    /// The least pipeline of the kernel.
    fn pipeline<'a>(&self, all: &'a [PipelineSource]) -> Result<&'a PipelineSource, String> {
        let (kernel, bytes) = self.pipeline;
        let of_kernel = all.iter().filter(|p| {
            (p.kernel, p.access_bytes) == (kernel, bytes) && p.segments == 0 && p.loops.is_some()
        });
        let least = of_kernel.min_by_key(|p| (p.index_bytes, p.loops, p.depth));
        least.ok_or_else(|| format!("there is no pipeline {kernel} {bytes}"))
    }
}
