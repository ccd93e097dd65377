//! What all drawings share: the font, colours, errors.

use anyhow::anyhow;
use plotters::prelude::*;

/// The font of all texts.
pub const FONT: &str = "sans-serif";

/// Colours that those who confuse red and green can tell apart (Okabe and Ito).
pub const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// An error of the backend that draws.
pub fn unpainted<E: std::error::Error + Send + Sync>(
    error: DrawingAreaErrorKind<E>,
) -> anyhow::Error {
    anyhow!("cannot draw: {error}")
}
