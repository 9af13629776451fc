//! A picture as data; what draws it decides on colours and sizes.

use serde::{Deserialize, Serialize};

/// A chart of one or more series over the same axes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// Horizontal.
    pub x: Axis,
    /// Vertical.
    pub y: Axis,
    /// Drawn in order, later ones on top.
    pub series: Vec<Series>,
    /// Vertical lines with a word, such as a published minimum.
    pub marks: Vec<Mark>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What it measures, with its unit.
    pub label: String,
    /// Whether it is logarithmic; then every value is above 0.
    pub log: bool,
    /// Words instead of numbers, at 0, 1, 2 and so on; empty for an axis of numbers.
    pub categories: Vec<String>,
}

/// Whose figures a series shows.
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

/// One series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Whose it is.
    pub role: Role,
    /// Its values.
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
    /// Points alone.
    Points(Vec<[f64; 2]>),
}

/// A vertical line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Where.
    pub x: f64,
    /// What stands beside it.
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

    /// A logarithmic axis.
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

    /// Adds a series.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, role: Role, shape: Shape) -> Self {
        let name = name.into();
        self.series.push(Series { name, role, shape });
        self
    }

    /// Adds a vertical line.
    #[must_use]
    pub fn mark(mut self, x: f64, label: &str) -> Self {
        self.marks.push(Mark {
            x,
            label: label.to_owned(),
        });
        self
    }
}

impl Shape {
    /// The share of values that are not above `x`, at `points` quantiles, of values in ascending
    /// order.
    pub fn ecdf(sorted: &[f64], points: usize) -> Self {
        let n = sorted.len();
        let steps = (1..=points.min(n)).map(|step| {
            let rank = step * n / points.min(n);
            [sorted[rank - 1], rank as f64 / n as f64]
        });
        Self::Steps(steps.collect())
    }

    /// How many values fall into each of `bins` equal bins between the first and the last value, of
    /// values in ascending order.
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
