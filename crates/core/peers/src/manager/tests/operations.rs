//! Random operations: whatever discovery, peers and the driver do, bounds hold and nothing panics.

use std::time::Duration;

use proptest::prelude::*;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use undertone_gossip::{Direction, Time};

use crate::manager::{ConnectionManager, ManagerConfig};
use crate::tests::{address, peer};
use crate::{Capabilities, Input, Output, PeerFacts, PeerOffer, PeerSource};

#[derive(Clone, Debug)]
enum Operation {
    Offer(u32, u8, u32),
    Connected(u32, bool),
    Disconnected(u32),
    DialFailed(u32),
    Learned(u32, u16, Vec<u16>, u8),
    Protected(u32, bool),
    Shards(Vec<u16>),
    Services(u8, usize),
    Wait(u64),
}

fn operation() -> impl Strategy<Value = Operation> {
    let number = 0..40u32;
    prop_oneof![
        4 => (number.clone(), 0..8u8, 0..300u32).prop_map(|(n, s, a)| Operation::Offer(n, s, a)),
        3 => (number.clone(), any::<bool>()).prop_map(|(n, d)| Operation::Connected(n, d)),
        2 => number.clone().prop_map(Operation::Disconnected),
        2 => number.clone().prop_map(Operation::DialFailed),
        2 => (number.clone(), 1..3u16, prop::collection::vec(0..4u16, 0..3), any::<u8>())
            .prop_map(|(n, c, s, k)| Operation::Learned(n, c, s, k)),
        1 => (number, any::<bool>()).prop_map(|(n, p)| Operation::Protected(n, p)),
        1 => prop::collection::vec(0..4u16, 0..3).prop_map(Operation::Shards),
        1 => (any::<u8>(), 0..4usize).prop_map(|(k, n)| Operation::Services(k, n)),
        3 => (0..120_000u64).prop_map(Operation::Wait),
    ]
}

const SOURCES: [PeerSource; 8] = [
    PeerSource::Static,
    PeerSource::Remembered,
    PeerSource::Dns,
    PeerSource::Discv5,
    PeerSource::Rendezvous,
    PeerSource::PeerExchange,
    PeerSource::Prune,
    PeerSource::Inbound,
];

fn input(operation: Operation) -> Option<Input> {
    Some(match operation {
        Operation::Offer(number, source, at) => Input::Offer(PeerOffer {
            addresses: vec![address(at)],
            ..PeerOffer::new(peer(number), SOURCES[usize::from(source)])
        }),
        Operation::Connected(number, is_ours) => Input::Connected {
            peer: peer(number),
            address: address(number),
            direction: match is_ours {
                true => Direction::Outbound,
                false => Direction::Inbound,
            },
        },
        Operation::Disconnected(number) => Input::Disconnected(peer(number)),
        Operation::DialFailed(number) => Input::DialFailed(peer(number)),
        Operation::Learned(number, cluster, shards, kinds) => Input::Learned {
            peer: peer(number),
            facts: PeerFacts {
                cluster: Some(cluster),
                shards: Some(shards),
                capabilities: Some(Capabilities(kinds)),
            },
            listens_at: vec![address(number)],
        },
        Operation::Protected(number, is_protected) => Input::Protected {
            peer: peer(number),
            is_protected,
        },
        Operation::Shards(shards) => Input::Shards(shards),
        Operation::Services(kinds, number) => Input::Services(vec![(Capabilities(kinds), number)]),
        Operation::Wait(_) => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bounds_hold_whatever_happens(
        operations in prop::collection::vec(operation(), 1..300),
        seed in any::<u64>(),
    ) {
        let mut config = ManagerConfig::new(peer(0), 1);
        config.targets.connections_max = 12;
        config.targets.dials_max = 3;
        config.store.peers_max = 16;
        let mut manager = ConnectionManager::new(config, ChaCha8Rng::seed_from_u64(seed));
        let mut now = Time::ZERO;
        let mut last_dial = None;
        for operation in operations {
            match operation {
                Operation::Wait(wait_ms) => {
                    let until = now.after(Duration::from_millis(wait_ms));
                    // Timers are served; one that is always due at once would never let time pass.
                    let mut ticks = 0;
                    while manager.next_timeout() <= until {
                        now = now.max(manager.next_timeout());
                        manager.handle(now, Input::Tick);
                        ticks += 1;
                        prop_assert!(ticks < 20_000, "a timer that never advances");
                    }
                    now = until;
                }
                other => {
                    if let Some(input) = input(other) {
                        manager.handle(now, input);
                    }
                }
            }
            while let Some(output) = manager.poll() {
                if let Output::Dial { peer: dialled, addresses } = output {
                    prop_assert_ne!(dialled, peer(0), "this node itself");
                    prop_assert!(!addresses.is_empty());
                    last_dial = Some(now);
                }
            }
            let entries = || manager.store().iter().map(|(_, entry)| entry);
            prop_assert!(entries().filter(|entry| entry.is_dialling()).count() <= 3);
            let idle = entries().filter(|entry| !entry.is_connected()).count();
            prop_assert!(idle <= 16 + 40);
            for entry in entries() {
                prop_assert!(entry.addresses.len() <= 8);
            }
        }
        let _ = last_dial;
    }
}
