//! Connections of a node without relay to its service peers: made, and kept while nothing is asked.
//!
//! A connection on which nothing happens is closed after half a minute, and one that a service used after five minutes.
//! A node that does not relay would lose its peers while it has no subscriptions, and publish late.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::AsyncWriteExt as _;
use libp2p::StreamProtocol;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use undertone_services::light::Services;
use undertone_services::{PeerNo, filter, lightpush, store};

use super::LightpushVersion;
use super::service_peers::{ServicePeerEvent, ServicePeers};
use crate::swarm::StreamOpener;

/// Interval at which a connection is used, less than the five minutes for which a use keeps it.
const USING: Duration = Duration::from_secs(240);

/// First wait before a configured peer is dialled again; it doubles.
const RETRY_FIRST: Duration = Duration::from_secs(1);

/// Longest wait before a configured peer is dialled again.
const RETRY_MAX: Duration = Duration::from_secs(60);

/// Longest sleep while no peer is to be dialled.
const IDLE: Duration = Duration::from_secs(3_600);

/// Attempt to connect to a configured peer.
struct Retry {
    at: Instant,
    wait: Duration,
}

/// Keeps connections to service peers until the node stops.
pub(super) async fn keep(peers: ServicePeers, streams: StreamOpener) {
    let mut events = peers.watch();
    let mut using = interval(USING);
    using.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut retries: BTreeMap<PeerNo, Retry> = BTreeMap::new();
    loop {
        let first = retries.values().map(|retry| retry.at).min();
        let first = first.unwrap_or_else(|| Instant::now() + IDLE);
        tokio::select! {
            event = events.recv() => match event {
                None => return,
                Some(ServicePeerEvent::Found(found)) => {
                    if peers.is_configured(found.peer) && !is_connected(&peers, found.peer) {
                        let wait = RETRY_FIRST;
                        retries.entry(found.peer).or_insert(Retry { at: Instant::now(), wait });
                    }
                }
                Some(ServicePeerEvent::Connected(peer)) => {
                    retries.remove(&peer);
                    tokio::spawn(use_connection(peers.clone(), streams.clone(), peer));
                }
                Some(ServicePeerEvent::Disconnected(peer)) => {
                    if peers.is_configured(peer) {
                        let (at, wait) = (Instant::now() + RETRY_FIRST, RETRY_FIRST);
                        retries.insert(peer, Retry { at, wait });
                    }
                }
                Some(ServicePeerEvent::ConnectFailed(peer)) => {
                    if let Some(retry) = retries.get_mut(&peer) {
                        retry.at = Instant::now() + retry.wait;
                    }
                }
                Some(ServicePeerEvent::Lost(peer)) => {
                    retries.remove(&peer);
                }
            },
            _ = using.tick() => {
                for (peer, is_connected) in peers.offers() {
                    if is_connected {
                        tokio::spawn(use_connection(peers.clone(), streams.clone(), peer.peer));
                    }
                }
            }
            () = sleep_until(first) => {
                let now = Instant::now();
                for (peer, retry) in &mut retries {
                    if retry.at <= now {
                        retry.wait = (retry.wait * 2).min(RETRY_MAX);
                        retry.at = now + RETRY_MAX;
                        peers.connect(*peer);
                    }
                }
            }
        }
    }
}

fn is_connected(peers: &ServicePeers, peer: PeerNo) -> bool {
    let offers = peers.offers();
    offers.iter().any(|(one, is_up)| one.peer == peer && *is_up)
}

/// Opens and closes a stream, which both ends take as a use of the connection.
async fn use_connection(peers: ServicePeers, streams: StreamOpener, peer: PeerNo) {
    let offers = peers.offers();
    let offered = offers.iter().find(|(one, _)| one.peer == peer);
    let (Some((offered, _)), Some(identity)) = (offered, peers.identity(peer)) else {
        return;
    };
    let Some(protocol) = protocol(offered.services, peers.lightpush_version(peer)) else {
        return;
    };
    // A peer that does not take the stream is found out when it is needed.
    if let Ok(mut stream) = streams.open(identity, protocol).await {
        let _ = stream.close().await;
    }
}

fn protocol(services: Services, version: LightpushVersion) -> Option<StreamProtocol> {
    let id = match (services, version) {
        (Services { filter: true, .. }, _) => filter::SUBSCRIBE_PROTOCOL_ID,
        (Services { store: true, .. }, _) => store::PROTOCOL_ID,
        (
            Services {
                lightpush: true, ..
            },
            LightpushVersion::V3,
        ) => lightpush::PROTOCOL_ID,
        (
            Services {
                lightpush: true, ..
            },
            LightpushVersion::V2,
        ) => lightpush::legacy::PROTOCOL_ID,
        _ => return None,
    };
    Some(StreamProtocol::new(id))
}
