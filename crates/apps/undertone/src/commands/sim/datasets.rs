//! `undertone sim --record`: datasets that a run writes besides its deliveries.

use clap::builder::PossibleValuesParser;
use undertone_lab::report::{DATASETS, DatasetChoice, TRAFFIC_EVERY_MS};

/// Flags that choose datasets.
#[derive(clap::Args, Debug)]
pub(super) struct DatasetFlags {
    /// Record and write these datasets, too: copies, links, nodes, traffic (docs/use/scenarios.md)
    #[arg(long, value_name = "DATASETS", value_delimiter = ',', requires = "out", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(DATASETS.map(|(name, _)| name)))]
    record: Vec<String>,
    /// Length of the intervals of the dataset traffic, milliseconds
    #[arg(long, value_name = "MS", requires = "record", default_value_t = TRAFFIC_EVERY_MS,
          value_parser = clap::value_parser!(u32).range(1..))]
    record_every_ms: u32,
}

impl DatasetFlags {
    /// The datasets that are asked for.
    pub(super) fn choice(&self) -> DatasetChoice {
        let mut choice = DatasetChoice::default();
        for name in &self.record {
            let is_known = choice.add(name);
            debug_assert!(is_known, "the parser takes known names only");
        }
        if let Some(every_ms) = &mut choice.traffic_every_ms {
            *every_ms = self.record_every_ms;
        }
        choice
    }
}
