//! State of the light client as shown to the program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use undertone_services::light::Offence;

/// State of this node's subscriptions at filter peers, and totals since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightStatus {
    /// Pubsub topics with subscriptions, each with the number of filter peers that hold them all.
    pub filter_peers: BTreeMap<Arc<str>, usize>,
    /// Messages that a filter peer pushed first.
    pub pushed: u64,
    /// Messages that came from a store, and that no filter peer had pushed.
    pub recovered: u64,
    /// Breaches of a protocol by service peers.
    pub offences: u64,
    /// Spans of history that could not be compared with the delivered messages.
    pub unchecked: u64,
    /// Names of services, such as `store`, whose last answer came from strangers alone.
    pub strangers_alone: BTreeSet<&'static str>,
}

impl LightStatus {
    /// Returns the pubsub topics of which no filter peer holds all subscriptions.
    pub fn deserted(&self) -> impl Iterator<Item = &Arc<str>> {
        let deserted = self.filter_peers.iter().filter(|(_, peers)| **peers == 0);
        deserted.map(|(topic, _)| topic)
    }
}

/// Returns the description of an offence in plain words.
pub(super) fn words(offence: Offence) -> &'static str {
    match offence {
        Offence::UnaskedPush => "it pushes messages that were never asked of it",
        Offence::Asleep => "it pushes nothing while others have messages",
        Offence::HollowListing => "it lists messages that it does not give",
        Offence::WrongPage => "its pages of history do not answer the query",
    }
}
