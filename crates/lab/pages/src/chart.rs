//! A chart as SVG inside a `<figure>`, with its legend as a list above it, where it hides no data.
//!
//! Colours, dashes and text sizes come from the page's style, by class. The space for every text is
//! computed for the largest size in the style, so that nothing overlaps.

mod frame;
mod legend;
mod look;
mod marks;
mod number;
mod range;
mod scale;
mod series;
mod tree;
mod words;

#[cfg(test)]
#[path = "tests/chart.rs"]
mod tests;

use std::fmt::{self, Display};

use super::escape::Escaped;
use frame::PlotFrame;
use legend::Legend;
use look::looks;
pub(super) use number::grouped;
use series::Drawn;
pub(super) use tree::{DeliveryTree, TreeDrawing, TreeNode};
use undertone_lab::record::{Axis, Chart};

/// Width of the drawing. All lengths are units of the view box, which the page scales to its width.
const WIDTH: f64 = 600.0;
/// Height of the area that holds data.
const PLOT_HEIGHT: f64 = 250.0;
/// Largest average width of a character, on narrow screens.
const LETTER: f64 = 10.0;
/// Height of a line of text.
const LINE: f64 = 22.0;

/// Renders a chart as SVG.
pub(super) struct Drawing<'a> {
    pub(super) chart: &'a Chart,
    /// Id of the chart, unique in the page.
    pub(super) id: &'a str,
}

impl Display for Drawing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { chart, id } = self;
        let looks = looks(&chart.series);
        let frame = PlotFrame::new(chart);
        let title = Escaped(&chart.title);
        write!(
            f,
            "<figure class=\"chart\">\n<figcaption>{title}</figcaption>\n"
        )?;
        write!(
            f,
            "{}",
            Legend {
                series: &chart.series,
                looks: &looks
            }
        )?;
        write!(
            f,
            "<svg viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\n\
             <title id=\"{id}-t\">{title}</title>\n<desc id=\"{id}-d\">",
            frame.height()
        )?;
        self.describe(f)?;
        f.write_str("</desc>\n")?;
        write!(f, "{frame}")?;
        for (series, look) in chart.series.iter().zip(&looks) {
            write!(
                f,
                "{}",
                Drawn {
                    series,
                    look: *look,
                    frame: &frame
                }
            )?;
        }
        f.write_str("</svg>\n")?;
        if !frame.listed.is_empty() {
            f.write_str("<ol class=\"words-below\">\n")?;
            for word in &frame.listed {
                writeln!(f, "<li>{}</li>", Escaped(word))?;
            }
            f.write_str("</ol>\n")?;
        }
        f.write_str("</figure>\n")
    }
}

/// A value on an axis, as its labels show it: on an axis of words, the word.
fn value(axis: &Axis, value: f64) -> String {
    let word = axis.categories.get(value.max(0.0).round() as usize);
    match word {
        Some(word) => Escaped(word).to_string(),
        None => number::plain(value),
    }
}

impl Drawing<'_> {
    /// Writes a text description of the chart for screen readers: axes, and the range of each series.
    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Chart { x, y, series, .. } = self.chart;
        write!(f, "{} over {}.", Escaped(&y.label), Escaped(&x.label))?;
        for series in series {
            write!(
                f,
                " {}, {}: ",
                Escaped(&series.name),
                look::whose(series.role)
            )?;
            let [across, up] = [range::of(series, range::x), range::of(series, range::y)];
            match (across, up) {
                (Some((left, right)), Some((low, high))) => write!(
                    f,
                    "{} to {} at {} to {}.",
                    value(y, low),
                    value(y, high),
                    value(x, left),
                    value(x, right)
                )?,
                _ => f.write_str("no values.")?,
            }
        }
        Ok(())
    }
}
