//! What all panels are made of: the area, colours, errors.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

/// Where everything is drawn.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(super) const WIDTH: u32 = 900;
pub(super) const MARGIN: u32 = 12;
pub(super) const FONT: &str = "sans-serif";
/// Colours that those who confuse red and green can tell apart (Okabe and Ito).
pub(super) const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// Draws a panel.
pub(super) type Draw<'a> = dyn Fn(&Area<'_>) -> Result<()> + 'a;

/// One panel.
pub(super) struct Panel<'a> {
    pub(super) height: u32,
    pub(super) draw: Box<Draw<'a>>,
}

/// An error of the backend that draws.
pub(super) fn unpainted<E: std::error::Error + Send + Sync>(
    error: DrawingAreaErrorKind<E>,
) -> anyhow::Error {
    anyhow!("cannot draw: {error}")
}
