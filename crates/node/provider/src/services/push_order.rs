//! Order in which lightpush peers are asked: those that failed recently come last.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use libp2p::Multiaddr;
use parking_lot::Mutex;

use super::service_peers::Candidate;

/// Time for which a failure is remembered.
const REMEMBERED: Duration = Duration::from_secs(60);

/// Lightpush peers that failed recently.
#[derive(Debug, Default)]
pub(super) struct PushOrder(Mutex<BTreeMap<Multiaddr, Instant>>);

impl PushOrder {
    /// Moves peers that failed recently behind the others, ordered from the oldest failure to the latest.
    pub(super) fn sort(&self, now: Instant, peers: &mut [Candidate]) {
        let mut failed = self.0.lock();
        failed.retain(|_, at| now.duration_since(*at) < REMEMBERED);
        peers.sort_by_key(|peer| failed.get(&peer.address).copied());
    }

    /// Records a failure.
    pub(super) fn failed(&self, now: Instant, peer: &Multiaddr) {
        self.0.lock().insert(peer.clone(), now);
    }

    /// Records an answer, even a refusal of the message.
    pub(super) fn answered(&self, peer: &Multiaddr) {
        self.0.lock().remove(peer);
    }
}

#[cfg(test)]
mod tests {
    use undertone_services::PeerNo;
    use undertone_services::trust::{Standing, Witness};

    use super::*;

    #[test]
    fn peers_that_failed_come_last_for_a_minute() {
        let (order, start) = (PushOrder::default(), Instant::now());
        let peer =
            |port: u16| -> Multiaddr { format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap() };
        let sorted = |after_s: u64| {
            let witness = Witness {
                peer: PeerNo(0),
                standing: Standing::Known,
                network: None,
            };
            let mut peers = [1, 2, 3].map(|port| Candidate {
                address: peer(port),
                witness,
            });
            order.sort(start + Duration::from_secs(after_s), &mut peers);
            peers.map(|peer| peer.address)
        };
        assert_eq!(sorted(0), [peer(1), peer(2), peer(3)]);
        order.failed(start, &peer(2));
        order.failed(start + Duration::from_secs(5), &peer(1));
        assert_eq!(sorted(10), [peer(3), peer(2), peer(1)]);
        order.answered(&peer(2));
        assert_eq!(sorted(11), [peer(2), peer(3), peer(1)]);
        assert_eq!(sorted(66), [peer(1), peer(2), peer(3)]);
    }
}
