//! Ranges of values in a chart.

use undertone_lab::record::{Axis, Chart, Series, Shape};

/// Largest drawable value; larger ones cannot be subtracted from one another without overflow.
const LARGEST: f64 = 1e300;

/// Whether a value can be drawn on an axis.
pub(super) fn is_drawable(value: f64, log: bool) -> bool {
    value.abs() <= LARGEST && (!log || value > 1.0 / LARGEST)
}

/// Horizontal values of a series.
pub(super) fn x(shape: &Shape) -> Vec<f64> {
    match shape {
        Shape::Line(points) | Shape::Steps(points) | Shape::Points(points) => {
            points.iter().map(|point| point[0]).collect()
        }
        Shape::Band(points) => points.iter().map(|point| point[0]).collect(),
        Shape::Bars(bars) => bars.iter().flat_map(|bar| [bar[0], bar[1]]).collect(),
    }
}

/// Vertical values of a series, including the bounds of a band.
pub(super) fn y(shape: &Shape) -> Vec<f64> {
    match shape {
        Shape::Line(points) | Shape::Steps(points) | Shape::Points(points) => {
            points.iter().map(|point| point[1]).collect()
        }
        Shape::Band(points) => points.iter().flat_map(|p| [p[1], p[2], p[3]]).collect(),
        Shape::Bars(bars) => bars.iter().map(|bar| bar[2]).collect(),
    }
}

/// The smallest and largest value of a series; `None` if it has no values.
pub(super) fn of(series: &Series, values: fn(&Shape) -> Vec<f64>) -> Option<(f64, f64)> {
    span(
        values(&series.shape)
            .into_iter()
            .filter(|value| is_drawable(*value, false)),
    )
}

/// Horizontal range of a chart: its values and marks.
pub(super) fn across(chart: &Chart) -> Option<(f64, f64)> {
    let categories = chart.x.categories.len();
    if categories > 0 {
        return Some((-0.5, categories as f64 - 0.5));
    }
    let values = chart.series.iter().flat_map(|series| x(&series.shape));
    let marks = chart.marks.iter().map(|mark| mark.x);
    drawable(values.chain(marks), &chart.x)
}

/// Vertical range of a chart: its values, and 0 where it is near or bars stand on it.
pub(super) fn up(chart: &Chart) -> Option<(f64, f64)> {
    let categories = chart.y.categories.len();
    if categories > 0 {
        return Some((-0.5, categories as f64 - 0.5));
    }
    let values = chart.series.iter().flat_map(|series| y(&series.shape));
    let (low, high) = drawable(values, &chart.y)?;
    let stands = chart
        .series
        .iter()
        .any(|s| matches!(s.shape, Shape::Bars(_)));
    if chart.y.log || low <= 0.0 {
        return Some(if stands && !chart.y.log {
            (low, high.max(0.0))
        } else {
            (low, high)
        });
    }
    let near = low < high / 2.0;
    Some(if stands || near {
        (0.0, high)
    } else {
        (low, high)
    })
}

fn drawable(values: impl Iterator<Item = f64>, axis: &Axis) -> Option<(f64, f64)> {
    span(values.filter(|value| is_drawable(*value, axis.log)))
}

fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |span, value| {
        let (low, high) = span.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}
