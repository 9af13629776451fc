//! Charts as data; the drawing code decides on colours and sizes.

use serde::{Deserialize, Serialize};

/// A chart of one or more series over the same axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Title of the chart.
    pub title: String,
    /// Horizontal axis of the chart.
    pub x: Axis,
    /// Vertical axis of the chart.
    pub y: Axis,
    /// Series in drawing order, later ones on top.
    pub series: Vec<Series>,
    /// Vertical lines with a label, such as a published minimum.
    pub marks: Vec<ChartMark>,
}

/// An axis of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Quantity on the axis, with its unit.
    pub label: String,
    /// Whether the axis is logarithmic; then every value is above 0.
    pub log: bool,
    /// Words shown instead of numbers, at 0, 1, 2 and so on; empty for an axis of numbers.
    pub categories: Vec<String>,
}

/// Origin of the figures of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Measured or simulated here.
    Ours,
    /// Taken from a publication.
    Published,
    /// Computed by a formula.
    Model,
}

/// One series of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Origin of the figures.
    pub role: Role,
    /// Values of the series, and how they are drawn.
    pub shape: Shape,
}

/// Values and how they are drawn. Coordinates are `[x, y]`, in ascending order of `x`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A line through points.
    Line(Vec<[f64; 2]>),
    /// A line with the smallest and largest value over seeds: `[x, middle, low, high]`.
    Band(Vec<[f64; 4]>),
    /// A step function, such as an ECDF: the value holds from its `x` on.
    Steps(Vec<[f64; 2]>),
    /// A histogram: `[from, to, height]`.
    Bars(Vec<[f64; 3]>),
    /// Points without a line.
    Points(Vec<[f64; 2]>),
}

/// A vertical line with a label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartMark {
    /// Position on the horizontal axis.
    pub x: f64,
    /// Label beside the line.
    pub label: String,
}

impl Axis {
    /// An axis of numbers.
    pub fn linear(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            log: false,
            categories: Vec::new(),
        }
    }

    /// A logarithmic axis of numbers.
    pub fn log(label: &str) -> Self {
        Self {
            log: true,
            ..Self::linear(label)
        }
    }

    /// An axis of words.
    pub fn words(label: &str, categories: &[&str]) -> Self {
        Self {
            categories: categories.iter().map(|&word| word.to_owned()).collect(),
            ..Self::linear(label)
        }
    }
}

impl Chart {
    /// A chart without series.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Adds a series to the chart.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, role: Role, shape: Shape) -> Self {
        let name = name.into();
        self.series.push(Series { name, role, shape });
        self
    }

    /// Adds a vertical line with a label.
    #[must_use]
    pub fn mark(mut self, x: f64, label: &str) -> Self {
        self.marks.push(ChartMark {
            x,
            label: label.to_owned(),
        });
        self
    }
}

impl Shape {
    /// Empirical distribution of values in ascending order, at `points` quantiles: the share of values
    /// not above `x`.
    pub fn ecdf(sorted: &[f64], points: usize) -> Self {
        let n = sorted.len();
        let steps = (1..=points.min(n)).map(|step| {
            let rank = step * n / points.min(n);
            [sorted[rank - 1], rank as f64 / n as f64]
        });
        Self::Steps(steps.collect())
    }

    /// Histogram of values in ascending order: the number of values in each of `bins` equal bins between
    /// the first and the last value.
    pub fn histogram(sorted: &[f64], bins: usize) -> Self {
        let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
            return Self::Bars(Vec::new());
        };
        let width = ((last - first) / bins as f64).max(f64::MIN_POSITIVE);
        let mut counts = vec![0_u32; bins];
        for value in sorted {
            let bin = ((value - first) / width) as usize;
            counts[bin.min(bins - 1)] += 1;
        }
        let bars = counts.iter().enumerate().map(|(bin, count)| {
            let from = first + bin as f64 * width;
            [from, from + width, f64::from(*count)]
        });
        Self::Bars(bars.collect())
    }
}
