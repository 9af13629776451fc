//! Rules that are checked beside the system.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use undertone_gossip::{Class, Limits, MessageId, QueuedFrame, Report, wire};
use undertone_relay::RelayReport;

use crate::account;
use crate::node::Bench;
use crate::outcome::Violation;

/// Violations that are kept.
const VIOLATIONS_MAX: usize = 100;

/// How long an IDONTWANT is remembered here, nanoseconds: less than any router does.
const REMEMBERED_NS: u64 = 1_000_000_000;

/// What one node is checked against.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    delivered: BTreeSet<u32>,
    /// Ids that each peer does not want, with the time it said so.
    unwanted: BTreeMap<(u32, MessageId), u64>,
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
        let limits = Limits {
            frame_bytes_max: usize::MAX,
            ..Limits::default()
        };
        let rpc = wire::unframe(&queued.frame).and_then(|body| wire::decode(&body, &limits).ok());
        for message in rpc.into_iter().flat_map(|rpc| rpc.messages) {
            use undertone_gossip::MessageIds;
            let id = bench.ids.id_of(&message.data);
            let said_ns = self.unwanted.get(&(place, id));
            if said_ns.is_some_and(|said_ns| *said_ns + REMEMBERED_NS > now_ns) {
                let rule = "nothing is sent that a processed IDONTWANT named";
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

pub(crate) fn violated(bench: &mut Bench, at_ns: u64, node: u32, rule: &'static str) {
    if bench.violations.len() < VIOLATIONS_MAX {
        bench.violations.push(Violation { at_ns, node, rule });
    }
}

#[cfg(test)]
mod tests;
