//! `undertone sim --compare`: published figures next to simulated ones.

use undertone_lab::compare::{PublishedRun, compare, published as find, published_names};
use undertone_lab::report::Campaign;

use super::super::{Failure, output};

/// Returns the published figures that a scenario should reproduce.
pub(super) fn published(scenario: &str) -> Result<PublishedRun, Failure> {
    find(scenario).ok_or_else(|| {
        let names: Vec<_> = published_names().collect();
        Failure::usage(format!("no figures are published for {scenario:?}"))
            .with_help(format!("there are some for {}", names.join(", ")))
    })
}

/// Prints published and simulated figures; a figure outside its tolerance is a failure.
pub(super) fn print(
    published: &PublishedRun,
    campaign: &Campaign,
    json: bool,
) -> Result<(), Failure> {
    let comparison = compare(published, campaign);
    output::print(&comparison, json)?;
    if comparison.agrees {
        return Ok(());
    }
    let name = &comparison.scenario;
    Err(
        Failure::new(format!("{name} differs from the published run"))
            .with_help("docs/design/network-model.md says what is modelled and what is not"),
    )
}
