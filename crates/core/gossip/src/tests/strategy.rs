//! Custom strategies: they are called, have their own state, and cannot violate the protocol.

use std::time::Duration;

use super::solo::{Solo, features, outbound, peer, receivers, said};
use crate::{
    Config, FloodPublish, LARGE_MESSAGES_ID, NewPeer, PeerIx, Rng, SendPlan, Strategy,
    StrategyChoice, StrategyFactory, StrategyKind, Time, View,
};

/// Sends every message to one subscriber, the next one each time.
#[derive(Clone, Debug, Default)]
struct Turns(usize);

impl StrategyFactory for Turns {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }
}

impl Strategy for Turns {
    fn keeps_mesh(&self) -> bool {
        false
    }

    fn publish(&mut self, view: &View<'_>, _: usize, _: &mut Rng) -> Vec<PeerIx> {
        self.0 += 1;
        let all = view.subscribers();
        vec![all[self.0 % all.len()]]
    }
}

/// Returns invalid receivers in every place.
#[derive(Clone, Copy, Debug)]
struct Careless;

impl StrategyFactory for Careless {
    fn build(&self) -> Box<dyn Strategy> {
        Box::new(*self)
    }
}

impl Strategy for Careless {
    fn publish(&mut self, _: &View<'_>, _: usize, _: &mut Rng) -> Vec<PeerIx> {
        [0, 1, 1, 2, 3, 9, 0].map(PeerIx).to_vec()
    }

    fn spread(&mut self, _: &View<'_>, _: usize, _: Vec<PeerIx>, _: &mut Rng) -> SendPlan {
        let peers = |list: &[u32]| list.iter().copied().map(PeerIx).collect();
        SendPlan::at_once(peers(&[0, 9, 0]))
            .later(peers(&[0, 1, 8, 1]), Time::ZERO, 0)
            .ihave_only(peers(&[1, 2, 3, 7]))
    }

    /// A subscriber that does not understand stem messages.
    fn stem(&mut self, _: &View<'_>, _: Option<PeerIx>, _: &mut Rng) -> Option<PeerIx> {
        Some(PeerIx(0))
    }
}

fn with(strategy: impl StrategyFactory + 'static) -> Config {
    let mut config = Config::waku();
    config.strategy = StrategyChoice::custom(strategy);
    config.flood_publish = FloodPublish::Off;
    config
}

#[test]
fn each_router_has_a_strategy_with_its_own_state() {
    let config = with(Turns::default());
    for _ in 0..2 {
        let mut solo = Solo::joined(config.clone());
        assert!(!solo.router.keeps_mesh());
        (0..3).for_each(|n| drop(solo.subscriber(outbound(n))));
        let sent = [1, 2, 3, 4].map(|data| receivers(&solo.publish(&[data])));
        assert_eq!(sent, [[1], [2], [0], [1]]);
    }
}

#[test]
fn nobody_gets_two_copies_and_nobody_unknown_gets_one() {
    let mut solo = Solo::joined(with(Careless));
    for n in 0..3 {
        solo.subscriber(NewPeer {
            features: features(LARGE_MESSAGES_ID),
            ..peer(n)
        });
    }
    // Peer 3 speaks floodsub, which has no ids.
    solo.subscriber(NewPeer {
        features: features("/floodsub/1.0.0"),
        ..peer(3)
    });
    solo.advance_ms(5);
    let first = solo.publish(b"once");
    assert_eq!(receivers(&first), [0]);
    assert_eq!(said(&first, 2).ihave.len(), 1);
    assert_eq!(said(&first, 1).ihave.len() + said(&first, 3).ihave.len(), 0);
    let second = solo.advance(Duration::ZERO);
    assert_eq!(receivers(&second), [1]);
    assert!(receivers(&solo.advance_ms(90)).is_empty());
}

#[test]
fn a_choice_is_equal_to_its_clones_only() {
    let own = StrategyChoice::custom(Careless);
    assert_eq!(own, own.clone());
    assert_ne!(own, StrategyChoice::custom(Careless));
    assert_ne!(own, StrategyKind::Flood.into());
    assert_eq!(StrategyChoice::from(StrategyKind::Flood), StrategyKind::Flood);
}
