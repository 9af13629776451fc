//! Peer exchange of a client that knows fewer service nodes than it wants.

use bytes::Bytes;
use undertone_services::peer_exchange::PeerExchangeRequest;

use crate::light::connections::{CONNECT_NS, PeerSlot, SlotState};
use crate::light::node::LightNode;
use crate::light::streams::Asker;
use crate::light::{LightEvent, answers};
use crate::node::event::{Event, Step};
use crate::services::frames::StreamService;

/// Time between two requests, during which the nodes named are dialled, nanoseconds.
const AGAIN_NS: u64 = 30_000_000_000;

/// Time to wait for a connection to the service node to ask, nanoseconds.
const CONNECTING_NS: u64 = 1_000_000_000;

impl LightNode {
    /// Asks the next service node for others, as long as the client knows fewer than it wants.
    pub(super) fn find_peers(&mut self, step: &mut Step<'_>) {
        let setup = step.world.scenario.services.as_ref();
        let Some(wanted) = setup.and_then(|s| s.known_peers.map(|_| s.peers_per_client)) else {
            return;
        };
        for slot in &mut self.peers {
            let is_unreached = match slot.state {
                SlotState::Down => true,
                SlotState::Dialling { since_ns, .. } => step.now_ns >= since_ns + CONNECT_NS,
                SlotState::Up { .. } => false,
            };
            slot.is_given_up |= !slot.is_offered && is_unreached;
        }
        let known = (0..self.peers.len()).filter(|peer| self.peers[*peer].is_offered);
        let known: Vec<_> = known.collect();
        if known.len() >= wanted as usize {
            return;
        }
        let peer = known.get(self.exchanges % known.len().max(1)).copied();
        self.exchanges += 1;
        let wait_ns = match peer {
            Some(peer) if self.connect(step, peer) => {
                let num_peers = Some(u64::from(wanted));
                let request = PeerExchangeRequest { num_peers }.encode();
                let service = StreamService::PeerExchange;
                self.ask(step, peer, Asker::PeerExchange, service, request.into());
                AGAIN_NS
            }
            _ => CONNECTING_NS,
        };
        let at_ns = step.now_ns + wait_ns;
        self.schedule_own(step, at_ns, Event::Light(LightEvent::FindPeers));
    }

    /// Dials nodes that a service node has named, until the client has as many as it wants.
    pub(super) fn on_peers(&mut self, step: &mut Step<'_>, body: &Bytes) {
        let setup = step.world.scenario.services.as_ref();
        let wanted = setup.map_or(0, |setup| setup.peers_per_client as usize);
        for node in answers::peers(body) {
            let present = self.peers.iter().filter(|slot| !slot.is_given_up);
            let is_known = present.clone().any(|slot| slot.node == node);
            // A number without a node stands for an address at which nobody listens.
            let exists = node < step.world.scenario.nodes;
            if is_known || !exists || present.count() >= wanted {
                continue;
            }
            self.peers.push(PeerSlot::named(node));
            self.connect(step, self.peers.len() - 1);
        }
    }
}
