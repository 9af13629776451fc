//! Dandelion++ (Fanti et al. 2018, arXiv 1805.11060): a message first passes through a few peers, one by one (the
//! stem), and then spreads as in GossipSub, from a node that is not its publisher.
//!
//! In each epoch a node has two successors in the stem of a topic and is either a relayer or a diffuser. All that comes
//! from one peer goes to one successor: choices for each message would let observers combine several messages.
//! 44/WAKU2-DANDELION does the same with other frames (19/WAKU2-LIGHTPUSH) and synchronous epochs.

use std::collections::BTreeMap;
use std::time::Duration;

use super::interface::Strategy;
use super::view::View;
use crate::rng::Rng;
use crate::time::Time;
use crate::types::{PeerIx, Topic};

#[derive(Debug, Default)]
pub(super) struct Dandelion(Option<Epoch>);

/// Choices that hold for one epoch.
#[derive(Debug)]
struct Epoch {
    ends: Time,
    /// Whether this node spreads the stem messages of others.
    is_diffuser: bool,
    /// Key of the mapping from peers to successors.
    key: u64,
    /// Successors for each topic of this node; a place is empty while too few peers understand stem messages.
    successors: BTreeMap<Topic, [Option<PeerIx>; 2]>,
}

impl Strategy for Dandelion {
    fn stem(&mut self, view: &View<'_>, from: Option<PeerIx>, rng: &mut Rng) -> Option<PeerIx> {
        let epoch = self.epoch(view, rng);
        if epoch.is_diffuser && from.is_some() {
            return None;
        }
        let place = epoch.place_of(from);
        let successors = epoch.successors.entry(view.topic().clone()).or_default();
        fill(successors, view, rng);
        // The other successor serves if the first one is missing or has sent the message itself.
        let in_order = [successors[place], successors[1 - place]];
        in_order
            .into_iter()
            .flatten()
            .find(|peer| Some(*peer) != from)
    }
}

impl Dandelion {
    /// Returns the present epoch, which begins now if the last one has ended.
    fn epoch(&mut self, view: &View<'_>, rng: &mut Rng) -> &mut Epoch {
        let parameters = view.parameters.dandelion;
        let ends = self.0.as_ref().map(|epoch| epoch.ends);
        let ends = ends.unwrap_or_else(|| {
            // A random offset for each node: epochs that end together would show the change to observers.
            let length_ms = usize::try_from(parameters.epoch.as_millis()).unwrap_or(usize::MAX);
            let offset_ms = rng.below(length_ms.max(1)) as u64;
            view.started.after(Duration::from_millis(offset_ms))
        });
        if view.now >= ends {
            self.0 = None;
        }
        self.0.get_or_insert_with(|| Epoch {
            ends: next_end(ends, view.now, parameters.epoch),
            is_diffuser: rng.chance(parameters.diffuser_probability),
            key: rng.next_u64(),
            successors: BTreeMap::new(),
        })
    }
}

impl Epoch {
    /// Place of the successor for messages from a peer, or for those of this node.
    fn place_of(&self, from: Option<PeerIx>) -> usize {
        let from = from.map_or(u64::MAX, |peer| u64::from(peer.0));
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&(self.key ^ from).to_le_bytes());
        Rng::new(seed).below(2)
    }
}

/// Returns the first of the ends at intervals of `length` after `end` that lies ahead.
fn next_end(end: Time, now: Time, length: Duration) -> Time {
    if now < end {
        return end;
    }
    let passed = now.since(end).as_nanos() / length.as_nanos().max(1);
    let passed = u32::try_from(passed + 1).unwrap_or(u32::MAX);
    end.after(length.saturating_mul(passed))
}

/// Replaces missing successors, and those that have left: by peers that this node dialled, if there are any, because
/// an attacker cannot make a node dial.
fn fill(successors: &mut [Option<PeerIx>; 2], view: &View<'_>, rng: &mut Rng) {
    let is_able = |peer: PeerIx| view.understands_stem(peer) && view.is_publishable(peer);
    for place in 0..successors.len() {
        if successors[place].is_some_and(is_able) {
            continue;
        }
        successors[place] = None;
        let subscribers = view.subscribers().iter().copied();
        let able = subscribers.filter(|p| is_able(*p) && !successors.contains(&Some(*p)));
        let (dialled, others): (Vec<_>, Vec<_>) = able.partition(|peer| view.is_outbound(*peer));
        let from = if dialled.is_empty() { others } else { dialled };
        if !from.is_empty() {
            successors[place] = Some(from[rng.below(from.len())]);
        }
    }
}
