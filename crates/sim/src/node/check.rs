//! Rules that are checked beside the system.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use bytes::Bytes;
use undertone_gossip::{Class, Limits, MessageId, MessageIds, QueuedFrame, Report, wire};
use undertone_relay::RelayReport;

use crate::account;
use crate::node::Bench;
use crate::outcome::Violation;

/// Violations that are kept.
const VIOLATIONS_MAX: usize = 100;

/// How long an IDONTWANT is remembered here, nanoseconds: less than any router does.
const REMEMBERED_NS: u64 = 1_000_000_000;

/// How long a request is remembered at the least, nanoseconds: longer than any frame takes that is waited
/// for.
const ASKED_NS: u64 = 60_000_000_000;

/// Requests from which on it is looked which are older.
const ASKED_MAX: usize = 4_096;

/// What one node is checked against.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    delivered: BTreeSet<u32>,
    /// Ids that each peer does not want, with the time it said so.
    unwanted: BTreeMap<(u32, MessageId), u64>,
    /// Ids that were asked for, when last.
    asked: BTreeMap<MessageId, u64>,
    last_asked_ns: u64,
    /// Ids that were asked for whatever was coming in, and when the last of them were.
    asked_impatiently: (u64, u64),
    /// Peers whose gossip was not heard when something was asked for, though something came from them.
    unheard: BTreeMap<u32, u64>,
    /// When the mesh last changed.
    pub(crate) mesh_changed_ns: u64,
}

impl Checks {
    /// A frame is about to be processed.
    pub(super) fn heard(&mut self, now_ns: u64, place: u32, frame: &Bytes) {
        if !account::has_idontwant(frame) {
            return;
        }
        let limits = Limits::default();
        let Some(Ok(rpc)) = wire::unframe(frame).map(|body| wire::decode(&body, &limits)) else {
            return;
        };
        if rpc.idontwant.is_empty() {
            return;
        }
        self.unwanted
            .retain(|_, said_ns| *said_ns + REMEMBERED_NS > now_ns);
        for id in rpc.idontwant {
            self.unwanted.insert((place, id), now_ns);
        }
    }

    /// A frame goes to the queue of a peer.
    pub(super) fn sends(
        &mut self,
        bench: &mut Bench,
        now_ns: u64,
        node: u32,
        place: u32,
        queued: &QueuedFrame,
    ) {
        if queued.class == Class::Control || self.unwanted.is_empty() {
            return;
        }
        for id in ids(bench, &queued.frame) {
            let said_ns = self.unwanted.get(&(place, id));
            if said_ns.is_some_and(|said_ns| *said_ns + REMEMBERED_NS > now_ns) {
                let rule = "nothing is sent that a processed IDONTWANT named";
                violated(bench, now_ns, node, rule);
            }
        }
    }

    /// A request goes to the queue of a peer; `impatiently`: how many ids of all so far were asked for
    /// whatever was coming in; `unheard`: from whom something comes that does not count.
    pub(super) fn asks(
        &mut self,
        now_ns: u64,
        impatiently: u64,
        unheard: impl Iterator<Item = u32>,
        frame: &Bytes,
    ) {
        self.unheard.extend(unheard.map(|place| (place, now_ns)));
        if self.asked_impatiently.0 != impatiently {
            self.asked_impatiently = (impatiently, now_ns);
        }
        // All requests of one moment come from one decision.
        if self.asked_impatiently.1 == now_ns {
            return;
        }
        if self.asked.len() >= ASKED_MAX {
            self.asked.retain(|_, at_ns| *at_ns + ASKED_NS > now_ns);
        }
        let limits = Limits::default();
        let rpc = wire::unframe(frame).and_then(|body| wire::decode(&body, &limits).ok());
        self.last_asked_ns = now_ns;
        for id in rpc.into_iter().flat_map(|rpc| rpc.iwant) {
            self.asked.insert(id, now_ns);
        }
    }

    /// Whether anything was asked for at that time or later.
    pub(super) fn has_asked_since(&self, at_ns: u64) -> bool {
        !self.asked.is_empty() && self.last_asked_ns >= at_ns
    }

    /// A frame that was coming in `during_ns` is whole.
    pub(super) fn came(
        &mut self,
        bench: &mut Bench,
        now_ns: u64,
        (node, place): (u32, u32),
        during_ns: Range<u64>,
        frame: &Bytes,
    ) {
        let unheard_ns = self.unheard.get(&place);
        if unheard_ns.is_some_and(|at_ns| during_ns.contains(at_ns)) {
            return;
        }
        for id in ids(bench, frame) {
            if self
                .asked
                .get(&id)
                .is_some_and(|at_ns| during_ns.contains(at_ns))
            {
                let rule = "nothing is asked for while a copy of it is coming in";
                violated(bench, now_ns, node, rule);
            }
        }
    }

    /// A message goes to the application.
    pub(super) fn delivers(&mut self, bench: &mut Bench, now_ns: u64, node: u32, message: u32) {
        if !self.delivered.insert(message) {
            violated(bench, now_ns, node, "a message is delivered at most once");
        }
    }

    pub(super) fn reported(&mut self, now_ns: u64, report: &RelayReport) {
        if let RelayReport::Gossip(Report::Grafted { .. } | Report::Pruned { .. }) = report {
            self.mesh_changed_ns = now_ns;
        }
    }
}

/// Ids of the messages in a frame.
fn ids(bench: &mut Bench, frame: &Bytes) -> Vec<MessageId> {
    let limits = Limits {
        frame_bytes_max: usize::MAX,
        ..Limits::default()
    };
    let rpc = wire::unframe(frame).and_then(|body| wire::decode(&body, &limits).ok());
    let messages = rpc.into_iter().flat_map(|rpc| rpc.messages);
    let ids = messages.map(|message| bench.ids.id_of(&message.data));
    ids.collect()
}

pub(crate) fn violated(bench: &mut Bench, at_ns: u64, node: u32, rule: &'static str) {
    if bench.violations.len() < VIOLATIONS_MAX {
        bench.violations.push(Violation { at_ns, node, rule });
    }
}

#[cfg(test)]
mod tests;
