use proptest::prelude::*;

use super::*;

const HONEST: PeerNo = PeerNo(1_000_000);

fn limit(volume: u32, period_s: u64) -> RateLimit {
    RateLimit {
        volume,
        period: Duration::from_secs(period_s),
    }
}

fn shared(volume: u32, period_s: u64) -> RateLimiter {
    RateLimiter::shared(limit(volume, period_s), RateLimiterLimits::default())
}

/// Returns how many of many simultaneous requests of a peer are served.
fn burst(limiter: &mut RateLimiter, at_s: u64, peer: u64) -> usize {
    let now = Time::from_millis(at_s * 1000);
    (0..1000)
        .filter(|_| limiter.allow(now, PeerNo(peer)))
        .count()
}

#[test]
fn a_filter_client_may_send_thirty_requests_a_minute() {
    let mut limiter = RateLimiter::per_peer(limit(30, 60), RateLimiterLimits::default());
    assert_eq!(burst(&mut limiter, 0, 1), 30);
    assert_eq!(burst(&mut limiter, 0, 2), 30, "each peer has its own");
    assert_eq!(burst(&mut limiter, 20, 1), 10);
    assert_eq!(burst(&mut limiter, 1000, 1), 30);
}

#[test]
fn one_peer_gets_more_than_half_of_a_burst_and_later_of_the_stretched_volume() {
    for (period_s, at_first, later) in [
        (1, [56, 14, 3], [562, 141, 35]),
        (60, [56, 14, 3], [168, 42, 11]),
        (3600, [56, 14, 3], [112, 28, 7]),
    ] {
        let mut limiter = shared(100, period_s);
        for (at_s, expected) in [(0, at_first), (period_s * 100, later)] {
            let served = [1, 2, 3].map(|peer| burst(&mut limiter, at_s, peer));
            assert_eq!(served, expected, "at {at_s} s of a limit for {period_s} s");
        }
    }
}

#[test]
fn a_peer_that_floods_from_the_start_leaves_requests_to_one_that_comes_later() {
    let mut limiter = shared(100, 60);
    for second in 0..600 {
        burst(&mut limiter, second, 1);
        let now = Time::from_millis(second * 1000 + 500);
        // One request in ten seconds is far below the quarter that is left.
        assert!(second % 10 != 0 || limiter.allow(now, HONEST), "{second} s");
    }
}

#[test]
fn the_last_request_of_all_is_served() {
    let mut limiter = shared(1, 60);
    assert!(limiter.allow(Time::ZERO, HONEST));
    assert!(!limiter.allow(Time::ZERO, PeerNo(1)));
}

#[test]
fn one_peer_alone_has_the_whole_rate_and_leaves_something_of_the_burst() {
    let mut limiter = shared(100, 60);
    let served: usize = (0..3600).map(|second| burst(&mut limiter, second, 1)).sum();
    // More than half of the maximum burst, and 100 requests a minute.
    assert!((5_900..=6_225).contains(&served), "{served}");
    assert!(burst(&mut limiter, 3599, 2) >= 20);
}

#[test]
fn three_that_flood_leave_one_that_comes_later_its_share() {
    let mut limiter = shared(100, 60);
    for second in 0..600 {
        (1..=3).for_each(|peer| _ = burst(&mut limiter, second, peer));
        let now = Time::from_millis(second * 1000 + 500);
        // Twenty requests a minute; an equal share would be 25.
        assert!(second % 3 != 0 || limiter.allow(now, HONEST), "{second} s");
    }
}

#[test]
fn without_volume_or_period_everything_is_served() {
    for limit in [limit(0, 1), limit(1, 0)] {
        for mut limiter in [
            RateLimiter::shared(limit, RateLimiterLimits::default()),
            RateLimiter::per_peer(limit, RateLimiterLimits::default()),
        ] {
            assert_eq!(burst(&mut limiter, 0, 1), 1000);
            assert_eq!(limiter.peers(), 0);
        }
    }
}

#[test]
fn a_flood_under_many_names_is_remembered_within_bounds() {
    let limits = RateLimiterLimits { max_peers: 100 };
    let mut limiter = RateLimiter::per_peer(limit(30, 60), limits);
    for number in 0..10_000 {
        limiter.allow(Time::from_millis(number), PeerNo(number));
        assert!(limiter.peers() <= 100);
    }
    assert!(limiter.allow(Time::from_millis(10_000), HONEST));
}

#[test]
fn a_peer_that_keeps_asking_is_not_forgotten_for_others() {
    let mut limiter = RateLimiter::per_peer(limit(30, 60), RateLimiterLimits { max_peers: 3 });
    assert_eq!(burst(&mut limiter, 0, 1), 30);
    for other in 2..50 {
        assert!(!limiter.allow(Time::ZERO, PeerNo(1)));
        assert!(limiter.allow(Time::ZERO, PeerNo(other)));
    }
}

#[test]
fn idle_peers_are_forgotten_when_their_share_is_full_again() {
    let mut limiter = RateLimiter::per_peer(limit(30, 60), RateLimiterLimits::default());
    for peer in 0..50 {
        burst(&mut limiter, 0, peer);
    }
    assert_eq!(burst(&mut limiter, 59, 0), 29);
    assert_eq!(limiter.peers(), 50);
    burst(&mut limiter, 60, 99);
    assert_eq!(limiter.peers(), 2, "the one of 59 s and the new one");
}

proptest! {
    #[test]
    fn all_peers_together_stay_within_the_limit(
        volume in 1_u32..50,
        period_s in 1_u64..100,
        requests in proptest::collection::vec((0_u64..10_000, 0_u64..5), 1..300),
    ) {
        let mut limiter = shared(volume, period_s);
        let capacity = u64::from(volume) * 10;
        let (mut now_ms, mut served) = (0, 0_u64);
        for (wait_ms, peer) in requests {
            now_ms += wait_ms;
            served += u64::from(limiter.allow(Time::from_millis(now_ms), PeerNo(peer)));
            let most = capacity * period_s * 1000 + now_ms * u64::from(volume);
            prop_assert!(served * period_s * 1000 <= most);
        }
        prop_assert!(limiter.peers() <= 5);
    }
}

#[test]
fn a_peer_is_remembered_until_it_has_its_full_share_again() {
    let per_peer = RateLimiter::per_peer(limit(10, 60), RateLimiterLimits::default());
    for mut limiter in [shared(10, 60), per_peer] {
        assert!(!limiter.remembers(PeerNo(1)));
        burst(&mut limiter, 0, 1);
        assert!(limiter.remembers(PeerNo(1)));
        burst(&mut limiter, 30, 2);
        assert!(limiter.remembers(PeerNo(1)));
        burst(&mut limiter, 1000, 2);
        assert!(!limiter.remembers(PeerNo(1)));
    }
    let mut unlimited = RateLimiter::shared(RateLimit::UNLIMITED, RateLimiterLimits::default());
    burst(&mut unlimited, 0, 1);
    assert!(!unlimited.remembers(PeerNo(1)));
}
