//! Legend of a chart: a list, so that it takes as many lines as it needs.

use std::fmt::{self, Display};

use super::super::escape::Escaped;
use super::look::{SeriesLook, whose};
use undertone_lab::record::{Series, Shape};

/// Names of all series, each beside a sample of how it is drawn.
pub(super) struct Legend<'a> {
    pub(super) series: &'a [Series],
    /// Looks, one for each series.
    pub(super) looks: &'a [SeriesLook],
}

impl Display for Legend<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.series.is_empty() {
            return Ok(());
        }
        f.write_str("<ul class=\"legend\">\n")?;
        for (series, look) in self.series.iter().zip(self.looks) {
            f.write_str("<li><svg viewBox=\"0 0 36 14\" aria-hidden=\"true\">")?;
            sample(f, &series.shape, *look)?;
            write!(f, "</svg>{}", Escaped(&series.name))?;
            // Series are often named after their source; the role is then not repeated.
            let role = whose(series.role);
            if !series.name.to_lowercase().contains(role) {
                write!(f, " <small>{role}</small>")?;
            }
            f.write_str("</li>\n")?;
        }
        f.write_str("</ul>\n")
    }
}

fn sample(f: &mut fmt::Formatter<'_>, shape: &Shape, look: SeriesLook) -> fmt::Result {
    let classes = look.classes();
    let mark = look.mark(18.0, 7.0);
    match shape {
        Shape::Bars(_) => write!(
            f,
            "<path class=\"{classes} fill\" d=\"M3 2H33V12H3Z\"/>\
             <path class=\"{classes} line\" d=\"M3 2H33V12H3Z\"/>"
        ),
        Shape::Points(_) => write!(f, "<path class=\"{classes} mark\" d=\"{mark}\"/>"),
        Shape::Band(_) => write!(
            f,
            "<path class=\"{classes} area\" d=\"M1 1H35V13H1Z\"/>\
             <path class=\"{classes} line\" d=\"M1 7H35\"/>\
             <path class=\"{classes} mark\" d=\"{mark}\"/>"
        ),
        Shape::Line(_) | Shape::Steps(_) => write!(
            f,
            "<path class=\"{classes} line\" d=\"M1 7H35\"/>\
             <path class=\"{classes} mark\" d=\"{mark}\"/>"
        ),
    }
}
