//! Tests of the watch: events for machines when peers connect, announce services, change and leave.

use std::collections::BTreeSet;

use libp2p::multiaddr::Protocol;
use libp2p::{Multiaddr, PeerId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;
use tokio::sync::mpsc;
use undertone_services::PeerNo;
use undertone_services::light::{ServicePeer, Services};
use undertone_services::trust::Standing;

use super::table::{Candidate, ConfiguredPeers, DialPlan, ServicePeerTable};
use super::{ServicePeerEvent, ServicePeers};
use crate::services::LightpushVersion;
use undertone_network::command::{Command, ConnectFailure};
use undertone_network::driver::PeerNews;
use undertone_network::handle::{NodeEndpoint, node_channel};

use ServicePeerEvent::{ConnectFailed, Connected, Disconnected, Found, Lost};

const CLUSTER: u16 = 66;
const FILTER: &str = "/vac/waku/filter-subscribe/2.0.0-beta1";
const STORE: &str = "/vac/waku/store-query/3.0.0";
const PUSH_V2: &str = "/vac/waku/lightpush/2.0.0-beta1";
const PUSH_V3: &str = "/vac/waku/lightpush/3.0.0";
const METADATA: &str = "/vac/waku/metadata/1.0.0";

const ONLY_FILTER: Services = Services {
    filter: true,
    lightpush: false,
    store: false,
};

fn address(port: u16) -> Multiaddr {
    format!("/ip4/127.0.0.1/tcp/{port}").parse().unwrap()
}

fn connected(peer: PeerId) -> PeerNews {
    PeerNews::Connected {
        peer,
        is_chosen: true,
        network: None,
    }
}

fn announced(peer: PeerId, protocols: &[&str]) -> PeerNews {
    PeerNews::Announced {
        peer,
        protocols: protocols.iter().map(|id| (*id).to_owned()).collect(),
        address: Some(address(1)),
    }
}

fn shards(peer: PeerId, shards: &[u16]) -> PeerNews {
    let shards = shards.to_vec();
    PeerNews::Shards { peer, shards }
}

fn found(peer: u64, services: Services, topics: Option<&[&str]>) -> ServicePeerEvent {
    let topics = topics.map(|topics| topics.iter().map(|topic| (*topic).into()).collect());
    Found(ServicePeer {
        peer: PeerNo(peer),
        services,
        pubsub_topics: topics,
        filters_all: false,
        standing: Standing::Known,
        network: None,
    })
}

/// The same for a peer that the configuration names.
fn found_named(peer: u64, services: Services) -> ServicePeerEvent {
    match found(peer, services, None) {
        Found(peer) => Found(ServicePeer {
            filters_all: peer.services.filter,
            standing: Standing::Named,
            ..peer
        }),
        event => event,
    }
}

fn table() -> ServicePeerTable {
    ServicePeerTable::new(&ConfiguredPeers::default(), CLUSTER)
}

#[test]
fn a_peer_is_told_of_once_it_has_said_what_it_offers_and_where() {
    let (mut table, peer) = (table(), PeerId::random());
    assert_eq!(table.news(connected(peer)), []);
    assert_eq!(table.news(announced(peer, &[FILTER, METADATA])), []);
    assert_eq!(
        table.news(shards(peer, &[0, 3])),
        [
            found(
                0,
                ONLY_FILTER,
                Some(&["/waku/2/rs/66/0", "/waku/2/rs/66/3"])
            ),
            Connected(PeerNo(0)),
        ]
    );
    assert_eq!(table.identity(PeerNo(0)), Some(peer));
    assert_eq!(table.number(peer), Some(PeerNo(0)));
}

#[test]
fn a_peer_without_metadata_serves_every_topic() {
    let (mut table, peer) = (table(), PeerId::random());
    table.news(connected(peer));
    assert_eq!(
        table.news(announced(peer, &[FILTER])),
        [found(0, ONLY_FILTER, None), Connected(PeerNo(0))]
    );
    // The same holds for a peer whose metadata names no shard.
    let other = PeerId::random();
    table.news(connected(other));
    table.news(announced(other, &[FILTER, METADATA]));
    assert_eq!(
        table.news(shards(other, &[])),
        [found(1, ONLY_FILTER, None), Connected(PeerNo(1))]
    );
}

#[test]
fn a_peer_that_never_says_what_it_offers_is_taken_as_it_was_known() {
    let peer = PeerId::random();
    let named = address(7).with(Protocol::P2p(peer));
    let configured = ConfiguredPeers {
        filter: vec![named],
        ..ConfiguredPeers::default()
    };
    let mut table = ServicePeerTable::new(&configured, CLUSTER);
    assert_eq!(table.present(), [found_named(0, ONLY_FILTER)]);
    table.news(connected(peer));
    let first = table.greeting(peer).unwrap();
    table.news(PeerNews::Disconnected(peer));
    table.news(connected(peer));
    assert_eq!(
        table.greeted_enough(peer, first),
        [],
        "that connection is over"
    );
    let second = table.greeting(peer).unwrap();
    assert_eq!(table.greeted_enough(peer, second), [Connected(PeerNo(0))]);
    assert_eq!(table.greeting(peer), None);
}

#[test]
fn peers_without_services_are_not_spoken_of() {
    let (mut table, peer) = (table(), PeerId::random());
    table.news(connected(peer));
    assert_eq!(table.news(announced(peer, &["/ipfs/ping/1.0.0"])), []);
    assert_eq!(table.present(), []);
    assert_eq!(table.news(PeerNews::Disconnected(peer)), []);
    assert_eq!(table.number(peer), None);
}

#[test]
fn where_the_configuration_names_peers_for_a_service_others_do_not_count() {
    let (named, other) = (PeerId::random(), PeerId::random());
    let configured = ConfiguredPeers {
        filter: vec![address(7).with(Protocol::P2p(named))],
        ..ConfiguredPeers::default()
    };
    let mut table = ServicePeerTable::new(&configured, CLUSTER);
    table.news(connected(other));
    let only_store = Services {
        store: true,
        ..Services::default()
    };
    assert_eq!(
        table.news(announced(other, &[FILTER, STORE])),
        [found(1, only_store, None), Connected(PeerNo(1))]
    );
    // The named peer counts as a filter peer without announcing it, and as a store because it
    // announces that.
    table.news(connected(named));
    let both = Services {
        store: true,
        ..ONLY_FILTER
    };
    assert_eq!(
        table.news(announced(named, &[STORE])),
        [found_named(0, both), Connected(PeerNo(0))]
    );
}

#[test]
fn a_peer_that_dialled_in_stays_a_stranger_when_it_is_dialled_for_its_offer() {
    let (peer, mut table) = (PeerId::random(), table());
    let standing = |events: Vec<ServicePeerEvent>| match &events[..] {
        [Found(found), ..] => found.standing,
        other => panic!("{other:?}"),
    };
    table.news(dialled_in(peer));
    let offer = table.news(announced(peer, &[STORE]));
    assert_eq!(standing(offer), Standing::Stranger);
    table.news(PeerNews::Disconnected(peer));
    table.dial(PeerNo(0)).unwrap();
    table.news(connected(peer));
    assert_eq!(
        table.news(announced(peer, &[STORE])),
        [Connected(PeerNo(0))]
    );
    // A peer that the node dials for other reasons is not a stranger.
    table.news(PeerNews::Disconnected(peer));
    table.news(connected(peer));
    let offer = table.news(announced(peer, &[STORE]));
    assert_eq!(standing(offer), Standing::Known);
}

fn dialled_in(peer: PeerId) -> PeerNews {
    PeerNews::Connected {
        peer,
        is_chosen: false,
        network: None,
    }
}

/// Identities of the candidates for a store.
fn stores(table: &mut ServicePeerTable, named: &[Multiaddr], seed: u64) -> Vec<PeerId> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let candidates = table.candidates(STORE, named, &mut rng).into_iter();
    let identity = |one: Candidate| table.identity(one.witness.peer).unwrap();
    candidates.map(identity).collect()
}

#[test]
fn a_peer_that_the_node_dialled_is_asked_before_those_that_dialled_in_whatever_their_ids() {
    let mut table = table();
    let (own, strangers) = (PeerId::random(), [PeerId::random(), PeerId::random()]);
    for stranger in strangers {
        table.news(dialled_in(stranger));
        table.news(announced(stranger, &[STORE, PUSH_V3]));
    }
    table.news(connected(own));
    table.news(announced(own, &[STORE]));
    let mut seconds = BTreeSet::new();
    for seed in 0..20 {
        let order = stores(&mut table, &[], seed);
        assert_eq!((order.len(), order[0]), (3, own));
        seconds.insert(order[1]);
    }
    assert_eq!(seconds, BTreeSet::from(strangers), "equals at random");
    let named = PeerId::random();
    let address = address(7).with(Protocol::P2p(named));
    assert_eq!(stores(&mut table, &[address], 1), [named], "alone");
    table.news(PeerNews::Disconnected(own));
    assert_eq!(stores(&mut table, &[], 1).len(), 2);
}

#[test]
fn a_stranger_is_one_no_more_once_it_agrees_with_a_peer_that_is_none() {
    let mut table = table();
    let peers: Vec<_> = (0..3).map(|_| PeerId::random()).collect();
    for peer in &peers {
        let is_first = peer == &peers[0];
        table.news(if is_first {
            connected(*peer)
        } else {
            dialled_in(*peer)
        });
        table.news(announced(*peer, &[STORE]));
    }
    assert_eq!(
        table.agreed(&[PeerNo(1), PeerNo(2)]),
        [],
        "strangers vouch for nothing"
    );
    let known = table.agreed(&[PeerNo(0), PeerNo(1)]);
    let [Found(known)] = &known[..] else {
        panic!("{known:?}");
    };
    assert_eq!((known.peer, known.standing), (PeerNo(1), Standing::Known));
    for seed in 0..10 {
        assert_eq!(stores(&mut table, &[], seed)[2], peers[2]);
    }
}

#[test]
fn what_a_connected_peer_says_anew_is_passed_on() {
    let (mut table, peer) = (table(), PeerId::random());
    table.news(connected(peer));
    table.news(announced(peer, &[FILTER, METADATA]));
    table.news(shards(peer, &[0]));
    assert_eq!(table.news(shards(peer, &[0])), [], "nothing new");
    let one = Some(&["/waku/2/rs/66/1"][..]);
    assert_eq!(table.news(shards(peer, &[1])), [found(0, ONLY_FILTER, one)]);
    assert_eq!(
        table.news(announced(peer, &[METADATA])),
        [found(0, Services::default(), one)]
    );
}

#[test]
fn a_peer_that_knows_only_the_old_lightpush_is_asked_by_it() {
    let (mut table, old, new) = (table(), PeerId::random(), PeerId::random());
    for (peer, protocols) in [(old, &[PUSH_V2][..]), (new, &[PUSH_V2, PUSH_V3])] {
        table.news(connected(peer));
        table.news(announced(peer, protocols));
    }
    assert_eq!(table.lightpush_version(PeerNo(0)), LightpushVersion::V2);
    assert_eq!(table.lightpush_version(PeerNo(1)), LightpushVersion::V3);
}

#[test]
fn a_peer_that_is_gone_can_be_dialled_where_it_was_met() {
    let (mut table, peer) = (table(), PeerId::random());
    table.news(connected(peer));
    table.news(announced(peer, &[FILTER]));
    assert_eq!(table.dial(PeerNo(0)), Err(vec![Connected(PeerNo(0))]));
    assert_eq!(
        table.news(PeerNews::Disconnected(peer)),
        [Disconnected(PeerNo(0))]
    );
    let addresses = vec![address(1).with(Protocol::P2p(peer))];
    assert_eq!(table.dial(PeerNo(0)), Ok(DialPlan { addresses }));
    assert_eq!(
        table.dial(PeerNo(0)),
        Err(Vec::new()),
        "an attempt is under way"
    );
    assert_eq!(table.dialled(PeerNo(0), false), [ConnectFailed(PeerNo(0))]);
    assert!(table.dial(PeerNo(0)).is_ok());
    assert_eq!(table.news(connected(peer)), []);
    assert_eq!(
        table.news(announced(peer, &[FILTER])),
        [Connected(PeerNo(0))]
    );
    assert_eq!(table.dialled(PeerNo(0), true), []);
}

#[test]
fn an_attempt_that_met_another_fails_with_it() {
    let (mut table, peer) = (table(), PeerId::random());
    table.news(connected(peer));
    table.news(announced(peer, &[FILTER]));
    table.news(PeerNews::Disconnected(peer));
    assert_eq!(
        table.news(PeerNews::DialFailed(peer)),
        [],
        "nobody asked for that attempt"
    );
    table.dial(PeerNo(0)).unwrap();
    assert_eq!(table.dialled(PeerNo(0), true), []);
    assert_eq!(
        table.news(PeerNews::DialFailed(peer)),
        [ConnectFailed(PeerNo(0))]
    );
    // Even if the end of an attempt is missed, the next one is made.
    table.dial(PeerNo(0)).unwrap();
    assert_eq!(table.dialled(PeerNo(0), true), []);
    assert!(table.dial(PeerNo(0)).is_ok());
}

#[test]
fn an_unknown_peer_cannot_be_dialled() {
    let mut table = table();
    assert_eq!(table.dial(PeerNo(9)), Err(vec![ConnectFailed(PeerNo(9))]));
}

#[test]
fn of_peers_that_are_gone_the_oldest_is_forgotten_first_and_no_number_returns() {
    let mut table = table();
    let peers: Vec<_> = (0..65).map(|_| PeerId::random()).collect();
    let mut last = Vec::new();
    for peer in &peers {
        table.news(connected(*peer));
        table.news(announced(*peer, &[FILTER]));
        last = table.news(PeerNews::Disconnected(*peer));
    }
    assert_eq!(last, [Disconnected(PeerNo(64)), Lost(PeerNo(0))]);
    assert_eq!(table.number(peers[0]), None);
    table.news(connected(peers[0]));
    assert_eq!(table.number(peers[0]), Some(PeerNo(65)));
}

/// A watch over a node that the test simulates.
fn played(
    configured: ConfiguredPeers,
) -> (ServicePeers, mpsc::UnboundedSender<PeerNews>, NodeEndpoint) {
    let (handle, endpoint) = node_channel();
    let (sender, news) = mpsc::unbounded_channel();
    let peers = ServicePeers::start(
        configured,
        CLUSTER,
        handle,
        news,
        ChaCha8Rng::seed_from_u64(1),
    );
    (peers, sender, endpoint)
}

#[tokio::test]
async fn each_watcher_is_told_everything_and_late_ones_what_is_so() {
    let (peers, news, _node) = played(ConfiguredPeers::default());
    let mut early = peers.watch();
    let peer = PeerId::random();
    news.send(connected(peer)).unwrap();
    news.send(announced(peer, &[FILTER])).unwrap();
    let told = [found(0, ONLY_FILTER, None), Connected(PeerNo(0))];
    for event in &told {
        assert_eq!(early.recv().await.as_ref(), Some(event));
    }
    let mut late = peers.watch();
    for event in &told {
        assert_eq!(late.recv().await.as_ref(), Some(event));
    }
    drop(news);
    assert_eq!(early.recv().await, None, "the node has stopped");
    assert_eq!(late.recv().await, None);
    assert!(peers.watch().recv().await.is_some(), "what was so");
}

#[tokio::test]
async fn a_configured_peer_is_dialled_at_its_addresses_in_turn() {
    let peer = PeerId::random();
    let addresses = [1, 2].map(|port| address(port).with(Protocol::P2p(peer)));
    let configured = ConfiguredPeers {
        store: addresses.to_vec(),
        ..ConfiguredPeers::default()
    };
    let (peers, _news, mut node) = played(configured);
    let mut events = peers.watch();
    let only_store = Services {
        store: true,
        ..Services::default()
    };
    assert_eq!(events.recv().await, Some(found_named(0, only_store)));
    peers.connect(PeerNo(0));
    for expected in addresses {
        let Some(Command::Connect { address, reply, .. }) = node.commands.recv().await else {
            panic!("no attempt");
        };
        assert_eq!(address, expected);
        let reason = "refused".to_owned();
        reply
            .send(Err(ConnectFailure::Dial { address, reason }))
            .unwrap();
    }
    assert_eq!(events.recv().await, Some(ConnectFailed(PeerNo(0))));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_stays_silent_is_used_after_three_seconds() {
    let peer = PeerId::random();
    let configured = ConfiguredPeers {
        store: vec![Multiaddr::empty().with(Protocol::P2p(peer))],
        ..ConfiguredPeers::default()
    };
    let (peers, news, _node) = played(configured);
    let mut events = peers.watch();
    assert!(matches!(events.recv().await, Some(Found(_))));
    let started = tokio::time::Instant::now();
    news.send(connected(peer)).unwrap();
    assert_eq!(events.recv().await, Some(Connected(PeerNo(0))));
    assert_eq!(started.elapsed().as_secs(), 3);
}
