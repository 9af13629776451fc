//! Rules that are checked during a run, independently of the code under test.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;
use undertone_compact::FewMap;
use undertone_gossip::{Class, Limits, MessageId, MessageIds, QueuedFrame, Report, wire};
use undertone_link::ConnIx;
use undertone_relay::RelayReport;

use crate::account;
use crate::node::event::Scratch;
use crate::outcome::Violation;

/// Maximum number of violations kept per thread.
const VIOLATIONS_MAX: usize = 100;

/// Time for which an IDONTWANT is remembered here, nanoseconds; shorter than in any router.
const REMEMBERED_NS: u64 = 1_000_000_000;

/// Minimum time for which a request is remembered, nanoseconds; longer than the router waits for the
/// transfer of any frame.
const ASKED_NS: u64 = 60_000_000_000;

/// Number of remembered requests above which expired ones are dropped.
const ASKED_MAX: usize = 4_096;

/// First bytes of a message id. They suffice to identify it, as ids are hashes.
type IdStart = [u8; 8];

fn start_of(id: &MessageId) -> IdStart {
    *id.0.first_chunk().expect("an id has 32 bytes")
}

/// State of the checks of one node.
#[derive(Debug, Default)]
pub(crate) struct RuleChecks {
    delivered: FewMap<u32, ()>,
    /// Ids named in IDONTWANT by each peer, with the time of the message.
    unwanted: FewMap<(ConnIx, IdStart), u64>,
    /// The same entries in order of time; an id that was named again has a later entry.
    unwanted_order: VecDeque<(u64, (ConnIx, IdStart))>,
    /// Ids requested by IWANT, with the time of the last request.
    asked: FewMap<MessageId, u64>,
    last_asked_ns: u64,
    /// Number of ids requested despite transfers in progress, and the time at which it last grew.
    iwant_after_deadline: (u64, u64),
    /// Peers whose transfers did not delay a request, because of their low score, with the time of the
    /// request.
    unheard: FewMap<ConnIx, u64>,
    /// Time of the last change of a mesh.
    pub(crate) mesh_changed_ns: u64,
}

impl RuleChecks {
    /// Records the IDONTWANT entries of a frame that is about to be processed.
    pub(super) fn heard(&mut self, now_ns: u64, conn: ConnIx, frame: &Bytes) {
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
        while let Some((said_ns, named)) = self.unwanted_order.front().copied()
            && said_ns + REMEMBERED_NS <= now_ns
        {
            self.unwanted_order.pop_front();
            if self.unwanted.get(&named) == Some(&said_ns) {
                self.unwanted.remove(&named);
            }
        }
        for id in rpc.idontwant {
            let named = (conn, start_of(&id));
            self.unwanted.insert(named, now_ns);
            self.unwanted_order.push_back((now_ns, named));
        }
    }

    /// Checks a frame that is queued for a peer against the IDONTWANT entries of that peer.
    pub(super) fn sends(
        &mut self,
        scratch: &mut Scratch,
        now_ns: u64,
        node: u32,
        conn: ConnIx,
        queued: &QueuedFrame,
    ) {
        if queued.class == Class::Control || self.unwanted.is_empty() {
            return;
        }
        for id in ids(scratch, &queued.frame) {
            let said_ns = self.unwanted.get(&(conn, start_of(&id)));
            if said_ns.is_some_and(|said_ns| *said_ns + REMEMBERED_NS > now_ns) {
                let rule = "nothing is sent that a processed IDONTWANT named";
                violated(scratch, now_ns, node, rule);
            }
        }
    }

    /// Records a request (IWANT) that is queued for a peer. `impatiently` is the number of ids requested
    /// so far despite transfers in progress. `unheard` are the peers whose transfers do not count
    /// because of their low score.
    pub(super) fn asks(
        &mut self,
        now_ns: u64,
        impatiently: u64,
        unheard: impl Iterator<Item = ConnIx>,
        frame: &Bytes,
    ) {
        for conn in unheard {
            self.unheard.insert(conn, now_ns);
        }
        if self.iwant_after_deadline.0 != impatiently {
            self.iwant_after_deadline = (impatiently, now_ns);
        }
        // All requests at the same time come from one decision.
        if self.iwant_after_deadline.1 == now_ns {
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

    /// Whether anything was requested at `at_ns` or later.
    pub(super) fn has_asked_since(&self, at_ns: u64) -> bool {
        !self.asked.is_empty() && self.last_asked_ns >= at_ns
    }

    /// Checks a completed frame: its messages were not requested while it was in transit (`during_ns`).
    pub(super) fn completed(
        &mut self,
        scratch: &mut Scratch,
        now_ns: u64,
        (node, conn): (u32, ConnIx),
        during_ns: Range<u64>,
        frame: &Bytes,
    ) {
        let unheard_ns = self.unheard.get(&conn);
        if unheard_ns.is_some_and(|at_ns| during_ns.contains(at_ns)) {
            return;
        }
        for id in ids(scratch, frame) {
            if self
                .asked
                .get(&id)
                .is_some_and(|at_ns| during_ns.contains(at_ns))
            {
                let rule = "nothing is asked for while a copy of it is coming in";
                violated(scratch, now_ns, node, rule);
            }
        }
    }

    /// Whether a message was delivered.
    pub(super) fn has(&self, message: u32) -> bool {
        self.delivered.contains_key(&message)
    }

    /// Checks that a message is delivered to the application only once.
    pub(super) fn delivers(&mut self, scratch: &mut Scratch, now_ns: u64, node: u32, message: u32) {
        if self.delivered.insert(message, ()).is_some() {
            violated(scratch, now_ns, node, "a message is delivered at most once");
        }
    }

    pub(super) fn reported(&mut self, now_ns: u64, report: &RelayReport) {
        if let RelayReport::Gossip(Report::Grafted { .. } | Report::Pruned { .. }) = report {
            self.mesh_changed_ns = now_ns;
        }
    }
}

/// Returns the ids of the messages in a frame.
fn ids(scratch: &mut Scratch, frame: &Bytes) -> Vec<MessageId> {
    let mut limits = Limits::default();
    limits.frame_bytes_max = usize::MAX;
    let rpc = wire::unframe(frame).and_then(|body| wire::decode(&body, &limits).ok());
    let messages = rpc.into_iter().flat_map(|rpc| rpc.messages);
    let ids = messages.map(|message| scratch.ids.id_of(&message.data));
    ids.collect()
}

pub(crate) fn violated(scratch: &mut Scratch, at_ns: u64, node: u32, rule: &'static str) {
    if scratch.violations.len() < VIOLATIONS_MAX {
        scratch.violations.push(Violation { at_ns, node, rule });
    }
}

#[cfg(test)]
#[path = "tests/check.rs"]
mod tests;
