//! Results of all runs of one scenario.

use std::collections::BTreeSet;

use serde::Serialize;
use undertone_lab::report::Campaign;

use super::costs::Costs;
use super::hops::MeasuredHop;
use super::runner::Packets;

/// Results of all runs of one scenario.
#[derive(Debug, Serialize)]
pub struct CampaignReport {
    /// Deliveries and latency, by run and over all runs.
    #[serde(flatten)]
    pub campaign: Campaign,
    /// Times of hops, by payload size, state of the connections and number of the hop.
    pub hop_rows: Vec<MeasuredHop>,
    /// Processing costs of all runs.
    pub costs: Costs,
    /// Packet counts of the emulated network, by run.
    pub packets: Vec<Packets>,
    /// Notes on differences from the scenario.
    pub notes: Vec<String>,
    /// Messages that did not leave their publishers, by run.
    #[serde(skip)]
    pub unsent: Vec<BTreeSet<u32>>,
}
