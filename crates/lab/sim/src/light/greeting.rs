//! Metadata of service nodes: a client leaves one of another cluster before making any other request.

use undertone_link::ConnIx;
use undertone_message::WakuMetadata;
use undertone_services::metadata::MetadataVerdict;

use crate::light::connections::SlotState;
use crate::light::node::LightNode;
use crate::light::streams::Asker;
use crate::light::{LightEvent, answers};
use crate::node::event::{Event, Step};
use crate::services::frames::StreamService;

/// Time for a service node to send its metadata, nanoseconds. After that it is used anyway, as in real nodes.
const GREETING_NS: u64 = 3_000_000_000;

impl LightNode {
    /// Asks a service node for its metadata. If clients do not ask, the connection is usable at once.
    pub(super) fn greet(&mut self, step: &mut Step<'_>, peer: usize, conn: ConnIx) {
        let setup = step.world.scenario.services.as_ref();
        // As light nodes do, the client names its cluster and no shard.
        let ours = WakuMetadata {
            cluster_id: Some(u32::from(step.world.relay.cluster_id)),
            shards: Vec::new(),
        };
        match ours.encode() {
            Ok(body) if setup.is_some_and(|setup| setup.metadata) => {
                let asker = Asker::Metadata(conn);
                self.ask(step, peer, asker, StreamService::Metadata, body.into());
                let at_ns = step.now_ns + GREETING_NS;
                self.schedule_own(step, at_ns, Event::Light(LightEvent::Greeted(conn)));
            }
            _ => self.connected(step, peer),
        }
    }

    /// Starts to use a connection whose other end has not sent its metadata.
    pub(super) fn greeted_enough(&mut self, step: &mut Step<'_>, conn: ConnIx) {
        if let Some((peer, ..)) = self.ungreeted(conn) {
            self.connected(step, peer);
        }
    }

    /// Handles the metadata of the node at the other end of a connection.
    pub(super) fn on_metadata(&mut self, step: &mut Step<'_>, conn: ConnIx, body: &[u8]) {
        let Some((peer, node, remote_conn)) = self.ungreeted(conn) else {
            return;
        };
        let verdict = answers::metadata(step.world.relay.cluster_id, body);
        if !matches!(verdict, Some(MetadataVerdict::OtherCluster(_))) {
            return self.connected(step, peer);
        }
        self.counters.other_clusters += 1;
        let at_ns = step.now_ns + step.world.delay_ns(self.id, node);
        self.schedule(step, at_ns, node, Event::Closed(remote_conn));
        self.closed(step, conn);
    }

    /// Peer, node, and the far end's index of a connection on which the service node has not sent its metadata.
    fn ungreeted(&self, conn: ConnIx) -> Option<(usize, u32, ConnIx)> {
        let peer = *self.conns.get(&conn)?;
        let slot = self.peers.get(peer)?;
        match slot.state {
            SlotState::Up { remote_conn, .. } if !slot.is_greeted => {
                Some((peer, slot.node, remote_conn))
            }
            _ => None,
        }
    }
}
