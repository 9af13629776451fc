//! Page that compares runs: their figures, and charts with all runs overlaid.

mod charts;
mod figures;
mod tree;

#[cfg(test)]
#[path = "tests/runs.rs"]
mod tests;

use std::fmt::{self, Display};
use std::slice;

use super::chart::{Drawing, TreeDrawing};
use super::document;
use super::escape::Escaped;
use super::section::outside_checked;
use super::table::Rows;
use undertone_lab::record::OutsideOfRuns;
use undertone_lab::report::{attack_table, group_table};
use undertone_lab::run::FinishedRun;

/// A run with its name in legends.
#[derive(Clone, Debug)]
pub struct RunShown<'a> {
    /// Name of the run among the others.
    pub name: String,
    /// The run that is drawn.
    pub run: &'a FinishedRun,
}

/// Renders runs as a page, overlaid in each chart.
pub fn run_page(runs: &[RunShown<'_>]) -> String {
    RunsPage(runs).to_string()
}

struct RunsPage<'a>(&'a [RunShown<'a>]);

impl RunsPage<'_> {
    /// Names of the scenarios, each once.
    fn title(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for shown in self.0 {
            let name = shown.run.summary.scenario.as_str();
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match names.as_slice() {
            [] => "No run".to_owned(),
            names => names.join(", "),
        }
    }
}

impl Display for RunsPage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0;
        let title = self.title();
        document::begin(f, &format!("Undertone: {title}"))?;
        writeln!(f, "<header>\n<h1>{}</h1>", Escaped(&title))?;
        f.write_str(
            "<p class=\"key\">Latency is from publishing, before the proof, to delivery, after validation. Messages \
             that warm up connections are left out of all charts.</p>\n</header>\n<main class=\"runs\">\n",
        )?;
        write!(f, "{}", Rows(&figures::of_runs(runs)))?;
        let groups: Vec<_> = runs
            .iter()
            .map(|shown| (shown.name.clone(), &shown.run.summary))
            .collect();
        let attacks = groups
            .iter()
            .map(|(name, run)| (name.clone(), slice::from_ref(*run)));
        let tables = [
            group_table(&groups),
            attack_table(&attacks.collect::<Vec<_>>()),
        ];
        for table in tables.iter().flatten() {
            write!(f, "{}", Rows(table))?;
        }
        f.write_str("<div class=\"charts\">\n")?;
        for (number, chart) in charts::all(runs).iter().enumerate() {
            let id = &format!("chart-{number}");
            write!(f, "{}", Drawing { chart, id })?;
        }
        f.write_str("</div>\n")?;
        for (number, shown) in runs.iter().take(tree::MAX_TREES).enumerate() {
            if let Some(tree) = &tree::slowest(shown) {
                let id = &format!("tree-{number}");
                write!(f, "{}", TreeDrawing { tree, id })?;
            }
        }
        let mut validity = Vec::new();
        for shown in runs {
            OutsideOfRuns::count(&mut validity, &shown.run.summary.validity, 1);
        }
        outside_checked(f, &validity)?;
        for table in [figures::traffic(runs), figures::origins(runs)] {
            write!(f, "{}", Rows(&table))?;
        }
        f.write_str("</main>\n")?;
        document::end(f)
    }
}
