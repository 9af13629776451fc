//! Frame of a chart, everything but the data: axes, grid, labels, marks.

use std::fmt::{self, Display};

use super::super::escape::Escaped;
use super::marks::{self, Placed};
use super::scale::{AxisScale, Tick};
use super::words::{chars, shorten, wrap};
use super::{LETTER, LINE, PLOT_HEIGHT, WIDTH, range};
use undertone_lab::record::{Axis, Chart};

/// Margin right of the plot: half of the last number below it.
const RIGHT: f64 = 38.0;
/// Longest label of a tick on the vertical axis, characters.
const MAX_LABEL_CHARS: usize = 18;
/// Longest line of an axis' label, characters.
const MAX_AXIS_CHARS: usize = 54;
/// Distance from the axis to the first line of text below it, clear of the text beside it.
const BELOW: f64 = 27.0;
/// Maximum number of lines of a word below the horizontal axis.
const MAX_LINES: usize = 3;
/// Sine and cosine of the slant of words, 35 degrees.
const SIN_35: f64 = 0.574;
const COS_35: f64 = 0.819;
/// Preferred number of ticks on each axis.
const TICKS_ACROSS: usize = 8;
const TICKS_UP: usize = 6;

/// Area of the data, and the axes and labels around it.
#[derive(Debug)]
pub(super) struct PlotFrame {
    /// Scale of the horizontal axis.
    pub(super) x: AxisScale,
    /// Scale of the vertical axis.
    pub(super) y: AxisScale,
    /// Whether the axis `x` shows words, so that there are no values in between.
    pub(super) has_words: bool,
    /// Words that are too long for the axis, which shows their numbers instead; they are listed
    /// below the drawing.
    pub(super) listed: Vec<String>,
    x_ticks: Vec<(f64, Label)>,
    y_ticks: Vec<(f64, String)>,
    x_label: Vec<String>,
    y_label: Vec<String>,
    marks: Vec<Placed>,
    left: f64,
    top: f64,
    /// Height of the labels of horizontal ticks.
    labels_height: f64,
    is_empty: bool,
}

/// Label below a tick of the horizontal axis.
#[derive(Debug)]
enum Label {
    Upright(Vec<String>),
    /// A word that is too long to stand beside others upright.
    Slanted(String),
}

impl PlotFrame {
    /// Computes the frame for a chart's values.
    pub(super) fn new(chart: &Chart) -> Self {
        let (across, up) = (range::across(chart), range::up(chart));
        let default = |log| if log { (1.0, 10.0) } else { (0.0, 1.0) };
        let y = AxisScale::new(up.unwrap_or(default(chart.y.log)), chart.y.log);
        let y = if chart.y.categories.is_empty() {
            y.rounded(TICKS_UP)
        } else {
            y
        };
        let y_ticks = match words_at(&chart.y) {
            ticks if ticks.is_empty() => y.ticks(TICKS_UP, |_| true),
            ticks => ticks,
        };
        let widest = y_ticks
            .iter()
            .map(|tick| chars(&tick.label))
            .max()
            .unwrap_or(0);
        let left = 14.0 + widest.min(MAX_LABEL_CHARS) as f64 * LETTER;
        let words = chart.x.categories.as_slice();
        let listed = match words.iter().any(|word| chars(word) > MAX_LABEL_CHARS) {
            true if !stand_upright(words, slot(words, left)) => words.to_vec(),
            _ => Vec::new(),
        };
        let numbers: Vec<String> = (1..=listed.len()).map(|at| at.to_string()).collect();
        let words = match listed.is_empty() {
            true => words,
            false => numbers.as_slice(),
        };
        let left = left.max(room_for_slanted(words, left));
        let x_log = chart.x.log && chart.x.categories.is_empty();
        let x = AxisScale::new(across.unwrap_or(default(x_log)), x_log);
        let x = if x_log { x.rounded(TICKS_ACROSS) } else { x };
        let x = x.placed(left, WIDTH - RIGHT);
        let x_ticks = match words {
            [] => upright(&x),
            words => categories(&x, words),
        };
        let marks: Vec<(f64, &str)> = chart
            .marks
            .iter()
            .filter_map(|mark| Some((x.place(mark.x)?, mark.label.as_str())))
            .collect();
        let marks = marks::place(&marks, left, WIDTH);
        let rows = marks.iter().map(|mark| mark.row + 1).max().unwrap_or(0);
        let y_label = wrap(&chart.y.label, MAX_AXIS_CHARS);
        let top = (y_label.len() + rows) as f64 * LINE + 14.0;
        let y = y.placed(top + PLOT_HEIGHT, top);
        let y_ticks = y_ticks
            .into_iter()
            .filter_map(|tick| Some((y.place(tick.value)?, shorten(&tick.label, MAX_LABEL_CHARS))))
            .collect();
        Self {
            has_words: !chart.x.categories.is_empty(),
            listed,
            labels_height: x_ticks
                .iter()
                .map(|(_, label)| label.height())
                .fold(BELOW, f64::max),
            x_label: wrap(&chart.x.label, MAX_AXIS_CHARS),
            is_empty: up.is_none() || across.is_none(),
            x,
            y,
            x_ticks,
            y_ticks,
            y_label,
            marks,
            left,
            top,
        }
    }

    /// Height of the whole drawing.
    pub(super) fn height(&self) -> f64 {
        self.bottom() + self.labels_height + self.x_label.len() as f64 * LINE + 10.0
    }

    /// Width of the slot of one word on the horizontal axis.
    pub(super) fn slot(&self) -> f64 {
        (WIDTH - RIGHT - self.left) / self.x_ticks.len().max(1) as f64
    }

    /// Right end of the plot.
    pub(super) fn right(&self) -> f64 {
        WIDTH - RIGHT
    }

    fn bottom(&self) -> f64 {
        self.top + PLOT_HEIGHT
    }
}

fn words_at(axis: &Axis) -> Vec<Tick> {
    let words = axis.categories.iter().enumerate();
    words
        .map(|(number, word)| Tick {
            value: number as f64,
            label: word.clone(),
        })
        .collect()
}

/// Ticks with as many numbers as fit side by side.
fn upright(x: &AxisScale) -> Vec<(f64, Label)> {
    let fits = |ticks: &[Tick]| {
        ticks.windows(2).all(|pair| {
            let letters = chars(&pair[0].label) + chars(&pair[1].label);
            let distance = x.place(pair[1].value).zip(x.place(pair[0].value));
            distance
                .is_some_and(|(one, other)| one - other >= (letters as f64 / 2.0 + 1.0) * LETTER)
        })
    };
    let ticks = x.ticks(TICKS_ACROSS, fits).into_iter();
    ticks
        .filter_map(|tick| Some((x.place(tick.value)?, Label::Upright(vec![tick.label]))))
        .collect()
}

/// Ticks with words in as many lines as they need; all words are slanted if one does not fit.
fn categories(x: &AxisScale, words: &[String]) -> Vec<(f64, Label)> {
    let place = |number: usize| x.place(number as f64);
    let slot = place(1)
        .zip(place(0))
        .map_or(WIDTH, |(one, other)| one - other);
    let upright = stand_upright(words, slot);
    let label = |word: &String| match upright {
        true => Label::Upright(wrap(word, letters(slot))),
        false => Label::Slanted(word.clone()),
    };
    let labels = words.iter().map(label).enumerate();
    labels
        .filter_map(|(number, label)| Some((place(number)?, label)))
        .collect()
}

fn stand_upright(words: &[String], slot: f64) -> bool {
    words.iter().all(|word| {
        let lines = wrap(word, letters(slot));
        lines.len() <= MAX_LINES && lines.iter().all(|line| chars(line) <= letters(slot))
    })
}

/// Number of characters that fit into a width.
fn letters(width: f64) -> usize {
    (width / LETTER) as usize
}

/// Width of the slot of one word.
fn slot(words: &[String], left: f64) -> f64 {
    (WIDTH - RIGHT - left) / words.len().max(1) as f64
}

/// Left margin of the plot that keeps the first word, if words are slanted, from being cut off.
fn room_for_slanted(words: &[String], left: f64) -> f64 {
    let slot = slot(words, left);
    let first = match words.first() {
        Some(word) if !stand_upright(words, slot) => chars(word),
        _ => return 0.0,
    };
    (first + 1) as f64 * LETTER * COS_35 - slot / 2.0
}

impl Label {
    fn height(&self) -> f64 {
        match self {
            Self::Upright(lines) => lines.len() as f64 * LINE + BELOW - LINE,
            Self::Slanted(text) => chars(text) as f64 * LETTER * SIN_35 + LINE,
        }
    }
}

impl Display for PlotFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (left, right, bottom) = (self.left, self.right(), self.bottom());
        for (line, text) in self.y_label.iter().enumerate() {
            let y = (line + 1) as f64 * LINE - 4.0;
            writeln!(
                f,
                "<text class=\"axis\" x=\"2\" y=\"{y:.1}\">{}</text>",
                Escaped(text)
            )?;
        }
        for (y, label) in &self.y_ticks {
            writeln!(
                f,
                "<path class=\"grid\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>\
                 <text class=\"tick end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                left - 8.0,
                y + 5.0,
                Escaped(label)
            )?;
        }
        writeln!(
            f,
            "<path class=\"base\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>"
        )?;
        for (x, label) in &self.x_ticks {
            if !self.has_words {
                writeln!(f, "<path class=\"base\" d=\"M{x:.1} {bottom:.1}v5\"/>")?;
            }
            below(f, *x, bottom, label)?;
        }
        for (line, text) in self.x_label.iter().enumerate() {
            writeln!(
                f,
                "<text class=\"axis middle\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                (left + right) / 2.0,
                bottom + self.labels_height + (line + 1) as f64 * LINE,
                Escaped(text)
            )?;
        }
        for mark in &self.marks {
            let y = self.top - 8.0 - mark.row as f64 * LINE;
            writeln!(
                f,
                "<path class=\"rule\" d=\"M{0:.1} {1:.1}V{bottom:.1}\"/>\
                 <text class=\"word middle\" x=\"{2:.1}\" y=\"{y:.1}\">{3}</text>",
                mark.x,
                self.top - 4.0,
                mark.middle,
                Escaped(&mark.label)
            )?;
        }
        if self.is_empty {
            let (x, y) = ((left + right) / 2.0, self.top + PLOT_HEIGHT / 2.0);
            writeln!(
                f,
                "<text class=\"axis middle\" x=\"{x:.1}\" y=\"{y:.1}\">no values</text>"
            )?;
        }
        Ok(())
    }
}

fn below(f: &mut fmt::Formatter<'_>, x: f64, bottom: f64, label: &Label) -> fmt::Result {
    match label {
        Label::Upright(lines) => lines.iter().enumerate().try_for_each(|(line, text)| {
            let y = bottom + BELOW + line as f64 * LINE;
            let text = Escaped(text);
            writeln!(
                f,
                "<text class=\"tick middle\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>"
            )
        }),
        Label::Slanted(text) => writeln!(
            f,
            "<text class=\"tick end\" transform=\"translate({:.1} {:.1}) rotate(-35)\">{}</text>",
            x + 5.0,
            bottom + 16.0,
            Escaped(text)
        ),
    }
}
