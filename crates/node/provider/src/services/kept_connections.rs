//! Keeps idle connections to service peers from being closed.
//!
//! An idle connection is closed after half a minute, and one that a service has used after five minutes. Without this,
//! a node that does not relay would lose its peers while it has no subscriptions, and publish late.

use std::time::Duration;

use futures::AsyncWriteExt as _;
use libp2p::StreamProtocol;
use tokio::time::{MissedTickBehavior, interval};
use undertone_services::light::Services;
use undertone_services::{PeerNo, filter, lightpush, store};

use super::LightpushVersion;
use super::service_peers::{ServicePeerEvent, ServicePeers};
use undertone_network::swarm::StreamOpener;

/// Interval at which each connection is used, shorter than the five minutes for which a use keeps it open.
const USING: Duration = Duration::from_secs(240);

/// Uses the connections to service peers until the node stops. A relaying node does this for named peers only, because
/// the mesh keeps the others.
pub(super) async fn keep(peers: ServicePeers, streams: StreamOpener, is_relay: bool) {
    let mut events = peers.watch();
    let mut using = interval(USING);
    using.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let used = tokio::select! {
            event = events.recv() => match event {
                None => return,
                Some(ServicePeerEvent::Connected(peer)) => vec![peer],
                Some(_) => Vec::new(),
            },
            _ = using.tick() => {
                let connected = peers.offers().into_iter().filter(|(_, is_connected)| *is_connected);
                connected.map(|(offer, _)| offer.peer).collect()
            }
        };
        for peer in used {
            if !is_relay || peers.is_configured(peer) {
                tokio::spawn(use_connection(peers.clone(), streams.clone(), peer));
            }
        }
    }
}

/// Opens and closes a stream, which both ends count as a use of the connection.
async fn use_connection(peers: ServicePeers, streams: StreamOpener, peer: PeerNo) {
    let offers = peers.offers();
    let offered = offers.iter().find(|(one, _)| one.peer == peer);
    let (Some((offered, _)), Some(identity)) = (offered, peers.identity(peer)) else {
        return;
    };
    let Some(protocol) = protocol(offered.services, peers.lightpush_version(peer)) else {
        return;
    };
    // A peer that refuses the stream is detected when it is needed.
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
