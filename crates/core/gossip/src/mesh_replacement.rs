//! Replacement of mesh members. A mesh full of peers from few addresses, or of peers that never deliver a
//! message first, must not keep out those that would.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::address::AddressGroup;
use crate::router::Router;
use crate::topics::TopicIx;
use crate::types::{Direction, PeerIx};

/// Maximum number of members replaced by peers from other addresses at one heartbeat.
const EXCHANGES_PER_HEARTBEAT: usize = 2;

/// Time in the mesh after which a member without first deliveries is called idle.
const IDLE_AFTER: Duration = Duration::from_secs(60);

/// Number of first deliveries in a topic, over all peers and after decay, from which idle members are
/// replaced. With fewer, a member may have none by chance.
const BUSY_FIRST_DELIVERIES: f64 = 4.0;

/// Inbound members of a mesh, by address group.
type Crowd = BTreeMap<AddressGroup, Vec<PeerIx>>;

impl Router {
    /// Returns the member of a full mesh to replace by an inbound newcomer: the one with the lowest score
    /// at the most crowded address, if the newcomer's address is less crowded even with it. Outbound peers
    /// stay, because an attacker cannot make this node dial.
    pub(crate) fn makes_room_for(&self, ix: TopicIx, newcomer: PeerIx) -> Option<PeerIx> {
        let address = self.peers.get(newcomer)?.address?;
        self.worst_of_a_larger_crowd(&self.crowd(ix), address)
    }

    /// Whether inbound members of the mesh share an address.
    pub(crate) fn is_crowded(&self, ix: TopicIx) -> bool {
        let mesh = self.topics.get(ix).mesh.as_slice().iter();
        let mut addresses: Vec<_> = mesh
            .filter_map(|peer| self.inbound_address(*peer))
            .collect();
        addresses.sort_unstable();
        addresses.windows(2).any(|two| two[0] == two[1])
    }

    /// Returns the address of an inbound peer.
    fn inbound_address(&self, peer: PeerIx) -> Option<AddressGroup> {
        let state = self.peers.get(peer);
        state
            .filter(|state| state.direction == Direction::Inbound)?
            .address
    }

    fn crowd(&self, ix: TopicIx) -> Crowd {
        let mut crowd = Crowd::new();
        for peer in self.topics.get(ix).mesh.as_slice() {
            if let Some(address) = self.inbound_address(*peer) {
                crowd.entry(address).or_default().push(*peer);
            }
        }
        crowd
    }

    fn worst_of_a_larger_crowd(&self, crowd: &Crowd, address: AddressGroup) -> Option<PeerIx> {
        let there = crowd.get(&address).map_or(0, Vec::len);
        let largest = crowd.values().max_by_key(|peers| peers.len())?;
        if largest.len() < there + 2 {
            return None;
        }
        let score = |peer: &PeerIx| self.scores.score(*peer);
        let worst = largest.iter().min_by(|a, b| score(a).total_cmp(&score(b)));
        worst.copied()
    }

    /// Replaces members at crowded addresses by subscribers at others.
    pub(crate) fn even_out_addresses(&mut self, ix: TopicIx) {
        for _ in 0..EXCHANGES_PER_HEARTBEAT {
            let crowd = self.crowd(ix);
            if crowd.values().all(|peers| peers.len() < 2) {
                return;
            }
            let mut others = self.graftable(ix);
            others.retain(|peer| self.makes_room_in(&crowd, *peer).is_some());
            self.rng.choose(&mut others, 1);
            let Some(newcomer) = others.first().copied() else {
                return;
            };
            if let Some(worst) = self.makes_room_in(&crowd, newcomer) {
                self.prune(ix, worst, self.config.prune_backoff, true);
                self.graft(ix, newcomer);
            }
        }
    }

    fn makes_room_in(&self, crowd: &Crowd, newcomer: PeerIx) -> Option<PeerIx> {
        let address = self.peers.get(newcomer)?.address?;
        self.worst_of_a_larger_crowd(crowd, address)
    }

    /// Replaces members without first deliveries, while others have some, by peers outside the mesh:
    /// preferably those that delivered messages first on request.
    pub(crate) fn exchange_idle_members(&mut self, ix: TopicIx) {
        let topic = self.topics.get(ix);
        let brought = |peer: &PeerIx| self.scores.first_deliveries(*peer, ix);
        let all = topic
            .subscribers
            .as_slice()
            .iter()
            .map(brought)
            .sum::<f64>();
        if all < BUSY_FIRST_DELIVERIES || topic.mesh.len() < self.config.degrees.d_low {
            return;
        }
        let mesh = topic.mesh.as_slice().iter().copied();
        let is_idle = |peer: &PeerIx| {
            brought(peer) == 0.0
                && self.scores.time_in_mesh(*peer, ix, self.now) >= Some(IDLE_AFTER)
        };
        let mut idle: Vec<_> = mesh.filter(is_idle).collect();
        let mut others = self.graftable(ix);
        let count = self.config.opportunistic_graft_peers;
        let count = count.min(idle.len()).min(others.len());
        self.rng.choose(&mut idle, count);
        self.rng.shuffle(&mut others);
        others.sort_by(|a, b| {
            let brought = |peer: &PeerIx| self.scores.first_deliveries(*peer, ix);
            brought(b).total_cmp(&brought(a))
        });
        for (idle, other) in idle.into_iter().zip(others).take(count) {
            self.prune(ix, idle, self.config.prune_backoff, true);
            self.graft(ix, other);
        }
    }
}
