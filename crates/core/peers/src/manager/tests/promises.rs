//! Guarantees of the connection manager, tested in a network of managers and alone.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use undertone_gossip::{Direction, Time};

use super::world::{World, number_of, offer_of};
use crate::manager::{ConnectionManager, ManagerConfig};
use crate::tests::{address, peer};
use crate::{
    Capabilities, CloseReason, ConnectionTargets, Input, Output, PeerDemand, PeerFacts, PeerOffer,
    PeerSource,
};

const SEEDS: std::ops::Range<u64> = 0..8;

fn seconds(seconds: u64) -> Time {
    Time::ZERO.after(Duration::from_secs(seconds))
}

fn manager() -> ConnectionManager {
    let config = ManagerConfig::new(peer(0), 1);
    let mut manager = ConnectionManager::new(config, ChaCha8Rng::seed_from_u64(1));
    manager.handle(Time::ZERO, Input::Shards(vec![0]));
    manager
}

fn outputs(manager: &mut ConnectionManager) -> Vec<Output> {
    std::iter::from_fn(|| manager.poll()).collect()
}

fn connect(manager: &mut ConnectionManager, now: Time, number: u32, direction: Direction) {
    let (peer, address) = (peer(number), address(number));
    let connected = Input::Connected {
        peer,
        address,
        direction,
    };
    manager.handle(now, connected);
    let facts = PeerFacts {
        cluster: Some(1),
        shards: Some(vec![0]),
        capabilities: None,
    };
    let listens_at = vec![address_of(number)];
    let learned = Input::Learned {
        peer,
        facts,
        listens_at,
    };
    manager.handle(now, learned);
}

fn address_of(number: u32) -> multiaddr::Multiaddr {
    address(number)
}

#[test]
fn nodes_that_know_one_other_have_their_peers_within_ten_seconds() {
    for seed in SEEDS {
        let mut world = World::new(50, seed);
        world.run(Duration::from_secs(10));
        for number in 0..50 {
            assert!(world.degree(number) >= 10, "seed {seed}, node {number}");
        }
        assert!(world.is_whole(), "seed {seed}");
    }
}

#[test]
fn a_network_cut_in_half_for_an_hour_is_whole_within_a_minute() {
    for (nodes, seed) in [4, 10, 40, 200].into_iter().zip(SEEDS) {
        let mut world = World::new(nodes, seed);
        world.run(Duration::from_secs(60));
        world.cut();
        assert!(!world.is_whole());
        world.run(Duration::from_secs(3_600));
        assert!(!world.is_whole());
        world.mend();
        let mut after_s = 0;
        while !world.is_whole() && after_s < 60 {
            world.run(Duration::from_secs(1));
            after_s += 1;
        }
        assert!(world.is_whole(), "{nodes} nodes, seed {seed}");
    }
}

#[test]
fn dials_stay_few_while_half_of_the_network_is_gone() {
    let mut world = World::new(40, 3);
    world.run(Duration::from_secs(60));
    world.cut();
    world.run(Duration::from_secs(60));
    let before = world.dials;
    world.run(Duration::from_secs(3_600));
    let per_node_and_minute = (world.dials - before) as f64 / 40.0 / 60.0;
    assert!(per_node_and_minute < 5.0, "{per_node_and_minute}");
}

/// Every second, discovery offers a peer that nobody ever reaches.
#[test]
fn a_dead_peer_that_is_offered_for_ever_is_dialled_ever_more_seldom() {
    let mut manager = manager();
    let mut dials_s = Vec::new();
    let mut offered = offer_of(1);
    for now_s in 1..=3_600 {
        let now = seconds(now_s);
        manager.handle(now, Input::Offer(offered.clone()));
        let dials = outputs(&mut manager).into_iter();
        if dials
            .filter(|output| matches!(output, Output::Dial { .. }))
            .count()
            > 0
        {
            dials_s.push(now_s);
            manager.handle(now, Input::DialFailed(peer(1)));
        }
        outputs(&mut manager);
    }
    let (first, later): (Vec<u64>, Vec<u64>) = dials_s.iter().partition(|at| **at < 200);
    assert_eq!(first.len(), 5, "{dials_s:?}");
    assert!(
        (4..=6).contains(&later.len()),
        "once in ten minutes: {dials_s:?}"
    );
    // At another address it is worth a new try.
    offered.addresses = vec![address(77)];
    manager.handle(seconds(3_601), Input::Offer(offered));
    assert_eq!(
        manager.store().get(&peer(1)).map(|entry| entry.failures),
        Some(0)
    );
}

/// A peer that was given up dials this node itself, and leaves.
#[test]
fn a_peer_that_was_given_up_and_connects_is_forgiven() {
    let mut manager = manager();
    let mut now_s = 0;
    while now_s < 200 {
        now_s += 1;
        manager.handle(seconds(now_s), Input::Offer(offer_of(1)));
        manager.handle(seconds(now_s), Input::DialFailed(peer(1)));
    }
    assert!(manager.store().get(&peer(1)).is_none());
    connect(&mut manager, seconds(201), 1, Direction::Inbound);
    manager.handle(seconds(202), Input::Disconnected(peer(1)));
    manager.handle(seconds(203), Input::Offer(offer_of(1)));
    let entry = manager.store().get(&peer(1));
    assert!(entry.is_some(), "it is there");
}

#[test]
fn peers_of_another_cluster_are_closed_and_forgotten() {
    let mut manager = manager();
    connect(&mut manager, seconds(1), 1, Direction::Inbound);
    outputs(&mut manager);
    let facts = PeerFacts {
        cluster: Some(2),
        ..PeerFacts::default()
    };
    let learned = Input::Learned {
        peer: peer(1),
        facts,
        listens_at: Vec::new(),
    };
    manager.handle(seconds(2), learned);
    let closed = Output::Close {
        peer: peer(1),
        reason: CloseReason::OtherCluster,
    };
    assert!(outputs(&mut manager).contains(&closed));
    assert!(manager.store().get(&peer(1)).is_none());
}

#[test]
fn too_many_connections_are_pruned_but_no_mesh_is_cut() {
    let mut manager = manager();
    for number in 1..=200 {
        connect(&mut manager, seconds(1), number, Direction::Inbound);
        manager.handle(
            seconds(1),
            Input::Protected {
                peer: peer(number),
                is_protected: number <= 20,
            },
        );
    }
    outputs(&mut manager);
    manager.handle(seconds(100), Input::Tick);
    let closed: Vec<_> = outputs(&mut manager)
        .into_iter()
        .filter_map(|output| match output {
            Output::Close { peer, reason } => Some((peer, reason)),
            _ => None,
        })
        .collect();
    assert_eq!(closed.len(), 200 - 135);
    for (closed, reason) in closed {
        assert_eq!(reason, CloseReason::TooMany);
        assert!((1..=20).all(|mesh| closed != peer(mesh)));
    }
}

#[test]
fn peers_on_other_shards_go_before_those_on_ours() {
    let mut manager = manager();
    for number in 1..=150 {
        let at = seconds(1);
        connect(&mut manager, at, number, Direction::Inbound);
        if number % 10 == 0 {
            let facts = PeerFacts {
                cluster: Some(1),
                shards: Some(vec![5]),
                capabilities: None,
            };
            let peer = peer(number);
            let learned = Input::Learned {
                peer,
                facts,
                listens_at: Vec::new(),
            };
            manager.handle(at, learned);
        }
    }
    outputs(&mut manager);
    manager.handle(seconds(100), Input::Tick);
    let closed = outputs(&mut manager).into_iter().filter_map(|o| match o {
        Output::Close { peer, .. } => Some(peer),
        _ => None,
    });
    let closed: Vec<_> = closed.collect();
    assert_eq!(closed.len(), 15);
    for number in (10..=150).step_by(10) {
        assert!(closed.contains(&peer(number)), "{number} is on shard 5");
    }
}

#[test]
fn a_service_that_is_wanted_is_looked_for_until_a_peer_offers_it() {
    let mut manager = manager();
    let services = vec![(Capabilities::STORE, 1)];
    manager.handle(seconds(1), Input::Services(services));
    let wanted = Output::Discover(PeerDemand::Service(Capabilities::STORE));
    assert!(outputs(&mut manager).contains(&wanted));
    let mut offer = offer_of(7);
    offer.facts.capabilities = Some(Capabilities::STORE);
    offer.facts.shards = Some(vec![]);
    manager.handle(seconds(2), Input::Offer(offer));
    let dialled = outputs(&mut manager)
        .into_iter()
        .any(|output| matches!(output, Output::Dial { peer: to, .. } if to == peer(7)));
    assert!(dialled);
}

#[test]
fn a_victim_that_liars_name_is_dialled_seldom() {
    let mut manager = manager();
    let mut dials = 0;
    for number in 1..=2_000u32 {
        let now = Time::ZERO.after(Duration::from_millis(u64::from(number) * 50));
        let mut lie = PeerOffer::new(peer(number), PeerSource::PeerExchange);
        lie.addresses = vec!["/ip4/8.8.8.8/tcp/443".parse().expect("an address")];
        lie.told_by = Some(peer(10_000 + number / 50));
        manager.handle(now, Input::Offer(lie));
        for output in outputs(&mut manager) {
            if let Output::Dial { peer, .. } = output {
                dials += 1;
                manager.handle(now, Input::DialFailed(peer));
            }
        }
    }
    // In a hundred seconds, one dial in five.
    assert!((1..=20).contains(&dials), "{dials}");
}

#[test]
fn a_peer_that_hangs_up_at_once_is_left_alone_for_longer_and_longer() {
    let mut manager = manager();
    manager.handle(seconds(0), Input::Offer(offer_of(1)));
    let mut dials = Vec::new();
    let mut now = Time::ZERO;
    while now < seconds(600) {
        for output in outputs(&mut manager) {
            if let Output::Dial { .. } = output {
                dials.push(now);
                connect(&mut manager, now, 1, Direction::Outbound);
                manager.handle(now, Input::Disconnected(peer(1)));
            }
        }
        now = now.after(Duration::from_millis(500));
        manager.handle(now, Input::Tick);
    }
    assert!(dials.len() <= 45, "{}", dials.len());
}

#[test]
fn dials_that_the_driver_never_answers_expire() {
    let mut manager = manager();
    manager.handle(seconds(0), Input::Offer(offer_of(1)));
    assert!(
        manager
            .store()
            .get(&peer(1))
            .expect("offered")
            .is_dialling()
    );
    assert!(manager.next_timeout() <= seconds(25));
    manager.handle(seconds(21), Input::Tick);
    let entry = manager.store().get(&peer(1)).expect("it may come back");
    assert_eq!((entry.is_dialling(), entry.failures), (false, 1));
}

#[test]
fn an_attacker_with_one_network_gets_few_of_the_dials() {
    let mut manager = manager();
    for number in 1..=30 {
        let mut sybil = offer_of(number);
        let text = format!("/ip4/66.6.6.{number}/tcp/60000");
        sybil.addresses = vec![text.parse().expect("an address")];
        manager.handle(seconds(0), Input::Offer(sybil));
    }
    let mut dialled = 0;
    for second in 0..120 {
        manager.handle(seconds(second), Input::Tick);
        for output in outputs(&mut manager) {
            if let Output::Dial { peer, addresses } = output {
                dialled += 1;
                let (direction, address) = (Direction::Outbound, addresses[0].clone());
                let connected = Input::Connected {
                    peer,
                    address,
                    direction,
                };
                manager.handle(seconds(second), connected);
            }
        }
    }
    assert_eq!(dialled, 8, "of thirty in one /24");
}

#[test]
fn a_peer_that_was_reached_and_is_gone_is_dialled_twice_a_minute_at_most_and_never_given_up() {
    let mut manager = manager();
    manager.handle(seconds(0), Input::Offer(offer_of(1)));
    outputs(&mut manager);
    connect(&mut manager, seconds(1), 1, Direction::Outbound);
    manager.handle(seconds(100), Input::Disconnected(peer(1)));
    let mut dials_s = Vec::new();
    for second in 100..4_000 {
        manager.handle(seconds(second), Input::Tick);
        for output in outputs(&mut manager) {
            if let Output::Dial { peer, .. } = output {
                dials_s.push(second);
                manager.handle(seconds(second), Input::DialFailed(peer));
            }
        }
    }
    let later_s: Vec<u64> = dials_s.into_iter().filter(|at| *at > 280).collect();
    for three in later_s.windows(3) {
        assert!(three[2] - three[0] >= 60, "{later_s:?}");
    }
    assert!(
        later_s.last().is_some_and(|last| *last > 3_900),
        "{later_s:?}"
    );
}

#[test]
fn a_node_whose_mesh_stays_thin_seeks_more_peers_until_it_has_its_mesh() {
    let mut manager = manager();
    let wanted = ConnectionTargets::default().per_shard;
    for number in 1..=40 {
        manager.handle(seconds(0), Input::Offer(offer_of(number)));
    }
    let dial_for = |manager: &mut ConnectionManager, from_s: u64| {
        for second in from_s..from_s + 60 {
            manager.handle(seconds(second), Input::Tick);
            for output in outputs(manager) {
                if let Output::Dial { peer, .. } = output {
                    connect(
                        manager,
                        seconds(second),
                        number_of(&peer),
                        Direction::Outbound,
                    );
                }
            }
        }
        let entries = manager.store().iter();
        entries.filter(|(_, entry)| entry.is_connected()).count()
    };
    // Probes every 20 s come in addition.
    let usual = dial_for(&mut manager, 0);
    assert!((wanted..wanted + 5).contains(&usual), "{usual}");
    manager.handle(seconds(60), Input::ThinMeshes(vec![0]));
    let more = dial_for(&mut manager, 60);
    assert!((2 * wanted..2 * wanted + 8).contains(&more), "{more}");
    manager.handle(seconds(120), Input::ThinMeshes(Vec::new()));
    let after = dial_for(&mut manager, 120);
    assert!(after < more + 5, "{after}");
}
