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

/// A table for each processor and one for each adapter.
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
                let beside = |s: &Section<'_>| s.runs[0].is_beside(run);
                current = sections.iter().position(beside).unwrap_or_else(|| {
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
        let mut headings = ["case", "pattern", "kind", "ours ms"]
            .map(str::to_owned)
            .to_vec();
        headings.extend(columns.iter().map(Column::heading));
        headings.extend(["best peer / into".to_owned(), "best peer".to_owned()]);
        let mut rows = vec![headings];
        let mut means = Means::default();
        for (case, pattern) in self.cases() {
            let entries: Vec<&Entry> = self.of(&case, &pattern);
            let kind = entries[0].case.kind.as_str();
            let ratio = |c: &Column| entries.iter().find_map(|e| c.ratio(e));
            let mut ratios: Vec<Option<f64>> = columns.iter().map(ratio).collect();
            let best = best(&columns, &ratios);
            ratios.extend([best_into(&entries), best.map(|(ratio, _)| ratio)]);
            for name in [kind, &pattern, "all"] {
                means.add(name, &ratios);
            }
            let mut row = vec![case, pattern, kind.to_owned(), ours(&entries)];
            row.extend(ratios.iter().map(|ratio| cell(*ratio)));
            if let (Some(last), Some((_, column))) = (row.last_mut(), best) {
                *last += &format!(" {}", column.heading());
            }
            rows.push(row);
        }
        for (name, columns) in means.0 {
            let mut row = ["geometric mean", &name, "", ""]
                .map(str::to_owned)
                .to_vec();
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
            None => format!("{}, {}, {} threads\n", run.on, run.host, run.threads),
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

    /// The cases with their scales, and the patterns of their indices, in their order.
    fn cases(&self) -> Vec<(String, String)> {
        let mut cases = Vec::new();
        for entry in &self.entries {
            let case = (name(entry), entry.case.pattern.clone());
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        cases
    }

    fn of(&self, case: &str, pattern: &str) -> Vec<&Entry> {
        let is_it = |entry: &&Entry| name(entry) == case && entry.case.pattern == pattern;
        self.entries.iter().copied().filter(is_it).collect()
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
        let mut smaller = BTreeMap::new();
        for entry in &self.entries {
            if let Some(reason) = &entry.case.scaled_because {
                smaller.insert(name(entry), reason);
            }
        }
        for (case, reason) in smaller {
            let _ = writeln!(text, "{case}: {reason}");
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

/// The least ratio to our call that writes into the caller's memory: of the fastest call of all
/// peers, whether that does the same or returns a new tensor.
fn best_into(entries: &[&Entry]) -> Option<f64> {
    let times = entries.iter().filter_map(|entry| entry.times.as_ref());
    times
        .filter_map(|times| times.ratio_into)
        .min_by(f64::total_cmp)
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

/// The ratios in each column, by what they are averaged over: a kind, a pattern, all.
#[derive(Default)]
struct Means(Vec<(String, Vec<Vec<f64>>)>);

impl Means {
    fn add(&mut self, name: &str, ratios: &[Option<f64>]) {
        let at = self.0.iter().position(|(other, _)| name == other);
        let at = at.unwrap_or_else(|| {
            self.0
                .push((name.to_owned(), vec![Vec::new(); ratios.len()]));
            self.0.sort_by_key(|(name, _)| match name.as_str() {
                "rows" | "elements" => 0,
                "all" => 2,
                _ => 1,
            });
            self.0
                .iter()
                .position(|(other, _)| name == other)
                .unwrap_or(0)
        });
        for (column, ratio) in self.0[at].1.iter_mut().zip(ratios) {
            column.extend(ratio);
        }
    }
}

fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let logs: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (logs / ratios.len() as f64).exp())
}

/// Columns as wide as their widest cell; the first three to the left.
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
                0..3 => write!(line, "{cell:<width$}  "),
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
mod tests;
