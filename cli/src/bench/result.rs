//! What came of a case: one line of JSON, written and read back.

use std::path::Path;

use crate::bench::traffic::Traffic;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::bench::case::Scaled;
use crate::bench::timing::Times;
use crate::bench::waves::Asked;

/// A case on a backend, with its figures or the reason why it has none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    pub(crate) case: String,
    pub(crate) group: String,
    pub(crate) op: String,
    /// How a scatter combines updates with what is there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) reduce: Option<String>,
    pub(crate) axis: Option<isize>,
    pub(crate) batch_dims: isize,
    pub(crate) dtype: String,
    /// How params are quantised, if they are; `dtype` is that of the output.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) format: Option<String>,
    pub(crate) index_type: String,
    pub(crate) params_shape: Vec<usize>,
    pub(crate) indices_shape: Vec<usize>,
    pub(crate) output_shape: Vec<usize>,
    #[serde(alias = "order")]
    pub(crate) pattern: String,
    pub(crate) bad: f64,
    pub(crate) out_of_bounds: String,
    /// What the shapes are divided by.
    pub(crate) scale: usize,
    /// Why they are divided by more than was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) scaled_because: Option<String>,
    #[serde(flatten)]
    pub(crate) place: Place,
    /// Why there are no figures.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) skipped: Option<String>,
    #[serde(flatten)]
    pub(crate) figures: Option<Figures>,
}

/// What computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// `gpu`, `cpu` or `reference`.
    pub(crate) backend: String,
    /// The adapter, if a GPU computed; a software adapter is called so.
    pub(crate) adapter: Option<String>,
    pub(crate) driver: Option<String>,
    /// Whether the adapter runs shaders on the CPU.
    pub(crate) software_adapter: bool,
    /// Threads, if the CPU computed.
    pub(crate) threads: Option<usize>,
    /// What took the times: `timestamps` on the device, or `wall`.
    pub(crate) clock: String,
}

impl Place {
    /// `gpu: NVIDIA H200 (vulkan)`, `cpu (2 threads)`.
    pub(crate) fn label(&self) -> String {
        match (&self.adapter, self.threads) {
            (Some(adapter), _) => format!("{}: {adapter}", self.backend),
            (None, Some(threads)) => format!("{} ({threads} threads)", self.backend),
            (None, None) => self.backend.clone(),
        }
    }
}

/// Times in milliseconds, sizes in bytes, speeds in 10^9 bytes per second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Figures {
    /// Elements of the output.
    pub(crate) output_elements: usize,
    pub(crate) params_bytes: u64,
    pub(crate) indices_bytes: u64,
    pub(crate) output_bytes: u64,
    /// Of a scatter.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) updates_bytes: Option<u64>,
    /// The least that has to be moved: the sum of them.
    pub(crate) bytes: u64,
    pub(crate) rounds: usize,
    pub(crate) median_ms: f64,
    pub(crate) p10_ms: f64,
    pub(crate) p90_ms: f64,
    pub(crate) gb_per_s: f64,
    pub(crate) copy_ms: f64,
    pub(crate) copy_gb_per_s: f64,
    /// The one speed in parts of the other.
    pub(crate) fraction: f64,
    /// From submission to the end, by the clock on the wall, for one of the repeated calls.
    pub(crate) wall_ms: f64,
    /// Rows that a scatter or a pooled lookup combines in a second: a pair of a row and its place each.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) pairs_per_s: Option<f64>,
    /// Of a scatter on a GPU: the speed at which a sort alone would move its pairs in this time, in parts of
    /// that of the copy.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) sort_fraction: Option<f64>,
    #[serde(flatten)]
    pub(crate) gpu: GpuFigures,
}

/// What only a GPU has.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct GpuFigures {
    /// What copied: `kernel` or `command`, whichever was faster.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) copied_by: Option<String>,
    /// Recording one call.
    pub(crate) encode_ms: Option<f64>,
    /// One call on its own: recorded, submitted and waited for.
    pub(crate) single_ms: Option<f64>,
    /// One call from host to host: everything uploaded, the output downloaded.
    pub(crate) transfers_ms: Option<f64>,
    /// The digits of eight bits that a scatter sorts its pairs by.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) sort_digits: Option<usize>,
    /// What each dispatch of a call takes, with a timestamp after it, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) dispatches: Option<Vec<Dispatches>>,
    /// What waves ask of memory, where the traffic table has a call of this shape.
    #[serde(default)]
    pub(crate) asked: Option<Asked>,
}

/// The dispatches of one pipeline in a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dispatches {
    pub(crate) pipeline: String,
    pub(crate) count: usize,
    /// All of them together: the median of some calls.
    pub(crate) ms: f64,
}

/// What a sort of pairs of 8 bytes reads, reads again and writes for each digit.
const SORT_BYTES: u64 = 24;

impl Figures {
    /// The figures of a case that moves `traffic`.
    pub(crate) fn new(scaled: &Scaled, traffic: &Traffic, times: &Times, gpu: GpuFigures) -> Self {
        let bytes = traffic.total();
        let (median, copy) = (times.call.median().max(1e-9), times.copy.median().max(1e-9));
        let speed = |ms: f64| significant(bytes as f64 / 1e6 / ms);
        let of_copy = |moved: u64| significant(moved as f64 / median * copy / bytes as f64);
        let (verb, lookups) = (scaled.case.verb, scaled.lookups() as u64);
        Figures {
            output_elements: scaled.output_bytes() / scaled.case.dtype.bytes(),
            params_bytes: traffic.params_sectors,
            indices_bytes: traffic.indices,
            output_bytes: traffic.output,
            updates_bytes: verb.reduce().map(|_| traffic.updates),
            bytes,
            rounds: times.call.len(),
            median_ms: significant(median),
            p10_ms: significant(times.call.quantile(0.1)),
            p90_ms: significant(times.call.quantile(0.9)),
            gb_per_s: speed(median),
            copy_ms: significant(copy),
            copy_gb_per_s: speed(copy),
            fraction: of_copy(bytes),
            wall_ms: significant(times.wall.median()),
            pairs_per_s: verb
                .computes()
                .then(|| significant(lookups as f64 / median * 1e3)),
            sort_fraction: gpu
                .sort_digits
                .map(|digits| of_copy(SORT_BYTES * digits as u64 * lookups)),
            gpu: GpuFigures {
                copied_by: gpu.copied_by,
                encode_ms: gpu.encode_ms.map(significant),
                single_ms: gpu.single_ms.map(significant),
                transfers_ms: gpu.transfers_ms.map(significant),
                sort_digits: gpu.sort_digits,
                dispatches: gpu.dispatches,
                asked: gpu.asked.map(|asked| asked.held_against(of_copy)),
            },
        }
    }
}

/// The number to six digits: no clock is better.
fn significant(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

impl Line {
    /// A case without figures yet.
    pub(crate) fn new(scaled: &Scaled, place: &Place) -> Self {
        let case = &scaled.case;
        let (axis, batch_dims) = case.attributes();
        Line {
            case: case.name.clone(),
            group: case.group.to_owned(),
            op: case.verb.name(case.op),
            reduce: case.verb.reduce().map(|reduce| reduce.name().to_owned()),
            axis,
            batch_dims,
            dtype: case.dtype.name().to_owned(),
            format: case.format.map(|format| format.name().to_owned()),
            index_type: case.index_type.name().to_owned(),
            params_shape: case.params.clone(),
            indices_shape: case.indices.clone(),
            output_shape: scaled.output_shape(),
            pattern: case.pattern.name().to_owned(),
            bad: case.bad,
            out_of_bounds: scaled.rules.out_of_bounds.to_string(),
            scale: scaled.scale,
            scaled_because: None,
            place: place.clone(),
            skipped: None,
            figures: None,
        }
    }
}

/// The lines of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<Line>> {
    let named = || format!("results {}", path.display());
    let text = std::fs::read_to_string(path).with_context(named)?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.trim().is_empty());
    let parse = |(n, text): (usize, &str)| {
        let place = || format!("{}, line {}", named(), n + 1);
        let line: Line = serde_json::from_str(text)
            .context("not a result of bench --json")
            .with_context(place)?;
        let figures = line.figures.is_some() || line.skipped.is_some();
        ensure!(
            figures,
            "{}: a result of bench --json without figures",
            place()
        );
        Ok(line)
    };
    let lines: Vec<Line> = lines.map(parse).collect::<Result<_>>()?;
    ensure!(!lines.is_empty(), "{}: no results", named());
    Ok(lines)
}
