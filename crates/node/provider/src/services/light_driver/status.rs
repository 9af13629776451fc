//! State of the light client as the program sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use undertone_services::light::Offence;

/// State of this node's subscriptions at filter peers, and what came of them since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LightStatus {
    /// Pubsub topics with subscriptions, each with the number of filter peers that hold them all.
    pub filter_peers: BTreeMap<Arc<str>, usize>,
    /// Messages that a filter peer pushed first.
    pub pushed: u64,
    /// Messages that no filter peer had pushed and a store had.
    pub recovered: u64,
    /// Breaches of a protocol by service peers.
    pub offences: u64,
    /// Spans of history that could not be compared with what was delivered.
    pub unchecked: u64,
    /// Services for which the word of strangers alone was taken the last time, by their names, such as `store`.
    pub strangers_alone: BTreeSet<&'static str>,
}

impl LightStatus {
    /// Returns the pubsub topics whose subscriptions no filter peer holds in full.
    pub fn deserted(&self) -> impl Iterator<Item = &Arc<str>> {
        let deserted = self.filter_peers.iter().filter(|(_, peers)| **peers == 0);
        deserted.map(|(topic, _)| topic)
    }
}

/// Returns an offence in plain words.
pub(super) fn words(offence: Offence) -> &'static str {
    match offence {
        Offence::UnaskedPush => "it pushes messages that were never asked of it",
        Offence::Asleep => "it pushes nothing while others have messages",
        Offence::HollowListing => "it lists messages that it does not give",
        Offence::WrongPage => "its pages of history do not answer the query",
    }
}
