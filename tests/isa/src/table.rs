//! Tables as text: a head, the names of the columns, a line for each pipeline.

use std::fmt;

/// What a compiler made of all pipelines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// The device and the driver's version.
    pub(crate) head: String,
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
        let head = lines.next()?.strip_prefix("# ")?.to_owned();
        let Line { cells: columns, .. } = Line::read(lines.next()?)?;
        let lines = lines.map(Line::read).collect::<Option<_>>()?;
        Some(Table {
            head,
            columns,
            lines,
        })
    }

    /// Of pipelines that differ, are new or are gone: the line in `self` and the line in `now`.
    pub(crate) fn differences<'a>(
        &'a self,
        now: &'a Table,
    ) -> Vec<(Option<&'a Line>, Option<&'a Line>)> {
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

    pub(crate) fn line_as_text(&self, line: &Line) -> String {
        let names = self.lines.iter().map(|line| line.pipeline.len());
        let name = names.max().unwrap_or(0);
        let mut text = format!("{:name$}", line.pipeline);
        for (cell, width) in line.cells.iter().zip(self.widths()) {
            text += &format!(" | {cell:>width$}");
        }
        text
    }

    pub(crate) fn columns_as_text(&self) -> String {
        self.line_as_text(&Line {
            pipeline: "pipeline".to_owned(),
            cells: self.columns.clone(),
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# {}", self.head)?;
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
