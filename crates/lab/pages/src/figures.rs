//! Figures beside published ones. A figure that differs is marked red, and the reason follows in
//! its own row.

use std::fmt::{self, Display};

use super::chart::grouped;
use super::escape::Escaped;
use undertone_lab::record::{Figure, Verdict, short};

/// Table of the figures of a record.
pub(super) struct FigureTable<'a> {
    pub(super) figures: &'a [Figure],
}

const HEAD: &str = "<div class=\"scroll\">\n<table class=\"figures\">\n\
    <thead><tr><th scope=\"col\">figure</th><th scope=\"col\" class=\"n\">published</th>\
    <th scope=\"col\" class=\"n\">ours</th><th scope=\"col\">unit</th>\
    <th scope=\"col\">verdict</th><th scope=\"col\" class=\"n\">ratio</th>\
    <th scope=\"col\" class=\"n\">agrees if</th>\
    <th scope=\"col\" class=\"n\">least to most</th></tr></thead>\n<tbody>\n";

impl Display for FigureTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HEAD)?;
        self.figures.iter().try_for_each(|figure| row(f, figure))?;
        f.write_str("</tbody>\n</table>\n</div>\n")
    }
}

fn row(f: &mut fmt::Formatter<'_>, figure: &Figure) -> fmt::Result {
    let differs = figure.verdict == Verdict::Differs;
    let class = if differs { " class=\"differs\"" } else { "" };
    write!(
        f,
        "<tr{class}><th scope=\"row\">{}</th>",
        Escaped(&figure.name)
    )?;
    match (&figure.statement, figure.published) {
        (Some(statement), _) => write!(f, "<td class=\"words\">{}</td>", Escaped(statement))?,
        (None, published) => number(f, published.map(shown))?,
    }
    number(f, Some(figure.ours.map_or("none".to_owned(), shown)))?;
    write!(f, "<td>{}</td>", Escaped(&figure.unit))?;
    f.write_str(match figure.verdict {
        Verdict::Agrees => "<td class=\"agrees\">agrees</td>",
        Verdict::Differs => "<td><strong>differs</strong></td>",
        Verdict::Shown => "<td></td>",
    })?;
    number(f, figure.ratio.map(|ratio| format!("{ratio:.3}")))?;
    number(f, Some(figure.criterion.to_string()))?;
    let spread = figure
        .spread
        .map(|(low, high)| (shown(low), shown(high)))
        .filter(|(low, high)| low != high)
        .map(|(low, high)| format!("{low} to {high}"));
    number(f, spread)?;
    f.write_str("</tr>\n")?;
    if differs {
        let why = Escaped(figure.why.as_deref().unwrap_or("not explained"));
        writeln!(
            f,
            "<tr class=\"differs why\"><td colspan=\"8\"><p>Why: {why}</p></td></tr>"
        )?;
    }
    Ok(())
}

fn shown(value: f64) -> String {
    grouped(&short(value))
}

fn number(f: &mut fmt::Formatter<'_>, text: Option<String>) -> fmt::Result {
    write!(
        f,
        "<td class=\"n\">{}</td>",
        Escaped(text.unwrap_or_default())
    )
}
