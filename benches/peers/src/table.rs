//! One table of ratios.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;

use crate::line::{Entry, Figures, Line, OURS, Run, read};

/// Said wherever speeds of a software adapter are shown.
const SOFTWARE: &str =
    "software adapter: shaders run on the CPU; these are not the speeds of a GPU";

/// Prints the table of what is in `files`.
pub(crate) fn print(files: &[PathBuf]) -> Result<()> {
    let lines: Result<Vec<_>> = files.iter().map(|path| read(path)).collect();
    print!("{}", table(&lines?.concat()));
    Ok(())
}

/// A table for the CPU and one for each adapter.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut text = String::new();
    for section in sections(lines) {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &section.text();
    }
    text
}

/// What ran on the CPU, or on one adapter.
struct Section<'a> {
    runs: Vec<&'a Run>,
    entries: Vec<&'a Entry>,
}

fn sections(lines: &[Line]) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut current = 0;
    for line in lines {
        match line {
            Line::Run { run } => {
                let same =
                    |s: &Section<'_>| s.runs[0].on == run.on && s.runs[0].adapter == run.adapter;
                current = sections.iter().position(same).unwrap_or_else(|| {
                    let (runs, entries) = (Vec::new(), Vec::new());
                    sections.push(Section { runs, entries });
                    sections.len() - 1
                });
                sections[current].runs.push(run);
            }
            Line::Result(entry) => {
                if let Some(section) = sections.get_mut(current) {
                    section.entries.push(entry);
                }
            }
        }
    }
    sections
}

/// A column of ratios.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Column {
    who: String,
    output: String,
    /// Against ours that is bound once.
    bound: bool,
}

impl Column {
    fn heading(&self) -> String {
        match (self.output.as_str(), self.bound) {
            (_, true) => format!("{} / bound", self.who),
            ("kept", _) => format!("{} (out=)", self.who),
            _ => self.who.clone(),
        }
    }

    fn ratio(&self, entry: &Entry) -> Option<f64> {
        let times = entry.times.as_ref()?;
        let mine = entry.who == self.who && entry.output == self.output;
        let ratio = |times: &Figures| match self.bound {
            true => times.ratio_bound,
            false => times.ratio,
        };
        mine.then(|| ratio(times)).flatten()
    }
}

impl Section<'_> {
    fn text(&self) -> String {
        let columns = self.columns();
        let mut headings = vec!["case".to_owned(), "kind".into(), "ours ms".into()];
        headings.extend(columns.iter().map(Column::heading));
        headings.push("best peer".into());
        let mut rows = vec![headings];
        let mut means: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
        for case in self.cases() {
            let entries: Vec<&Entry> = self.of(&case);
            let kind = entries[0].case.kind.as_str();
            let ratios: Vec<Option<f64>> = columns
                .iter()
                .map(|c| entries.iter().find_map(|e| c.ratio(e)))
                .collect();
            let best = best(&columns, &ratios);
            for name in [kind, "all"] {
                let sums = means
                    .entry(name)
                    .or_insert_with(|| vec![Vec::new(); columns.len() + 1]);
                for (sum, ratio) in sums
                    .iter_mut()
                    .zip(ratios.iter().copied().chain([best.map(|(r, _)| r)]))
                {
                    sum.extend(ratio);
                }
            }
            let mut row = vec![case.clone(), kind.to_owned(), ours(&entries)];
            row.extend(ratios.iter().map(|ratio| cell(*ratio)));
            row.push(best.map_or("-".into(), |(ratio, column)| {
                format!("{ratio:.2} {}", column.heading())
            }));
            rows.push(row);
        }
        for kind in ["rows", "elements", "all"] {
            let Some(columns) = means.get(kind) else {
                continue;
            };
            let mut row = vec!["geometric mean".to_owned(), kind.to_owned(), String::new()];
            row.extend(columns.iter().map(|ratios| cell(geometric_mean(ratios))));
            rows.push(row);
        }
        format!("{}{}{}", self.heading(), aligned(&rows), self.notes())
    }

    fn heading(&self) -> String {
        let run = self.runs[0];
        let mut text = match &run.adapter {
            Some(adapter) => format!(
                "{}: {adapter}, driver {}\n",
                run.on,
                run.driver.as_deref().unwrap_or("unknown")
            ),
            None => format!("{}, {} threads\n", run.on, run.threads),
        };
        if run.software_adapter {
            let _ = writeln!(text, "{SOFTWARE}");
        }
        for run in &self.runs {
            let versions: Vec<String> = run
                .versions
                .iter()
                .map(|(k, v)| format!("{k} {v}"))
                .collect();
            let _ = writeln!(
                text,
                "{}, {}: {}\n  {}",
                run.date,
                run.host,
                run.command,
                versions.join(", ")
            );
        }
        text +=
            "each ratio: time of the peer / time of ours, so more than 1 is ours being faster\n";
        text
    }

    /// The cases with their scales, in their order.
    fn cases(&self) -> Vec<String> {
        let mut cases: Vec<String> = Vec::new();
        for entry in &self.entries {
            let name = name(entry);
            if !cases.contains(&name) {
                cases.push(name);
            }
        }
        cases
    }

    fn of(&self, case: &str) -> Vec<&Entry> {
        let entries = self.entries.iter().copied();
        entries.filter(|entry| name(entry) == case).collect()
    }

    /// Every peer that has a ratio, in the order in which they come.
    fn columns(&self) -> Vec<Column> {
        let mut columns: Vec<Column> = Vec::new();
        for entry in &self.entries {
            for bound in [false, true] {
                let (who, output) = (entry.who.clone(), entry.output.clone());
                let column = Column { who, output, bound };
                if column.ratio(entry).is_some() && !columns.contains(&column) {
                    columns.push(column);
                }
            }
        }
        columns
    }

    /// What is smaller than asked for, and what was not offered.
    fn notes(&self) -> String {
        let mut text = String::new();
        let mut reasons: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for entry in &self.entries {
            if let Some(reason) = &entry.not_offered {
                let cases = reasons.entry((&entry.who, reason)).or_default();
                if !cases.contains(&entry.case.case.as_str()) {
                    cases.push(&entry.case.case);
                }
            }
        }
        for ((who, reason), cases) in reasons {
            let _ = writeln!(text, "{who}, not offered ({reason}): {}", cases.join(", "));
        }
        for case in self.cases() {
            let about = &self.of(&case)[0].case;
            if let Some(reason) = &about.scaled_because {
                let _ = writeln!(text, "{case}: {reason}");
            }
        }
        text
    }
}

fn name(entry: &Entry) -> String {
    match entry.case.scale {
        1 => entry.case.case.clone(),
        scale => format!("{} /{scale}", entry.case.case),
    }
}

/// Our own time: of the call that most peers are compared with.
fn ours(entries: &[&Entry]) -> String {
    let ours = entries
        .iter()
        .find(|e| e.who == OURS && e.output == "fresh");
    let times = ours.and_then(|entry| entry.times.as_ref());
    times.map_or("-".into(), |times| format!("{:.4}", times.median_ms))
}

/// The least ratio: the peer that is fastest beside ours. Bound ones are ours twice.
fn best<'a>(columns: &'a [Column], ratios: &[Option<f64>]) -> Option<(f64, &'a Column)> {
    let pairs = ratios
        .iter()
        .zip(columns)
        .filter(|(_, column)| !column.bound);
    let pairs = pairs.filter_map(|(ratio, column)| Some(((*ratio)?, column)));
    pairs.min_by(|(a, _), (b, _)| a.total_cmp(b))
}

fn cell(ratio: Option<f64>) -> String {
    ratio.map_or("-".into(), |ratio| format!("{ratio:.2}"))
}

fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (logs / ratios.len() as f64).exp())
}

/// Columns as wide as their widest cell; the first two to the left.
fn aligned(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |n: usize| {
        rows.iter()
            .filter_map(|row| row.get(n))
            .map(String::len)
            .max()
    };
    let widths: Vec<usize> = (0..count).filter_map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (n, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let width = *width;
            let _ = match n {
                0 | 1 => write!(line, "{cell:<width$}  "),
                n if n + 1 == count => write!(line, "{cell}"),
                _ => write!(line, "{cell:>width$}  "),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(case: &str, who: &str, output: &str, ratio: Option<f64>) -> String {
        let figures = match (who, ratio) {
            (OURS, _) => r#""median_ms":2.0,"p10_ms":1.0,"p90_ms":3.0,"rounds":5"#.to_owned(),
            (_, Some(ratio)) => {
                format!(r#""median_ms":2.0,"p10_ms":1.0,"p90_ms":3.0,"rounds":5,"ratio":{ratio}"#)
            }
            _ => r#""not_offered":"no such call""#.to_owned(),
        };
        format!(
            r#"{{"case":"{case}","group":"shapes","kind":"rows","op":"gather","axis":0,"batch_dims":0,"dtype":"f32","index_type":"i32","order":"random","bad":0.0,"params_shape":[8],"indices_shape":[2],"output_shape":[2],"scale":4,"who":"{who}","output":"{output}",{figures}}}"#
        )
    }

    #[test]
    fn the_least_ratio_is_the_best_peer_and_means_are_geometric() {
        let run = r#"{"run":{"on":"cpu","date":"d","command":"c","host":"h","threads":2,"versions":{"numpy":"2"}}}"#;
        let texts = [
            run.to_owned(),
            entry("a", OURS, "fresh", None),
            entry("a", "numpy", "fresh", Some(2.0)),
            entry("a", "torch", "kept", Some(1.5)),
            entry("b", OURS, "fresh", None),
            entry("b", "numpy", "fresh", Some(8.0)),
            entry("b", "torch", "kept", None),
        ];
        let lines: Vec<Line> = texts
            .iter()
            .map(|t| serde_json::from_str(t).unwrap())
            .collect();
        let text = table(&lines);
        let squeezed: Vec<String> = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let tail = &squeezed[squeezed.len() - 6..];
        assert_eq!(
            tail,
            [
                "case kind ours ms numpy torch (out=) best peer",
                "a /4 rows 2.0000 2.00 1.50 1.50 torch (out=)",
                "b /4 rows 2.0000 8.00 - 8.00 numpy",
                "geometric mean rows 4.00 1.50 3.46",
                "geometric mean all 4.00 1.50 3.46",
                "torch, not offered (no such call): b",
            ]
        );
    }
}
