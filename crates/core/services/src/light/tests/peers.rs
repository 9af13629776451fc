use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;
use undertone_gossip::Time;

use super::{PeerPool, PeerPoolConfig, PeerService, PoolEvent, ServicePeer, Services};
use crate::PeerNo;
use crate::trust::Standing;

fn pool(peers: u64) -> PeerPool {
    let config = PeerPoolConfig {
        max_peers: 4,
        max_peer_topics: 2,
        connect_timeout: Duration::from_secs(15),
        backoff_first: Duration::from_secs(2),
        backoff_max: Duration::from_secs(300),
    };
    let mut pool = PeerPool::new(config, ChaCha8Rng::seed_from_u64(1));
    (0..peers).for_each(|number| {
        pool.found(peer(number));
    });
    pool
}

fn peer(number: u64) -> ServicePeer {
    ServicePeer {
        peer: PeerNo(number),
        services: Services {
            filter: true,
            lightpush: true,
            store: true,
        },
        pubsub_topics: None,
        filters_all: false,
        standing: Standing::Known,
        network: None,
    }
}

fn seconds(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

#[test]
fn the_backoff_doubles_up_to_its_bound_and_an_answer_ends_it() {
    let mut pool = pool(1);
    let mut now = seconds(1);
    let mut waits = Vec::new();
    for _ in 0..12 {
        pool.failed(now, PeerNo(0), PeerService::Filter, None);
        let next = pool.next_usable(now, PeerService::Filter, None, |_| false);
        waits.push(next.since(now));
        now = next;
    }
    for (at, wait) in waits.iter().enumerate() {
        let expected = Duration::from_secs((2_u64 << at).min(300));
        assert!(
            *wait >= expected && *wait < expected * 5 / 4,
            "{at}: {wait:?}"
        );
    }
    assert!(
        pool.usable(now, PeerNo(0), PeerService::Store, None),
        "another service"
    );
    pool.answered(now, PeerNo(0), PeerService::Filter);
    pool.failed(now, PeerNo(0), PeerService::Filter, None);
    assert!(pool.usable(
        now.after(Duration::from_secs(3)),
        PeerNo(0),
        PeerService::Filter,
        None
    ));
}

#[test]
fn a_wait_that_a_peer_asks_for_is_kept_but_not_beyond_the_bound() {
    let mut pool = pool(1);
    let hour = Some(Duration::from_secs(3600));
    pool.failed(seconds(0), PeerNo(0), PeerService::Store, hour);
    assert!(!pool.usable(seconds(299), PeerNo(0), PeerService::Store, None));
    assert!(pool.usable(seconds(301), PeerNo(0), PeerService::Store, None));
}

#[test]
fn filter_peers_that_answered_are_preferred_and_stores_take_turns() {
    let mut pool = pool(3);
    let now = seconds(100);
    pool.failed(seconds(1), PeerNo(0), PeerService::Filter, None);
    pool.failed(seconds(1), PeerNo(0), PeerService::Store, None);
    pool.answered(seconds(2), PeerNo(1), PeerService::Filter);
    pool.answered(seconds(2), PeerNo(1), PeerService::Store);
    pool.answered(seconds(3), PeerNo(2), PeerService::Store);
    pool.connected(PeerNo(1));
    assert_eq!(
        pool.pick(now, PeerService::Filter, None, |_| false),
        Some(PeerNo(1))
    );
    assert_eq!(
        pool.pick(now, PeerService::Store, None, |_| false),
        Some(PeerNo(0))
    );
}

#[test]
fn a_full_pool_gives_the_place_of_a_failed_peer_to_a_new_one_and_keeps_good_ones() {
    let mut pool = pool(4);
    pool.found(peer(9));
    assert_eq!(
        pool.events.pop_front(),
        Some(PoolEvent::Forgotten(PeerNo(9)))
    );
    pool.connect_failed(seconds(1), PeerNo(2));
    assert_eq!(pool.found(peer(9)), Some(PeerNo(2)));
    assert_eq!(
        pool.events.pop_front(),
        Some(PoolEvent::Forgotten(PeerNo(2)))
    );
}

#[test]
fn a_connection_that_is_not_made_in_time_is_a_failure() {
    let mut pool = pool(1);
    pool.connect(seconds(0), PeerNo(0));
    pool.connect(seconds(1), PeerNo(0));
    assert_eq!(pool.events.len(), 1, "one request is enough");
    assert_eq!(pool.next_timeout(), seconds(15));
    assert_eq!(pool.expire(seconds(15)), [PeerNo(0)]);
    assert!(!pool.usable(seconds(15), PeerNo(0), PeerService::Filter, None));
}

#[test]
fn a_peer_that_comes_back_is_used_at_once_unless_it_had_failed_otherwise() {
    let mut pool = pool(2);
    pool.distrust(seconds(1), PeerNo(1), PeerService::Filter);
    for peer in [PeerNo(0), PeerNo(1)] {
        for attempt in 1..8 {
            pool.connect_failed(seconds(attempt), peer);
        }
        assert!(!pool.usable(seconds(30), peer, PeerService::Filter, None));
        pool.connected(peer);
    }
    assert!(pool.usable(seconds(30), PeerNo(0), PeerService::Filter, None));
    assert!(pool.usable(seconds(30), PeerNo(1), PeerService::Store, None));
    assert!(
        !pool.usable(seconds(30), PeerNo(1), PeerService::Filter, None),
        "it lied"
    );
    // A failure after that counts as the first.
    pool.failed(seconds(30), PeerNo(0), PeerService::Filter, None);
    assert!(pool.usable(seconds(33), PeerNo(0), PeerService::Filter, None));
}

#[test]
fn a_stranger_is_asked_for_filter_or_lightpush_only_when_the_known_ones_fail() {
    let mut pool = pool(0);
    for (number, standing) in [(0, Standing::Stranger), (1, Standing::Known)] {
        pool.found(ServicePeer {
            standing,
            ..peer(number)
        });
    }
    pool.connected(PeerNo(0));
    let pick = |pool: &PeerPool, service| pool.pick(seconds(1), service, None, |_| false);
    for service in [PeerService::Filter, PeerService::Lightpush] {
        assert_eq!(pick(&pool, service), Some(PeerNo(1)));
    }
    let store = PeerService::Store;
    assert_eq!(pick(&pool, store), Some(PeerNo(0)), "stores take turns");
    pool.failed(seconds(0), PeerNo(1), PeerService::Lightpush, None);
    assert_eq!(pick(&pool, PeerService::Lightpush), Some(PeerNo(0)));
}

#[test]
fn a_peer_named_for_filter_is_asked_for_pushes_of_topics_that_it_is_not_known_to_serve() {
    let mut pool = pool(0);
    let of_one_topic = |number, filters_all| ServicePeer {
        pubsub_topics: Some(vec!["/waku/2/rs/1/0".into()]),
        filters_all,
        ..peer(number)
    };
    pool.found(of_one_topic(0, false));
    let other = Some("/waku/2/rs/1/5");
    assert!(!pool.offers(PeerService::Filter, other));
    pool.found(of_one_topic(1, true));
    let pick = pool.pick(seconds(1), PeerService::Filter, other, |_| false);
    assert_eq!(pick, Some(PeerNo(1)));
    assert!(!pool.offers(PeerService::Store, other));
}
