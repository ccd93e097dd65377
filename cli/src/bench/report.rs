//! The results and the cases, for people and for scripts.

use std::fmt::Write;

use anyhow::Result;
use wgpu_gather::IndexType;
use wgpu_gather::quantized::BlockFormat;

use crate::answer::Answer;
use crate::bench::case::Case;
use crate::bench::cases::GROUPS;
use crate::bench::result::{Dispatches, Figures, GpuFigures, Line, Place};
use crate::bench::verb::Verb;
use crate::text;

/// Said wherever speeds of a software adapter are shown.
pub(crate) const SOFTWARE: &str =
    "software adapter: shaders run on the CPU; these are not the speeds of a GPU";

/// One JSON object for each line.
pub(crate) fn json_lines(lines: &[Line]) -> Result<String> {
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(line)?;
        text.push('\n');
    }
    Ok(text)
}

/// One table for each backend.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut text = String::new();
    for place in places(lines) {
        let here: Vec<&Line> = lines.iter().filter(|line| line.place == *place).collect();
        if !text.is_empty() {
            text.push('\n');
        }
        text += &heading(place);
        text += &figures_table(&here);
        text += &notes(&here);
    }
    text
}

/// The backends of `lines`, in their order.
pub(crate) fn places(lines: &[Line]) -> Vec<&Place> {
    let mut places: Vec<&Place> = Vec::new();
    for line in lines {
        if !places.contains(&&line.place) {
            places.push(&line.place);
        }
    }
    places
}

/// What computed, whether it is a GPU at all, and what took the times.
fn heading(place: &Place) -> String {
    let mut text = format!("{}\n", place.label());
    if place.software_adapter {
        text += &format!("{SOFTWARE}\n");
    }
    if let Some(driver) = place.driver.as_ref().filter(|driver| !driver.is_empty()) {
        text += &format!("driver {driver}; ");
    }
    text += match place.clock.as_str() {
        "wall" => "times by the clock on the wall\n",
        _ => "times by the device's own clock\n",
    };
    text
}

/// A column: its heading, and its cell for a line.
type Column = (&'static str, fn(&Line, &Figures) -> Option<String>);

const COLUMNS: [Column; 14] = [
    ("case", |line, _| Some(name(line))),
    ("params", |line, _| {
        let of = line.format.as_ref().unwrap_or(&line.dtype);
        Some(shape(&line.params_shape, of))
    }),
    ("indices", |line, _| {
        Some(shape(&line.indices_shape, &line.index_type))
    }),
    ("ms ", |_, figures| Some(milliseconds(figures.median_ms))),
    ("10% to 90% ", |_, figures| {
        let [low, high] = [figures.p10_ms, figures.p90_ms].map(milliseconds);
        Some(format!("{low} to {high}"))
    }),
    ("GB/s ", |_, figures| {
        Some(format!("{:.2}", figures.gb_per_s))
    }),
    ("copy GB/s ", |_, figures| {
        Some(format!("{:.2}", figures.copy_gb_per_s))
    }),
    ("of copy ", |_, figures| {
        Some(format!("{:.2}", figures.fraction))
    }),
    ("asked ", |_, figures| {
        let asked = figures.gpu.asked.as_ref()?;
        Some(format!(
            "{:.2}",
            asked.bytes_32 as f64 / figures.bytes as f64
        ))
    }),
    ("of copy, asked ", |_, figures| {
        let asked = figures.gpu.asked.as_ref()?;
        Some(format!("{:.2}", asked.fraction_32))
    }),
    ("M pairs/s ", |_, figures| {
        figures
            .pairs_per_s
            .map(|pairs| format!("{:.1}", pairs / 1e6))
    }),
    ("sort of copy ", |_, figures| {
        figures.sort_fraction.map(|part| format!("{part:.2}"))
    }),
    ("alone ms ", |_, figures| {
        figures.gpu.single_ms.map(milliseconds)
    }),
    ("host to host ms ", |_, figures| {
        figures.gpu.transfers_ms.map(milliseconds)
    }),
];

/// The figures that there are, without columns that would be empty.
fn figures_table(lines: &[&Line]) -> String {
    let cells = |line: &&Line| {
        let figures = line.figures.as_ref()?;
        Some(COLUMNS.map(|(_, cell)| cell(line, figures)))
    };
    let all: Vec<_> = lines.iter().filter_map(cells).collect();
    let filled: Vec<usize> = (0..COLUMNS.len())
        .filter(|&column| all.iter().any(|cells| cells[column].is_some()))
        .collect();
    if filled.is_empty() {
        return String::new();
    }
    let headings: Vec<&str> = filled.iter().map(|&column| COLUMNS[column].0).collect();
    let row = |cells: &[Option<String>; COLUMNS.len()]| {
        let cell = |&column: &usize| cells[column].clone().unwrap_or_default();
        filled.iter().map(cell).collect()
    };
    let rows: Vec<Vec<String>> = all.iter().map(row).collect();
    text::table(&headings, &rows)
}

/// The case, and what its shapes are divided by.
pub(crate) fn name(line: &Line) -> String {
    match line.scale {
        1 => line.case.clone(),
        scale => format!("{} /{scale}", line.case),
    }
}

/// `f16 128256x4096`.
fn shape(dims: &[usize], of: &str) -> String {
    let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
    match dims.is_empty() {
        true => format!("{of} scalar"),
        false => format!("{of} {}", dims.join("x")),
    }
}

fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms < 0.1 => format!("{ms:.5}"),
        ms if ms < 10.0 => format!("{ms:.3}"),
        ms => format!("{ms:.1}"),
    }
}

/// What is smaller than it should be, what else was timed, and what was left out.
fn notes(lines: &[&Line]) -> String {
    let mut text = String::new();
    if lines.iter().any(|line| line.scale > 1) {
        text += "/N: the shapes of the case are divided by N\n";
    }
    let has = |time: fn(&GpuFigures) -> Option<f64>| {
        let figures = lines.iter().filter_map(|line| line.figures.as_ref());
        figures
            .into_iter()
            .any(|figures| time(&figures.gpu).is_some())
    };
    if has(|gpu| gpu.single_ms) {
        text += "alone: one call, recorded, submitted and waited for\n";
    }
    if has(|gpu| gpu.transfers_ms) {
        text += "host to host: one call with its uploads and its download\n";
    }
    text += &of_waves(lines);
    text += &of_dispatches(lines);
    for line in lines {
        if let Some(reason) = &line.scaled_because {
            let _ = writeln!(text, "{}: divided by {}: {reason}", line.case, line.scale);
        }
        if let Some(reason) = &line.skipped {
            let _ = writeln!(text, "{}: skipped: {reason}", line.case);
        }
        let encode = line
            .figures
            .as_ref()
            .and_then(|figures| figures.gpu.encode_ms);
        if let Some(encode) = encode.filter(|_| line.case == "latency") {
            let _ = writeln!(
                text,
                "{}: {} ms to record it",
                line.case,
                milliseconds(encode)
            );
        }
    }
    text
}

/// What the dispatches of each case take.
fn of_dispatches(lines: &[&Line]) -> String {
    let mut text = String::new();
    for line in lines {
        let figures = line.figures.as_ref();
        let Some(all) = figures.and_then(|figures| figures.gpu.dispatches.as_ref()) else {
            continue;
        };
        let _ = writeln!(
            text,
            "{}: its dispatches in ms, each with a timestamp after it",
            name(line)
        );
        let row = |each: &Dispatches| {
            let times = format!("{} x", each.count);
            vec![
                String::new(),
                milliseconds(each.ms),
                times,
                each.pipeline.clone(),
            ]
        };
        text += &text::table(
            &["", "ms ", "x ", "pipeline"],
            &all.iter().map(row).collect::<Vec<_>>(),
        );
    }
    text
}

/// What is said of waves and sorts on a GPU, and which cases have no figure.
fn of_waves(lines: &[&Line]) -> String {
    let mut text = String::new();
    let on_gpus = || {
        let on_gpus = lines.iter().filter(|line| line.place.backend == "gpu");
        on_gpus.filter_map(|line| Some((*line, line.figures.as_ref()?)))
    };
    if on_gpus().any(|(_, figures)| figures.sort_fraction.is_some()) {
        text += "sort of copy: as if the sort took all of the time, at 24 bytes of a pair for each 8 bits of its \
                 key\n";
    }
    let (known, unknown): (Vec<_>, Vec<_>) =
        on_gpus().partition(|(_, figures)| figures.gpu.asked.is_some());
    if !known.is_empty() {
        text += "asked: bytes of the sectors that waves of 32 ask for, in parts of the bytes that GB/s counts; \
                 of copy, asked: their speed\n";
    }
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.iter().map(|(line, _)| line.case.as_str()).collect();
        let _ = writeln!(
            text,
            "asked: no figure for {}: the traffic table has no call of this shape",
            names.join(", ")
        );
    }
    text
}

/// The cases, at full size, and in JSON also at `scale`.
pub(crate) fn list(cases: &[Case], scale: usize, json: bool) -> Result<Answer> {
    let mut text = String::new();
    if json {
        for case in cases {
            text += &case.json(scale).to_string();
            text.push('\n');
        }
        return Ok(Answer::good(text));
    }
    for (group, what) in GROUPS {
        let rows: Vec<Vec<String>> = cases
            .iter()
            .filter(|case| case.group == group)
            .map(list_row)
            .collect();
        if rows.is_empty() {
            continue;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        let headings = ["case", "operator", "params", "indices", "what"];
        let _ = write!(text, "{group}: {what}\n{}", text::table(&headings, &rows));
    }
    Ok(Answer::good(text))
}

fn list_row(case: &Case) -> Vec<String> {
    let index_type: IndexType = case.index_type;
    let (axis, batch_dims) = case.attributes();
    let reduce = case
        .verb
        .reduce()
        .map(|reduce| format!(" {reduce}"))
        .unwrap_or_default();
    let axis = match (case.verb, axis) {
        // Of rows, as all other verbs have them.
        (Verb::Gather, Some(axis)) => format!(" axis {axis}"),
        _ => String::new(),
    };
    let batch = match batch_dims {
        0 => String::new(),
        n => format!(" batch {n}"),
    };
    vec![
        case.name.clone(),
        format!("{}{reduce}{axis}{batch}", case.verb.name(case.op)),
        shape(
            &case.params,
            case.format.map_or(case.dtype.name(), BlockFormat::name),
        ),
        shape(&case.indices, index_type.name()),
        case.what.to_owned(),
    ]
}
