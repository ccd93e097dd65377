//! Results as one SVG, with a panel for each thing that they can show.

mod bars;
mod curves;
mod panel;

use anyhow::Result;
use plotters::prelude::*;

use self::panel::{MARGIN, WIDTH};
use crate::bench::report::{SOFTWARE, places};
use crate::bench::result::Line;
use crate::drawing::{FONT, unpainted};

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
