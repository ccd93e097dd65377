//! Predictions over numbers of ranks, as an SVG: the time of each step, or the bytes where there are no
//! times.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use wgpu_gather_cli::drawing::{COLOURS, FONT, unpainted};

use super::Prediction;
use super::cost::Cost;

const SIZE: (u32, u32) = (900, 460);

/// A name, and a value for each number of ranks.
type Curve = (&'static str, Vec<(f64, f64)>);

/// The SVG of these points.
pub(super) fn draw(title: &str, points: &[Prediction], cost: Option<&Cost>) -> Result<String> {
    let curves = match cost {
        Some(cost) => times(points, cost),
        None => bytes(points),
    };
    let y = match cost {
        Some(_) => "seconds (fitted to a measured run)",
        None => "bytes",
    };
    let values = || curves.iter().flat_map(|(_, curve)| curve.iter().copied());
    let positive = || {
        values()
            .map(|(_, value)| value)
            .filter(|&value| value > 0.0)
    };
    let least = positive().fold(f64::INFINITY, f64::min);
    let most = positive().fold(0.0, f64::max);
    if !(least.is_finite() && most > 0.0) {
        return Err(anyhow!("nothing to draw: no rank sends anything"));
    }
    let ranks = values().map(|(ranks, _)| ranks).fold(2.0, f64::max);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE).map_err(unpainted)?;
        let mut chart = ChartBuilder::on(&root)
            .caption(title, (FONT, 14))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d((2.0..ranks).log_scale(), (least..most * 1.5).log_scale())
            .map_err(unpainted)?;
        chart
            .configure_mesh()
            .x_desc("ranks")
            .y_desc(y)
            .x_label_formatter(&|ranks| format!("{ranks:.0}"))
            .y_label_formatter(&|value| format!("{value:.0e}"))
            .draw()
            .map_err(unpainted)?;
        for ((name, curve), colour) in curves.iter().zip(COLOURS) {
            let shown = curve.iter().copied().filter(|&(_, value)| value > 0.0);
            chart
                .draw_series(LineSeries::new(shown, colour.stroke_width(2)))
                .map_err(unpainted)?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
        }
        chart
            .configure_series_labels()
            .background_style(WHITE)
            .border_style(BLACK)
            .label_font((FONT, 13))
            .draw()
            .map_err(unpainted)?;
        root.present().map_err(unpainted)?;
    }
    Ok(svg)
}

fn times(points: &[Prediction], cost: &Cost) -> Vec<Curve> {
    let Some(first) = points.first() else {
        return Vec::new();
    };
    let names = cost.steps(first).map(|(name, _)| name);
    let curve = |n: usize| {
        let value = |p: &Prediction| (p.ranks as f64, cost.steps(p)[n].1);
        points.iter().map(value).collect()
    };
    names
        .iter()
        .enumerate()
        .map(|(n, &name)| (name, curve(n)))
        .collect()
}

fn bytes(points: &[Prediction]) -> Vec<Curve> {
    let curve = |bytes: fn(&Prediction) -> u64| {
        let value = |p: &Prediction| (p.ranks as f64, bytes(p) as f64);
        points.iter().map(value).collect()
    };
    vec![
        ("ids, all ranks", curve(|p| p.wire.all.id_bytes)),
        ("rows, all ranks", curve(|p| p.wire.all.row_bytes)),
        ("sent by the busiest rank", curve(|p| p.wire.busiest_bytes)),
    ]
}
