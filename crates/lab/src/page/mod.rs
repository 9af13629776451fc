//! Records as one self-contained HTML page: no script, no font, no network access.
//!
//! The page follows the reader's light or dark theme and can be printed; all colours are in `style.css`.
//! The same records give the same bytes.

mod chart;
mod escape;
mod figures;
mod overview;
mod section;
mod table;

#[cfg(test)]
mod tests;

use std::fmt::{self, Display};

use crate::record::{ExperimentRecord, names};
use overview::Overview;
use section::PageSection;

const STYLE: &str = include_str!("style.css");

/// Renders the page, with a section for each record in the order given.
pub fn page(records: &[ExperimentRecord]) -> String {
    ReportPage(records).to_string()
}

struct ReportPage<'a>(&'a [ExperimentRecord]);

impl Display for ReportPage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = names(self.0);
        let anchors: Vec<String> = names.iter().map(|name| format!("x-{name}")).collect();
        f.write_str(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <title>Undertone: ours beside what was published</title>\n<style>\n",
        )?;
        f.write_str(STYLE)?;
        f.write_str("</style>\n</head>\n<body>\n")?;
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
        f.write_str("</main>\n</body>\n</html>\n")
    }
}
