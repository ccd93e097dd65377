//! Results as one SVG, with a panel for each thing that they can show.

mod bars;
mod curves;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::bench::report::{SOFTWARE, places};
use crate::bench::result::{Figures, Line};

/// Where everything is drawn.
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const WIDTH: u32 = 900;
/// Height of a panel with curves.
const CURVES: u32 = 420;
const MARGIN: u32 = 12;
const FONT: &str = "sans-serif";
/// Colours that those who confuse red and green can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// Draws a panel.
type Draw<'a> = dyn Fn(&Area<'_>) -> Result<()> + 'a;

/// One panel.
struct Panel<'a> {
    height: u32,
    draw: Box<Draw<'a>>,
}

/// The SVG of all that `lines` can show.
pub(crate) fn draw(lines: &[Line]) -> Result<String> {
    let mut panels = bars::panels(lines);
    panels.extend(curves::panels(lines));
    let notes = notes(lines);
    let header = MARGIN + 20 * notes.len() as u32;
    let height = header + panels.iter().map(|panel| panel.height).sum::<u32>() + MARGIN;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        root.fill(&WHITE).map_err(unpainted)?;
        for (n, note) in notes.iter().enumerate() {
            let place = (MARGIN as i32, (MARGIN + 20 * n as u32) as i32);
            let style = (FONT, 14).into_font().color(&BLACK);
            root.draw_text(note, &style, place).map_err(unpainted)?;
        }
        let (_, mut rest) = root.split_vertically(header);
        for panel in &panels {
            let (here, below) = rest.split_vertically(panel.height);
            (panel.draw)(&here)?;
            rest = below;
        }
        root.present().map_err(unpainted)?;
    }
    Ok(svg)
}

/// What every reader must know.
fn notes(lines: &[Line]) -> Vec<String> {
    let mut notes = Vec::new();
    for place in places(lines) {
        notes.push(place.label());
        if place.software_adapter {
            notes.push(SOFTWARE.to_owned());
        }
    }
    notes
}

/// An error of the backend that draws.
fn unpainted<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> anyhow::Error {
    anyhow!("cannot draw: {error}")
}

/// The cases of `group` with figures.
fn of_group<'a>(
    lines: &'a [Line],
    group: &'a str,
) -> impl Iterator<Item = (&'a Line, &'a Figures)> {
    let in_group = lines.iter().filter(move |line| line.group == group);
    in_group.filter_map(|line| line.figures.as_ref().map(|figures| (line, figures)))
}
