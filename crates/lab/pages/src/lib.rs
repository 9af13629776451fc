//! Records, runs and sweeps, each rendered as one self-contained HTML page: no script, no font, no network access.
//!
//! The page follows the reader's light or dark theme and can be printed. All colours are in `style.css`. Equal input
//! gives equal bytes.

mod chart;
mod document;
mod escape;
mod figures;
mod overview;
mod runs;
mod section;
mod sweep;
mod table;

#[cfg(test)]
mod tests;

use std::fmt::{self, Display};

use overview::Overview;
use section::PageSection;
use undertone_lab::record::{ExperimentRecord, names};

pub use runs::{RunShown, run_page};
pub use sweep::sweep_page;

/// Renders the page, with a section for each record in the order given.
pub fn page(records: &[ExperimentRecord]) -> String {
    ReportPage(records).to_string()
}

struct ReportPage<'a>(&'a [ExperimentRecord]);

impl Display for ReportPage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = names(self.0);
        let anchors: Vec<String> = names.iter().map(|name| format!("x-{name}")).collect();
        document::begin(f, "Undertone: ours beside what was published")?;
        let records = self.0;
        write!(
            f,
            "{}",
            Overview {
                records,
                anchors: &anchors
            }
        )?;
        f.write_str("<main>\n")?;
        for (record, anchor) in records.iter().zip(&anchors) {
            write!(f, "{}", PageSection { record, anchor })?;
        }
        f.write_str("</main>\n")?;
        document::end(f)
    }
}
