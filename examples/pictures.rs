//! Draws the README's pictures of the four verbs. The numbers in them are what the verbs return on the
//! CPU path.
//!
//! ```sh
//! cargo run --example pictures            # fails if a picture in docs/ is not what this program draws
//! cargo run --example pictures -- --write # writes them
//! ```

mod setup;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use wgpu_gather::{BagMode, Bags, Executor, Op, Reduce, Result, Rules, Tensor};

const CELL: usize = 34;
const HEIGHT: usize = 26;
const MARGIN: usize = 10;
/// Below the titles.
const TOP: usize = 34;
/// Fill and line of the cells of each row. Numbers are dark on light cells, and titles and lines are of
/// medium lightness, so that a picture can be read on light and on dark backgrounds.
const COLOURS: [[&str; 2]; 4] = [
    ["#a8d1ff", "#2f7fd6"],
    ["#ffd39b", "#bf7415"],
    ["#b5e3ad", "#3b8f3b"],
    ["#e2c5f4", "#9a50c2"],
];
const GREY: [&str; 2] = ["#d4dae0", "#6e7781"];

fn main() -> ExitCode {
    setup::exit(run())
}

fn run() -> setup::Result<()> {
    println!("adapter: none, {}", Executor::Cpu.describe());
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let write = std::env::args().any(|argument| argument == "--write");
    for (name, picture) in [
        ("gather", gather()?),
        ("scatter", scatter()?),
        ("gather_gradient", gather_gradient()?),
        ("embedding_bag", embedding_bag()?),
    ] {
        let path = docs.join(name).with_extension("svg");
        if write {
            fs::write(&path, &picture)?;
        }
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        if text.replace("\r\n", "\n") != picture {
            let path = path.display();
            return Err(format!("{path} is not what is drawn (-- --write renews it)").into());
        }
        println!("ok: {}", path.display());
    }
    Ok(())
}

/// Rows are `10 11 12`, `20 21 22`, and so on.
fn table() -> Result<Tensor<f32>> {
    let rows = (1..=4).flat_map(|row| (0..3).map(move |column| (10 * row + column) as f32));
    Tensor::new(&[4, 3], rows.collect())
}

fn gather() -> Result<String> {
    let ids = [2, 0, 7, 2];
    let (table, indices) = (table()?, Tensor::from(ids));
    let rules = Rules::TENSORFLOW_GPU;
    let rows = Executor::Cpu.gather(Op::gather(0), &rules, &table, &indices);
    let rows = rows.wait()?;

    let mut picture = Picture::default();
    let own = [0, 1, 2, 3];
    let table = picture.grid("table", MARGIN, &table, &own);
    let indices = picture.column("indices", table.right + 90, &ids);
    picture.grid("gather", indices.right + 8, &rows, &ids);
    for (row, &id) in ids.iter().enumerate() {
        // Index 7 selects no row.
        if id < 4 {
            picture.curve(table.after(id as usize), indices.before(row), id);
        }
    }
    Ok(picture
        .finish("gather: each index selects a row of the table; an index out of range gives zeros"))
}

fn scatter() -> Result<String> {
    let ids = [2, 0, 2];
    let base = Tensor::new(&[4, 3], vec![100.0f32; 12])?;
    let updates = Tensor::new(&[3, 3], (1..=9).map(|n| n as f32).collect())?;
    let (rules, indices) = (Rules::TENSORFLOW_GPU, Tensor::from(ids));
    let (op, add) = (Op::gather(0), Reduce::Add);
    let sums = Executor::Cpu.scatter(op, add, &rules, &base, &indices, &updates);
    let sums = sums.wait()?;

    let mut picture = Picture::default();
    let updates = picture.grid("updates", MARGIN, &updates, &ids);
    let indices = picture.column("indices", updates.right + 8, &ids);
    let sums_at = indices.right + 90;
    let result = picture.grid("scatter, add", sums_at, &sums, &[0, 9, 2, 9]);
    for (row, &id) in ids.iter().enumerate() {
        picture.curve(indices.after(row), result.before(id as usize), id);
    }
    Ok(picture.finish("scatter: each index says which row of a tensor an update is added to"))
}

fn gather_gradient() -> Result<String> {
    let ids = [3, 1, 3];
    let gradient = Tensor::new(&[3, 3], (1..=9).map(|n| n as f32 / 2.0).collect())?;
    let (rules, indices) = (Rules::TENSORFLOW_GPU, Tensor::from(ids));
    let sums = Executor::Cpu.gather_gradient(Op::gather(0), &rules, &[4, 3], &indices, &gradient);
    let sums = sums.wait()?;

    let mut picture = Picture::default();
    let rows = picture.grid("grad_output", MARGIN, &gradient, &ids);
    let indices = picture.column("indices", rows.right + 8, &ids);
    let sums_at = indices.right + 90;
    let result = picture.grid("gather_gradient", sums_at, &sums, &[9, 1, 9, 3]);
    for (row, &id) in ids.iter().enumerate() {
        picture.curve(indices.after(row), result.before(id as usize), id);
    }
    Ok(picture.finish("gather_gradient: the gradient of each gathered row is added to that of its row of the table"))
}

fn embedding_bag() -> Result<String> {
    let ids = [2, 0, 3, 1];
    let (table, indices) = (table()?, Tensor::from(ids));
    let bags = Bags::offsets(BagMode::Sum, &[0, 3]);
    let rules = Rules::TENSORFLOW_GPU;
    let sums = Executor::Cpu.embedding_bag(bags, &rules, &table, &indices);
    let sums = sums.wait()?;

    let mut picture = Picture::default();
    let own = [0, 1, 2, 3];
    let table = picture.grid("table", MARGIN, &table, &own);
    let indices = picture.column("indices", table.right + 90, &ids);
    let result = picture.grid("embedding_bag", indices.right + 70, &sums, &[9, 9]);
    for (row, &id) in ids.iter().enumerate() {
        picture.curve(table.after(id as usize), indices.before(row), id);
        picture.curve(indices.after(row), result.before(row / 3), 9);
    }
    Ok(picture.finish("embedding_bag: the rows that a bag of indices selects are summed"))
}

/// Where a grid lies, for what is drawn beside it.
struct Place {
    left: usize,
    right: usize,
}

impl Place {
    fn before(&self, row: usize) -> [usize; 2] {
        [self.left - 2, middle(row)]
    }

    fn after(&self, row: usize) -> [usize; 2] {
        [self.right + 2, middle(row)]
    }
}

fn middle(row: usize) -> usize {
    TOP + row * HEIGHT + HEIGHT / 2
}

/// The colours of a row of the table; grey for none of its rows.
fn colours(row: i32) -> [&'static str; 2] {
    let row = usize::try_from(row).ok();
    row.and_then(|row| COLOURS.get(row))
        .copied()
        .unwrap_or(GREY)
}

/// A picture in SVG, to which grids are added from left to right.
#[derive(Default)]
struct Picture {
    shapes: String,
    width: usize,
    rows: usize,
}

impl Picture {
    /// A matrix, each row in the colours of a row of the table.
    fn grid(&mut self, title: &str, left: usize, matrix: &Tensor<f32>, rows: &[i32]) -> Place {
        let cells = matrix.data().iter().map(f32::to_string).collect();
        self.cells(title, left, matrix.shape()[1], cells, rows)
    }

    /// Indices below each other, in the colours of the rows that they select.
    fn column(&mut self, title: &str, left: usize, indices: &[i32]) -> Place {
        let cells = indices.iter().map(i32::to_string).collect();
        self.cells(title, left, 1, cells, indices)
    }

    fn cells(
        &mut self,
        title: &str,
        left: usize,
        columns: usize,
        cells: Vec<String>,
        rows: &[i32],
    ) -> Place {
        let right = left + columns * CELL;
        let middle_of_title = (left + right) / 2;
        let grey = GREY[1];
        let title = format!(r#"<text x="{middle_of_title}" y="22" fill="{grey}">{title}</text>"#);
        self.line(&title);
        for (n, cell) in cells.iter().enumerate() {
            let (row, column) = (n / columns, n % columns);
            let (x, y) = (left + column * CELL, TOP + row * HEIGHT);
            let [fill, stroke] = colours(rows[row]);
            self.line(&format!(
                r#"<rect x="{x}" y="{y}" width="{CELL}" height="{HEIGHT}" fill="{fill}" stroke="{stroke}"/>"#
            ));
            let (x, y) = (x + CELL / 2, y + 18);
            self.line(&format!(
                r##"<text x="{x}" y="{y}" fill="#1f2328">{cell}</text>"##
            ));
        }
        self.width = self.width.max(right + MARGIN);
        self.rows = self.rows.max(cells.len() / columns);
        Place { left, right }
    }

    fn curve(&mut self, [x1, y1]: [usize; 2], [x2, y2]: [usize; 2], row: i32) {
        let middle = (x1 + x2) / 2;
        let stroke = colours(row)[1];
        self.line(&format!(
            r#"<path d="M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}" fill="none" stroke="{stroke}" stroke-width="2"/>"#
        ));
    }

    fn line(&mut self, shape: &str) {
        writeln!(self.shapes, "{shape}").expect("a string takes it");
    }

    fn finish(self, title: &str) -> String {
        let (width, height) = (self.width, TOP + self.rows * HEIGHT + MARGIN);
        let shapes = self.shapes;
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" font-size="13" text-anchor="middle" role="img">
<title>{title}</title>
{shapes}</svg>
"#
        )
    }
}
