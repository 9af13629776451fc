//! Data of a series as SVG paths.

use std::fmt::{self, Display, Write};

use super::frame::PlotFrame;
use super::look::SeriesLook;
use undertone_lab::record::{Series, Shape};

/// Approximate number of marks on a line with more than twice as many points.
const MAX_MARKS: usize = 9;
/// Smallest width of a bar.
const THIN: f64 = 1.0;
/// Distance between the points of several series over the same word, in slots.
const DODGE: f64 = 0.12;

/// Renders a series in its frame.
pub(super) struct Drawn<'a> {
    pub(super) series: &'a Series,
    pub(super) look: SeriesLook,
    pub(super) frame: &'a PlotFrame,
}

impl Display for Drawn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.series.shape {
            Shape::Line(points) => self.line(f, &self.places(points)),
            Shape::Band(points) if self.frame.has_words => self.whiskers(f, points),
            Shape::Band(points) => self.band(f, points),
            Shape::Steps(points) => self.steps(f, &self.places(points)),
            Shape::Bars(bars) => self.bars(f, bars),
            Shape::Points(points) => {
                let places = self.places(points);
                let apart = self.apart();
                let places: Vec<_> = places.iter().map(|[x, y]| [x + apart, *y]).collect();
                self.marks(f, &places)
            }
        }
    }
}

impl Drawn<'_> {
    fn places(&self, points: &[[f64; 2]]) -> Vec<[f64; 2]> {
        points
            .iter()
            .filter_map(|point| self.place(*point))
            .collect()
    }

    fn place(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        Some([self.frame.x.place(x)?, self.frame.y.place(y)?])
    }

    /// Horizontal offset of this series from its word.
    fn apart(&self) -> f64 {
        match self.frame.has_words {
            // Steps 0, 1, -1, 2, -2 and so on; the role adds half a step, so that ours and theirs differ.
            true => {
                let step = self.look.number.div_ceil(2) as f64;
                let side = if self.look.number % 2 == 1 { 1.0 } else { -1.0 };
                let role = self.look.role as usize as f64 * 0.5;
                (side * step + role) * DODGE * self.frame.slot()
            }
            false => 0.0,
        }
    }

    fn path(&self, f: &mut fmt::Formatter<'_>, kind: &str, data: &str) -> fmt::Result {
        match data {
            "" => Ok(()),
            data => writeln!(
                f,
                "<path class=\"{} {kind}\" d=\"{data}\"/>",
                self.look.classes()
            ),
        }
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, places: &[[f64; 2]]) -> fmt::Result {
        let mut data = String::new();
        polyline(&mut data, places, 'M')?;
        self.path(f, "line", &data)?;
        self.marks(f, &self.some(places))
    }

    fn marks(&self, f: &mut fmt::Formatter<'_>, places: &[[f64; 2]]) -> fmt::Result {
        let data: String = places.iter().map(|[x, y]| self.look.mark(*x, *y)).collect();
        self.path(f, "mark", &data)
    }

    /// Points that get a mark: all if they are few, otherwise some, at different
    /// positions for each series.
    fn some(&self, places: &[[f64; 2]]) -> Vec<[f64; 2]> {
        if places.len() <= 2 * MAX_MARKS {
            return places.to_vec();
        }
        let every = places.len() / MAX_MARKS;
        let first = every / 2 + self.look.number % 3 * (every / 4);
        places.iter().skip(first).step_by(every).copied().collect()
    }

    fn band(&self, f: &mut fmt::Formatter<'_>, points: &[[f64; 4]]) -> fmt::Result {
        let at = |row: usize| move |p: &[f64; 4]| self.place([p[0], p[row]]);
        let low: Vec<_> = points.iter().filter_map(at(2)).collect();
        let high: Vec<_> = points.iter().rev().filter_map(at(3)).collect();
        let middle: Vec<_> = points.iter().filter_map(at(1)).collect();
        let mut data = String::new();
        polyline(&mut data, &low, 'M')?;
        polyline(&mut data, &high, 'L')?;
        if !low.is_empty() && !high.is_empty() {
            self.path(f, "area", &(data + "Z"))?;
        }
        self.line(f, &middle)
    }

    /// Draws a band over words as whiskers, as no values lie between two words.
    fn whiskers(&self, f: &mut fmt::Formatter<'_>, points: &[[f64; 4]]) -> fmt::Result {
        let apart = self.apart();
        let mut data = String::new();
        let mut middles = Vec::new();
        for &[x, middle, low, high] in points {
            if let (Some([x, low]), Some([_, high])) = (self.place([x, low]), self.place([x, high]))
            {
                let x = x + apart;
                write!(data, "M{x:.1} {low:.1}V{high:.1}")?;
                for end in [low, high] {
                    write!(data, "M{:.1} {end:.1}h8", x - 4.0)?;
                }
            }
            middles.extend(self.place([x, middle]).map(|[x, y]| [x + apart, y]));
        }
        self.path(f, "whisker", &data)?;
        self.marks(f, &middles)
    }

    fn steps(&self, f: &mut fmt::Formatter<'_>, places: &[[f64; 2]]) -> fmt::Result {
        let mut data = String::new();
        for (number, [x, y]) in places.iter().enumerate() {
            match number {
                0 => write!(data, "M{x:.1} {y:.1}")?,
                _ => write!(data, "H{x:.1}V{y:.1}")?,
            }
        }
        if !places.is_empty() {
            write!(data, "H{:.1}", self.frame.right())?;
        }
        self.path(f, "line", &data)?;
        self.marks(f, &self.some(places))
    }

    /// Draws bars, each filled separately, with one outline around those that touch.
    fn bars(&self, f: &mut fmt::Formatter<'_>, bars: &[[f64; 3]]) -> fmt::Result {
        let ground = self.frame.y.ground();
        let (mut fill, mut outline) = (String::new(), String::new());
        let mut reached = None;
        for &[from, to, height] in bars {
            let (Some([left, top]), Some(right)) =
                (self.place([from, height]), self.frame.x.place(to))
            else {
                continue;
            };
            let right = right.max(left + THIN);
            write!(
                fill,
                "M{left:.1} {ground:.1}V{top:.1}H{right:.1}V{ground:.1}Z"
            )?;
            match reached {
                Some(end) if left - end < 0.05 => write!(outline, "V{top:.1}H{right:.1}")?,
                Some(_) => write!(
                    outline,
                    "V{ground:.1}M{left:.1} {ground:.1}V{top:.1}H{right:.1}"
                )?,
                None => write!(outline, "M{left:.1} {ground:.1}V{top:.1}H{right:.1}")?,
            }
            reached = Some(right);
        }
        if reached.is_some() {
            write!(outline, "V{ground:.1}")?;
        }
        self.path(f, "fill", &fill)?;
        self.path(f, "line", &outline)
    }
}

/// Appends lines through points; `first` is the path command of the first point.
fn polyline(data: &mut String, places: &[[f64; 2]], first: char) -> fmt::Result {
    for (number, [x, y]) in places.iter().enumerate() {
        let letter = if number == 0 { first } else { 'L' };
        write!(data, "{letter}{x:.1} {y:.1}")?;
    }
    Ok(())
}
