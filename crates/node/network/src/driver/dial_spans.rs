//! Spans of dials. Without traces, every call returns at once.

use std::collections::BTreeMap;
use std::time::Instant;

use libp2p::PeerId;
use libp2p::swarm::{ConnectionId, SwarmEvent};

use super::spans::shortened;
use crate::swarm::BehaviourEvent;
use crate::traces::{SpanKind, TraceSpan, Tracer};

/// Creates the spans of dials.
pub(crate) struct DialSpans {
    tracer: Option<Tracer>,
    /// Connections that are being dialled; the swarm bounds their number.
    dialling: BTreeMap<ConnectionId, (Instant, Option<PeerId>)>,
}

impl DialSpans {
    pub(crate) fn new(tracer: Option<Tracer>) -> Self {
        Self {
            tracer,
            dialling: BTreeMap::new(),
        }
    }

    /// Records a dial by the driver. The swarm emits an event for dials of its behaviours, but not for those of the
    /// driver.
    pub(crate) fn dialling(&mut self, connection: ConnectionId, peer: Option<PeerId>) {
        if self.tracer.is_some() {
            self.dialling.insert(connection, (Instant::now(), peer));
        }
    }

    /// Handles an event of the swarm, which may be the start or the end of a dial.
    pub(crate) fn swarm(&mut self, event: &SwarmEvent<BehaviourEvent>) {
        let Some(tracer) = &self.tracer else {
            return;
        };
        let (connection, reached, failure) = match event {
            SwarmEvent::Dialing {
                peer_id,
                connection_id,
            } => {
                let (connection, peer) = (*connection_id, *peer_id);
                return self.dialling(connection, peer);
            }
            SwarmEvent::ConnectionEstablished {
                connection_id,
                peer_id,
                ..
            } => (connection_id, Some(*peer_id), None),
            SwarmEvent::OutgoingConnectionError {
                connection_id,
                error,
                ..
            } => (connection_id, None, Some(shortened(error.to_string()))),
            _ => return,
        };
        let Some((start, asked)) = self.dialling.remove(connection) else {
            return;
        };
        let Some(trace) = tracer.of_its_own() else {
            return;
        };
        let peer = reached.or(asked);
        tracer.give(TraceSpan {
            trace,
            id: tracer.span_id(),
            parent: None,
            name: "dial",
            kind: SpanKind::Client,
            start,
            end: Instant::now(),
            attributes: peer
                .map(|peer| ("network.peer.id", peer.into()))
                .into_iter()
                .collect(),
            failure: failure.map(Into::into),
        });
    }
}
