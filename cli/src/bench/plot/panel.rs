//! What all panels are made of.

use anyhow::Result;
use plotters::coord::Shift;
use plotters::prelude::*;

/// Where everything is drawn.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(super) const WIDTH: u32 = 900;
pub(super) const MARGIN: u32 = 12;

/// Draws a panel.
pub(super) type Draw<'a> = dyn Fn(&Area<'_>) -> Result<()> + 'a;

/// One panel.
pub(super) struct Panel<'a> {
    pub(super) height: u32,
    pub(super) draw: Box<Draw<'a>>,
}
