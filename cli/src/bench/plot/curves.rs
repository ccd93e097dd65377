//! The sweeps: speed against the size of a row, time and cost against the size of the output.

use anyhow::Result;
use plotters::prelude::*;

use crate::bench::plot::panel::{Area, MARGIN, Panel};
use crate::bench::report::places;
use crate::bench::result::{Figures, Line, Place};
use crate::drawing::{COLOURS, FONT, unpainted};

/// Height of a panel.
const CURVES: u32 = 420;
/// Height of a line of the legend.
const LINE: u32 = 18;

/// A curve.
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
    /// The colour, and the thickness of the line.
    style: (RGBColor, u32),
}

/// One of the times of a result, in milliseconds.
type Time = fn(&Figures) -> Option<f64>;

/// The curves of one panel, and what its axes are.
struct Chart {
    title: &'static str,
    x: &'static str,
    y: &'static str,
    curves: Vec<Curve>,
}

/// The panels that have something to show.
pub(super) fn panels(lines: &[Line]) -> Vec<Panel<'_>> {
    let charts = [row_bytes(lines), one_call(lines), per_element(lines)];
    let drawable = charts.into_iter().filter(|chart| {
        let longest = chart.curves.iter().map(|curve| curve.points.len()).max();
        longest.unwrap_or(0) > 1
    });
    let panel = |chart: Chart| Panel {
        height: CURVES + legend_height(chart.curves.len()),
        draw: Box::new(move |area| draw(area, &chart)),
    };
    drawable.map(panel).collect()
}

/// The points of one group on one backend.
fn points(
    lines: &[Line],
    group: &str,
    place: &Place,
    point: impl Fn(&Line, &Figures) -> Option<(f64, f64)>,
) -> Vec<(f64, f64)> {
    let here = of_group(lines, group).filter(|(line, _)| line.place == *place);
    here.filter_map(|(line, figures)| point(line, figures))
        .filter(|&(x, y)| x > 0.0 && y > 0.0)
        .collect()
}

fn row_bytes(lines: &[Line]) -> Chart {
    let mut curves = Vec::new();
    for (n, place) in places(lines).into_iter().enumerate() {
        let speed = |of: fn(&Figures) -> f64| {
            points(lines, "row-bytes", place, move |line, figures| {
                Some((*line.params_shape.last()? as f64, of(figures)))
            })
        };
        let colour = COLOURS[n % COLOURS.len()];
        curves.push(Curve {
            name: format!("gather, {}", place.label()),
            points: speed(|figures| figures.gb_per_s),
            style: (colour, 2),
        });
        curves.push(Curve {
            name: "copy of as many bytes, same place".to_owned(),
            points: speed(|figures| figures.copy_gb_per_s),
            style: (colour, 1),
        });
    }
    Chart {
        title: "Rows of params, selected at random",
        x: "bytes of a row",
        y: "GB/s moved (sectors of params, indices, output)",
        curves,
    }
}

fn one_call(lines: &[Line]) -> Chart {
    let mut curves = Vec::new();
    let mut colours = COLOURS.iter().cycle();
    for place in places(lines) {
        let time = |of: Time| {
            points(lines, "elements", place, move |_, figures| {
                Some((figures.output_elements as f64, of(figures)?))
            })
        };
        let kinds: [(&str, Time); 2] = match place.threads {
            Some(_) => [("", |figures| Some(figures.median_ms)), ("", |_| None)],
            None => [
                (", data on the device", |figures| figures.gpu.single_ms),
                (", with transfers", |figures| figures.gpu.transfers_ms),
            ],
        };
        for (what, of) in kinds {
            let points = time(of);
            if !points.is_empty() {
                let name = format!("{}{what}", place.label());
                let style = (*colours.next().unwrap_or(&COLOURS[0]), 2);
                curves.push(Curve {
                    name,
                    points,
                    style,
                });
            }
        }
    }
    Chart {
        title: "One call, until its output is there",
        x: "elements of the output",
        y: "ms",
        curves,
    }
}

fn per_element(lines: &[Line]) -> Chart {
    let curve = |(n, place): (usize, &Place)| {
        let points = points(lines, "elements", place, |_, figures| {
            let elements = figures.output_elements as f64;
            Some((elements, figures.median_ms * 1e6 / elements))
        });
        Curve {
            name: place.label(),
            points,
            style: (COLOURS[n % COLOURS.len()], 2),
        }
    };
    let places = places(lines).into_iter().enumerate();
    Chart {
        title: "Cost of an element, one gather after the other",
        x: "elements of the output",
        y: "ns per element",
        curves: places.map(curve).collect(),
    }
}

/// The range of a logarithmic axis.
fn range(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (least, most) = values.fold((f64::MAX, f64::MIN_POSITIVE), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    least / 1.3..most * 1.3
}

fn draw(area: &Area<'_>, chart: &Chart) -> Result<()> {
    let curves = chart.curves.iter().filter(|curve| !curve.points.is_empty());
    let curves: Vec<&Curve> = curves.collect();
    let (above, below) = area.split_vertically(legend_height(curves.len()));
    legend(&above, chart.title, &curves)?;
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let (x, y) = (range(all().map(|p| p.0)), range(all().map(|p| p.1)));
    let mut plane = ChartBuilder::on(&below)
        .margin(MARGIN)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(x.log_scale(), y.log_scale())
        .map_err(unpainted)?;
    plane
        .configure_mesh()
        .x_desc(chart.x)
        .y_desc(chart.y)
        .x_label_formatter(&|x| short(*x))
        .y_label_formatter(&|y| short(*y))
        .light_line_style(TRANSPARENT)
        .draw()
        .map_err(unpainted)?;
    for curve in curves {
        let (colour, width) = curve.style;
        let style = colour.stroke_width(width);
        let line = LineSeries::new(curve.points.iter().copied(), style);
        let dot = |&point| Circle::new(point, width + 1, colour.filled());
        plane.draw_series(line).map_err(unpainted)?;
        plane
            .draw_series(curve.points.iter().map(dot))
            .map_err(unpainted)?;
    }
    Ok(())
}

/// Of the title and a line for each curve.
fn legend_height(curves: usize) -> u32 {
    MARGIN + 24 + LINE * curves as u32
}

/// Above the curves, which it then cannot hide.
fn legend(area: &Area<'_>, title: &str, curves: &[&Curve]) -> Result<()> {
    let text = |size: u32| (FONT, size).into_font().color(&BLACK);
    let (left, top) = (70 + MARGIN as i32, MARGIN as i32);
    area.draw_text(title, &text(15), (left, top))
        .map_err(unpainted)?;
    for (n, curve) in curves.iter().enumerate() {
        let (colour, width) = curve.style;
        let y = top + 24 + (LINE * n as u32) as i32;
        let stroke = [(left, y + 6), (left + 24, y + 6)];
        let stroke = PathElement::new(stroke, colour.stroke_width(width));
        area.draw(&stroke).map_err(unpainted)?;
        area.draw_text(&curve.name, &text(13), (left + 32, y))
            .map_err(unpainted)?;
    }
    Ok(())
}

/// `0.001`, `20`, `4 M`.
fn short(value: f64) -> String {
    let (value, unit) = match value {
        value if value >= 1e9 => (value / 1e9, " G"),
        value if value >= 1e6 => (value / 1e6, " M"),
        value if value >= 1e4 => (value / 1e3, " k"),
        value => (value, ""),
    };
    let digits = (1.0 - value.abs().max(1e-9).log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.digits$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text}{unit}")
}

/// The cases of `group` with figures.
fn of_group<'a>(
    lines: &'a [Line],
    group: &'a str,
) -> impl Iterator<Item = (&'a Line, &'a Figures)> {
    let in_group = lines.iter().filter(move |line| line.group == group);
    in_group.filter_map(|line| line.figures.as_ref().map(|figures| (line, figures)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_short() {
        let numbers = [0.001, 0.25, 20.0, 1024.0, 65_536.0, 1e6, 2.68e8, 1e9];
        let labels = ["0.001", "0.25", "20", "1024", "66 k", "1 M", "268 M", "1 G"];
        assert_eq!(numbers.map(short), labels);
    }
}
