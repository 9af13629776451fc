//! `undertone node --check`: shows every key of the configuration, its value, and its source.

use std::fmt;

use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;
use undertone_node::config::{ExplainedKey, Sources, explain as explain_keys};

use crate::commands::Failure;

/// Explanation of a configuration.
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct Explained(Vec<ExplainedKey>);

/// Explains a configuration that was already loaded and thereby checked.
pub(super) fn explain(sources: &Sources) -> Result<Explained, Failure> {
    let explained = explain_keys(sources);
    let explained = explained.map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Explained(explained))
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new();
        table
            .load_preset(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_header(["key", "value", "from", "purpose"]);
        for key in &self.0 {
            table.add_row([key.key, &key.value, &key.source, key.help]);
        }
        writeln!(f, "{table}")?;
        let set = self.0.iter().filter(|key| key.source != "defaults").count();
        write!(
            f,
            "The configuration is valid; {set} of {} keys are set.",
            self.0.len()
        )
    }
}
