//! Tables as text: a head, the names of the columns, a line for each pipeline.

use std::fmt;

/// The name of the first column.
const HEAD: &str = "pipeline";

/// What a compiler made of all pipelines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    pub(crate) device: String,
    /// The driver's version, such as `Mesa 25.0.7`.
    pub(crate) driver: String,
    pub(crate) columns: Vec<String>,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) pipeline: String,
    pub(crate) cells: Vec<String>,
}

impl Table {
    /// Reads what `Display` has written.
    pub(crate) fn read(text: &str) -> Option<Table> {
        let mut lines = text.lines();
        let head = lines.next()?.strip_prefix("# ")?;
        let (device, driver) = head.rsplit_once(", ")?;
        let Line { cells: columns, .. } = Line::read(lines.next()?)?;
        let lines = lines.map(Line::read).collect::<Option<_>>()?;
        Some(Table {
            device: device.to_owned(),
            driver: driver.to_owned(),
            columns,
            lines,
        })
    }

    /// How `now` differs from this table of that name, with the lines before and after; nothing, if it
    /// does not.
    pub(crate) fn report(&self, now: &Table, name: &str) -> Option<String> {
        let differences = self.differences(now);
        if differences.is_empty() && self.columns == now.columns {
            return None;
        }
        let mut text = format!(
            "{} pipelines differ from the table. If that is meant: tests/isa.sh renew {name}\n",
            differences.len()
        );
        text += &format!("  {}\n", now.columns_as_text());
        for (before, after) in differences {
            for (sign, line) in [("-", before), ("+", after)] {
                if let Some(line) = line {
                    text += &format!("{sign} {}\n", now.line_as_text(line));
                }
            }
        }
        Some(text)
    }

    /// Of pipelines that differ, are new or are gone: the line in `self` and the line in `now`.
    fn differences<'a>(&'a self, now: &'a Table) -> Vec<(Option<&'a Line>, Option<&'a Line>)> {
        let kept = self.lines.iter();
        let kept = kept.map(|before| (Some(before), now.line(&before.pipeline)));
        let new = now.lines.iter();
        let new = new.filter(|line| self.line(&line.pipeline).is_none());
        kept.chain(new.map(|line| (None, Some(line))))
            .filter(|(before, after)| before != after)
            .collect()
    }

    fn line(&self, pipeline: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.pipeline == pipeline)
    }

    /// The columns' widths.
    fn widths(&self) -> Vec<usize> {
        let rows = self.lines.iter().map(|line| &line.cells);
        let rows = rows.chain([&self.columns]);
        let mut widths = vec![0; self.columns.len()];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.len());
            }
        }
        widths
    }

    fn line_as_text(&self, line: &Line) -> String {
        let names = self.lines.iter().map(|line| line.pipeline.len());
        let name = names.fold(HEAD.len(), usize::max);
        let mut text = format!("{:name$}", line.pipeline);
        for (cell, width) in line.cells.iter().zip(self.widths()) {
            text += &format!(" | {cell:>width$}");
        }
        text
    }

    fn columns_as_text(&self) -> String {
        self.line_as_text(&Line {
            pipeline: HEAD.to_owned(),
            cells: self.columns.clone(),
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}, {}", self.device, self.driver)?;
        writeln!(f, "{}", self.columns_as_text())?;
        for line in &self.lines {
            writeln!(f, "{}", self.line_as_text(line))?;
        }
        Ok(())
    }
}

impl Line {
    fn read(text: &str) -> Option<Line> {
        let mut cells = text.split('|').map(|cell| cell.trim().to_owned());
        let pipeline = cells.next()?;
        let cells = cells.collect();
        Some(Line { pipeline, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Some (CARD), Mesa 1.2
pipeline | VGPRs | ratio
rows 4   |    24 |  0.10
rows 16  |    36 |  0.03
";

    #[test]
    fn what_is_written_is_read() {
        let table = Table::read(TEXT).unwrap();
        assert_eq!(table.driver, "Mesa 1.2");
        assert_eq!(table.to_string(), TEXT);
        assert_eq!(table.differences(&table), []);
        assert_eq!(Table::read("pipeline | VGPRs\n"), None);
    }

    #[test]
    fn differences_are_lines_that_changed_came_and_went() {
        let before = Table::read(TEXT).unwrap();
        let changed = TEXT.replace("0.03", "0.04");
        let now = Table::read(&changed.replace("rows 4 ", "rows 8 ")).unwrap();
        let found = before.differences(&now);
        let names = |(a, b): &(Option<&Line>, Option<&Line>)| {
            [a, b].map(|line| line.map(|line| line.pipeline.clone()))
        };
        let found: Vec<_> = found.iter().map(names).collect();
        let named = |name: &str| Some(name.to_owned());
        let expected = [
            [named("rows 4"), None],
            [named("rows 16"), named("rows 16")],
            [None, named("rows 8")],
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_difference_is_reported_with_both_lines_and_the_remedy() {
        let before = Table::read(TEXT).unwrap();
        assert_eq!(before.report(&before, "card"), None);
        let now = Table::read(&TEXT.replace("0.03", "0.04")).unwrap();
        let report = before.report(&now, "card").unwrap();
        let said = [
            "renew card",
            "- rows 16  |    36 |  0.03",
            "+ rows 16  |    36 |  0.04",
        ];
        assert!(said.iter().all(|text| report.contains(text)), "{report}");
        let mut renamed = before.clone();
        renamed.columns[0] = "SGPRs".to_owned();
        assert!(before.report(&renamed, "card").is_some());
    }
}
