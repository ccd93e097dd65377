//! What came of it, as lines of JSON: one for the run, then one for each library on each case.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use wgpu_gather::gpu::AdapterSummary;

use crate::task::Task;

/// The name under which our own lines stand.
pub(crate) const OURS: &str = "wgpu-gather";

/// A line of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Line {
    Run { run: Box<Run> },
    Result(Box<Entry>),
}

/// Where, when and how the lines after it were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// `cpu` or `gpu`.
    pub(crate) on: String,
    pub(crate) date: String,
    pub(crate) command: String,
    /// The processor.
    pub(crate) host: String,
    pub(crate) threads: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) adapter: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) driver: Option<String>,
    /// Whether the adapter runs shaders on the CPU.
    #[serde(default)]
    pub(crate) software_adapter: bool,
    /// The libraries and their versions.
    pub(crate) versions: BTreeMap<String, String>,
}

/// A library on a case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    #[serde(flatten)]
    pub(crate) case: About,
    /// The library.
    pub(crate) who: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) call: Option<String>,
    /// `fresh`, `kept` or `bound`: who provides the memory of the output.
    pub(crate) output: String,
    #[serde(flatten)]
    pub(crate) times: Option<Figures>,
    /// Why there are no times.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) not_offered: Option<String>,
}

/// What is gathered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct About {
    pub(crate) case: String,
    pub(crate) group: String,
    /// `rows` or `elements`: what one index selects.
    pub(crate) kind: String,
    pub(crate) op: String,
    pub(crate) axis: Option<isize>,
    pub(crate) batch_dims: isize,
    pub(crate) dtype: String,
    pub(crate) index_type: String,
    #[serde(alias = "order")]
    pub(crate) pattern: String,
    pub(crate) bad: f64,
    pub(crate) params_shape: Vec<usize>,
    pub(crate) indices_shape: Vec<usize>,
    pub(crate) output_shape: Vec<usize>,
    pub(crate) scale: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) scaled_because: Option<String>,
}

/// Milliseconds of one gather, over the rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    pub(crate) median_ms: f64,
    pub(crate) p10_ms: f64,
    pub(crate) p90_ms: f64,
    pub(crate) rounds: usize,
    /// How many times as long as ours with the same `output`: the median of the rounds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) ratio: Option<f64>,
    /// The same, against ours that writes into the caller's memory, whatever the peer does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) ratio_into: Option<f64>,
    /// The same, against ours that is bound once.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) ratio_bound: Option<f64>,
}

impl About {
    pub(crate) fn new(task: &Task) -> Self {
        let case = task.case();
        let (axis, batch_dims) = case.attributes();
        About {
            case: case.name.clone(),
            group: case.group.to_owned(),
            kind: task.kind().to_owned(),
            op: case.op.kind().to_string(),
            axis,
            batch_dims,
            dtype: case.dtype.name().to_owned(),
            index_type: case.index_type.name().to_owned(),
            pattern: case.pattern.name().to_owned(),
            bad: case.bad,
            params_shape: case.params.clone(),
            indices_shape: case.indices.clone(),
            output_shape: task.scaled.plan.output_shape().to_vec(),
            scale: task.scaled.scale,
            scaled_because: task.scaled_because.clone(),
        }
    }
}

impl Run {
    /// Whether both ran on one adapter, or on one processor with as many threads.
    pub(crate) fn is_beside(&self, other: &Run) -> bool {
        let on_the_same = self.on == other.on && self.adapter == other.adapter;
        let one_processor = self.host == other.host && self.threads == other.threads;
        on_the_same && (self.adapter.is_some() || one_processor)
    }

    /// This command, here and now.
    pub(crate) fn new(on: &str, versions: impl IntoIterator<Item = (String, String)>) -> Self {
        let command: Vec<String> = std::env::args().skip(1).collect();
        Run {
            on: on.to_owned(),
            date: humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string(),
            command: format!("wgpu-gather-peers {}", command.join(" ")),
            host: processor(),
            threads: wgpu_gather::Executor::cpu_threads(),
            adapter: None,
            driver: None,
            software_adapter: false,
            versions: versions.into_iter().collect(),
        }
    }

    /// Where it ran, for a reader.
    pub(crate) fn place(&self) -> String {
        match &self.adapter {
            Some(adapter) => adapter.clone(),
            None => format!("{}, {} threads", self.host, self.threads),
        }
    }

    /// Notes the adapter.
    pub(crate) fn describe(&mut self, adapter: &AdapterSummary) {
        self.adapter = Some(adapter.label());
        self.driver = Some(adapter.driver.clone());
        self.software_adapter = adapter.is_software();
    }
}

/// The name of the processor, on Linux, with the number of its model: of a virtual machine, all of a family have
/// one name.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let of = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(key, _)| key.trim() == name)?;
        Some(value.trim())
    };
    match (of("model name"), of("model")) {
        (Some(name), Some(model)) => format!("{name}, model {model}"),
        (Some(name), None) => name.to_owned(),
        _ => std::env::consts::ARCH.to_owned(),
    }
}

/// The number to four digits.
pub(crate) fn digits(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}

/// The lines of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Line>> {
    let named = || format!("results {}", path.display());
    let text = std::fs::read_to_string(path).with_context(named)?;
    let lines = text.lines().enumerate();
    let parse = |(n, line)| {
        serde_json::from_str(line).with_context(|| format!("{}, line {}", named(), n + 1))
    };
    lines.map(parse).collect()
}
