//! How close to a copy of the same bytes: a bar for each case.

use anyhow::Result;
use plotters::prelude::*;

use crate::bench::plot::panel::{Area, MARGIN, Panel};
use crate::bench::report::{name, places};
use crate::bench::result::{Figures, Line, Place};
use crate::drawing::{COLOURS, FONT, unpainted};

/// Of one bar.
const HEIGHT: u32 = 22;
/// What has plots of its own, and what is all launch and no bytes.
const OTHERS: [&str; 3] = ["row-bytes", "elements", "latency"];

/// A panel for each backend.
pub(super) fn panels<'a>(lines: &'a [Line]) -> Vec<Panel<'a>> {
    let panel = |(n, place): (usize, &'a Place)| {
        let here = lines.iter().filter(move |line| line.place == *place);
        let bars: Vec<(&Line, &Figures)> = here
            .filter(|line| !OTHERS.iter().any(|o| line.group == *o || line.case == *o))
            .filter_map(|line| line.figures.as_ref().map(|figures| (line, figures)))
            .collect();
        (!bars.is_empty()).then(|| Panel {
            height: 90 + HEIGHT * bars.len() as u32,
            draw: Box::new(move |area| {
                let title = format!(
                    "Speed in parts of a copy of as many bytes, {}",
                    place.label()
                );
                draw(area, &title, &bars, COLOURS[n % COLOURS.len()])
            }),
        })
    };
    places(lines)
        .into_iter()
        .enumerate()
        .filter_map(panel)
        .collect()
}

fn draw(area: &Area<'_>, title: &str, bars: &[(&Line, &Figures)], colour: RGBColor) -> Result<()> {
    let most = bars.iter().map(|(_, f)| f.fraction).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 15))
        .margin(MARGIN)
        .x_label_area_size(30)
        .y_label_area_size(170)
        .build_cartesian_2d(0.0..most * 1.35, 0.0..bars.len() as f64)
        .map_err(unpainted)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .y_labels(0)
        .x_label_formatter(&|x| format!("{x:.1}"))
        .draw()
        .map_err(unpainted)?;
    let text = (FONT, 13).into_font().color(&BLACK);
    for (n, (line, figures)) in bars.iter().enumerate() {
        let top = (bars.len() - n) as f64;
        let bar = [(0.0, top - 0.15), (figures.fraction, top - 0.85)];
        let said = format!("{:.2} ({:.1} GB/s)", figures.fraction, figures.gb_per_s);
        let said = Text::new(
            said,
            (figures.fraction + most * 0.01, top - 0.2),
            text.clone(),
        );
        let plane = chart.plotting_area();
        plane
            .draw(&Rectangle::new(bar, colour.filled()))
            .map_err(unpainted)?;
        plane.draw(&said).map_err(unpainted)?;
        let (x, y) = plane.map_coordinate(&(0.0, top - 0.2));
        let (left, above) = area.get_base_pixel();
        let place = (x - left - 165, y - above);
        area.draw_text(&name(line), &text, place)
            .map_err(unpainted)?;
    }
    let ceiling = [(1.0, 0.0), (1.0, bars.len() as f64)];
    chart
        .draw_series(LineSeries::new(ceiling, BLACK.stroke_width(1)))
        .map_err(unpainted)?;
    Ok(())
}
