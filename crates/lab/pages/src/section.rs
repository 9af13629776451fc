//! Section of one experiment: its run, figures, charts, tables, notes.

use std::fmt::{self, Display};

use super::chart::Drawing;
use super::escape::Escaped;
use super::figures::FigureTable;
use super::overview::{duration, scale};
use super::table::Rows;
use undertone_lab::record::{ExperimentRecord, OutsideOfRuns, ScenarioUsed};

/// Section of one record.
pub(super) struct PageSection<'a> {
    pub(super) record: &'a ExperimentRecord,
    /// Fragment identifier of the section.
    pub(super) anchor: &'a str,
}

impl Display for PageSection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { record, anchor } = self;
        let title = Escaped(&record.title);
        write!(
            f,
            "<section id=\"{anchor}\" aria-labelledby=\"{anchor}-h\">\n\
             <h2 id=\"{anchor}-h\">{title}</h2>\n<p class=\"source\">{}</p>\n",
            Escaped(&record.source)
        )?;
        if !record.figures.is_empty() {
            let figures = &record.figures;
            write!(f, "{}", FigureTable { figures })?;
        }
        if !record.charts.is_empty() {
            f.write_str("<div class=\"charts\">\n")?;
            for (number, chart) in record.charts.iter().enumerate() {
                let id = &format!("{anchor}-c{number}");
                write!(f, "{}", Drawing { chart, id })?;
            }
            f.write_str("</div>\n")?;
        }
        for table in &record.tables {
            write!(f, "{}", Rows(table))?;
        }
        if !record.notes.is_empty() {
            f.write_str("<h3>What differs from the publication, and how to read it</h3>\n<ul>\n")?;
            for note in &record.notes {
                writeln!(f, "<li>{}</li>", Escaped(note))?;
            }
            f.write_str("</ul>\n")?;
        }
        outside_checked(f, &record.validity)?;
        self.run(f)?;
        f.write_str("</section>\n")
    }
}

impl PageSection<'_> {
    /// Writes everything needed to run the experiment again, and the costs of the run.
    fn run(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = self.record;
        let measured = &record.measured;
        f.write_str("<h3>How it was run</h3>\n<dl>\n")?;
        writeln!(
            f,
            "<dt>command</dt><dd><code>{}</code></dd>",
            Escaped(&record.command)
        )?;
        writeln!(
            f,
            "<dt>commit</dt><dd><code>{}</code></dd>",
            Escaped(&record.commit)
        )?;
        writeln!(f, "<dt>scale</dt><dd>{}</dd>", scale(record.scale))?;
        writeln!(f, "<dt>seeds</dt><dd>{}</dd>", seeds(&record.seeds))?;
        if !record.scenarios.is_empty() {
            f.write_str("<dt>scenarios</dt><dd class=\"scenarios\">")?;
            for (number, used) in record.scenarios.iter().enumerate() {
                let comma = if number == 0 { "" } else { "; " };
                f.write_str(comma)?;
                scenario(f, used)?;
            }
            f.write_str("</dd>\n")?;
        }
        write!(
            f,
            "<dt>run time</dt><dd>{}, {} of processor time",
            duration(measured.wall_s),
            duration(measured.cpu_s)
        )?;
        if let Some(megabytes) = measured.peak_rss_mb {
            write!(f, ", {megabytes:.0} MB at most")?;
        }
        f.write_str("</dd>\n</dl>\n")
    }
}

/// Writes the unvalidated mechanisms of the simulations.
pub(super) fn outside_checked(
    f: &mut fmt::Formatter<'_>,
    validity: &[OutsideOfRuns],
) -> fmt::Result {
    if validity.is_empty() {
        return Ok(());
    }
    f.write_str("<h3>Outside what was checked</h3>\n<ul>\n")?;
    for known in validity {
        let says = Escaped(&known.outside.says);
        writeln!(f, "<li>In {} {says}.</li>", known.simulations())?;
    }
    f.write_str("</ul>\n")
}

fn scenario(f: &mut fmt::Formatter<'_>, used: &ScenarioUsed) -> fmt::Result {
    write!(f, "<code>{}</code>", Escaped(&used.name))?;
    for (number, set) in used.set.iter().enumerate() {
        let before = if number == 0 { " with " } else { ", " };
        write!(f, "{before}<code>{}</code>", Escaped(set))?;
    }
    Ok(())
}

/// Formats a list of seeds, with consecutive ones as a range.
fn seeds(seeds: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &seed in seeds {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(seed) => *last = seed,
            _ => ranges.push((seed, seed)),
        }
    }
    if ranges.is_empty() {
        return "nothing is drawn at random".to_owned();
    }
    let words: Vec<String> = ranges
        .iter()
        .map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first} to {last}"),
        })
        .collect();
    words.join(", ")
}
