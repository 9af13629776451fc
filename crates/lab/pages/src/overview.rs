//! Overview at the top of the page: one row per experiment.

use std::collections::BTreeSet;
use std::fmt::{self, Display};

use super::escape::Escaped;
use undertone_lab::record::{ExperimentRecord, Scale};

/// Overview table of all records.
pub(super) struct Overview<'a> {
    pub(super) records: &'a [ExperimentRecord],
    /// Fragment identifiers, one for each record.
    pub(super) anchors: &'a [String],
}

impl Display for Overview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<header>\n<h1>Ours beside what was published</h1>\n")?;
        self.lead(f)?;
        f.write_str(KEY)?;
        f.write_str("</header>\n")?;
        if self.records.is_empty() {
            return Ok(());
        }
        f.write_str(
            "<nav aria-label=\"Experiments\">\n<div class=\"scroll\">\n<table class=\"overview\">\n\
             <thead><tr><th scope=\"col\">experiment</th><th scope=\"col\">reproduces</th>\
             <th scope=\"col\">scale</th><th scope=\"col\" class=\"n\">agree</th>\
             <th scope=\"col\" class=\"n\">differ</th>\
             <th scope=\"col\" class=\"n\">run time</th></tr></thead>\n<tbody>\n",
        )?;
        for (record, anchor) in self.records.iter().zip(self.anchors) {
            row(f, record, anchor)?;
        }
        f.write_str("</tbody>\n</table>\n</div>\n</nav>\n")
    }
}

/// Explanation of how the three kinds of series are distinguished, once for all charts.
const KEY: &str = "<p class=\"key\">In the charts, what was measured or simulated here is solid and \
    coloured; what was published is grey and dashed, with hollow marks; what a formula gives is \
    dotted. Shaded areas and whiskers span the smallest and largest value over seeds.</p>\n";

impl Overview<'_> {
    fn lead(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let judged: usize = self.records.iter().map(ExperimentRecord::judged).sum();
        let differ: usize = self.records.iter().map(|r| r.differing().count()).sum();
        let experiments = match self.records.len() {
            0 => return f.write_str("<p class=\"lead\">No experiment has been run.</p>\n"),
            1 => "One experiment".to_owned(),
            n => format!("{n} experiments"),
        };
        write!(
            f,
            "<p class=\"lead\">{experiments}. Of {judged} figures with a criterion set before \
             running, {} agree with the publication",
            judged - differ,
        )?;
        match differ {
            0 => f.write_str(".")?,
            n => write!(f, " and <strong class=\"differs\">{n} differ</strong>.")?,
        }
        let commits: BTreeSet<&str> = self.records.iter().map(|r| r.commit.as_str()).collect();
        for (number, commit) in commits.iter().enumerate() {
            let before = if number == 0 { " Run at commit" } else { "," };
            write!(f, "{before} <code>{}</code>", Escaped(commit))?;
        }
        f.write_str(".</p>\n")
    }
}

fn row(f: &mut fmt::Formatter<'_>, record: &ExperimentRecord, anchor: &str) -> fmt::Result {
    let differ = record.differing().count();
    write!(
        f,
        "<tr><th scope=\"row\"><a href=\"#{anchor}\">{}</a></th><td>{}</td><td>{}</td>\
         <td class=\"n\">{}</td>",
        Escaped(&record.title),
        Escaped(&record.source),
        scale(record.scale),
        record.judged() - differ,
    )?;
    match differ {
        0 => f.write_str("<td class=\"n\">0</td>")?,
        n => write!(f, "<td class=\"n differs\"><strong>{n}</strong></td>")?,
    }
    writeln!(
        f,
        "<td class=\"n\">{}</td></tr>",
        duration(record.measured.wall_s)
    )
}

/// Name of the scale in one word.
pub(super) fn scale(scale: Scale) -> &'static str {
    match scale {
        Scale::Quick => "quick",
        Scale::Full => "full",
    }
}

/// Formats a duration in seconds, in the unit that suits it.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1000.0),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
