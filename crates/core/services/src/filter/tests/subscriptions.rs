use super::*;

const TTL: Duration = Duration::from_secs(300);

fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

fn subscriptions(max_bytes: usize) -> Subscriptions {
    Subscriptions::new(SubscriptionBounds {
        max_peers: 50,
        max_criteria_per_peer: 4,
        max_bytes,
        share: 1,
        ttl: TTL,
    })
}

fn criterion(name: impl ToString) -> FilterCriterion {
    FilterCriterion {
        pubsub_topic: "/waku/2/rs/1/0".into(),
        content_topic: name.to_string().into(),
    }
}

fn set(names: &[&str]) -> BTreeSet<FilterCriterion> {
    names.iter().map(criterion).collect()
}

fn wanting(subscriptions: &Subscriptions, seconds: u64, name: &str) -> Vec<u64> {
    let wanted = criterion(name);
    let peers = subscriptions.wanting(at(seconds), &wanted);
    peers.map(|peer| peer.0).collect()
}

#[test]
fn criteria_that_a_peer_has_are_not_counted_again() {
    let mut all = subscriptions(1 << 20);
    assert_eq!(all.add(at(0), PeerNo(1), set(&["a", "b", "c"])), Ok(()));
    let bytes = all.bytes();
    assert_eq!(all.add(at(0), PeerNo(1), set(&["a", "b", "c"])), Ok(()));
    assert_eq!(all.bytes(), bytes);
    assert_eq!(
        all.add(at(0), PeerNo(1), set(&["c", "d"])),
        Ok(()),
        "four in all"
    );
    assert_eq!(
        all.add(at(0), PeerNo(1), set(&["d", "e"])),
        Err(Full::Criteria)
    );
}

#[test]
fn a_request_that_does_not_fit_changes_nothing() {
    let mut all = subscriptions(1 << 20);
    assert_eq!(
        all.add(at(0), PeerNo(1), set(&["a", "b", "c", "d", "e"])),
        Err(Full::Criteria)
    );
    assert_eq!((all.peers(), all.criteria(), all.bytes()), (0, 0, 0));
}

#[test]
fn everything_removed_leaves_no_trace() {
    let mut all = subscriptions(1 << 20);
    all.add(at(0), PeerNo(1), set(&["a", "b"])).unwrap();
    all.add(at(0), PeerNo(2), set(&["b", "c"])).unwrap();
    assert_eq!(
        all.remove(at(0), PeerNo(1), &set(&["a", "c"])),
        1,
        "c is another's"
    );
    assert_eq!(wanting(&all, 0, "b"), [1, 2]);
    assert_eq!(all.remove(at(0), PeerNo(1), &set(&["b"])), 1);
    assert_eq!(all.peers(), 1, "a peer without criteria is gone");
    all.remove_peer(PeerNo(2));
    assert_eq!((all.peers(), all.criteria(), all.bytes()), (0, 0, 0));
}

#[test]
fn an_expired_peer_gets_nothing_even_before_it_is_removed() {
    let mut all = subscriptions(1 << 20);
    all.add(at(0), PeerNo(1), set(&["a"])).unwrap();
    all.add(at(0), PeerNo(2), set(&["a"])).unwrap();
    all.refresh(at(200), PeerNo(2));
    assert_eq!(wanting(&all, 300, "a"), [1, 2]);
    assert_eq!(wanting(&all, 301, "a"), [2]);
    assert_eq!(all.expire(at(301)), [PeerNo(1)]);
    assert_eq!(all.peers(), 1);
}

#[test]
fn the_peer_away_the_longest_is_evicted() {
    let mut all = subscriptions(1 << 20);
    for peer in 1..=3 {
        all.add(at(0), PeerNo(peer), set(&["a"])).unwrap();
    }
    assert_eq!(all.evict_away(), None);
    all.mark_away(at(1), PeerNo(3));
    all.mark_away(at(2), PeerNo(1));
    all.mark_away(at(5), PeerNo(3));
    assert_eq!(all.evict_away(), Some(PeerNo(3)), "away since 1 s, not 5");
    all.mark_here(PeerNo(1));
    assert_eq!(all.evict_away(), None);
}

#[test]
fn memory_is_bounded_and_some_is_left_for_each_newcomer() {
    const MAX: usize = 1_000_000;
    let mut all = Subscriptions::new(SubscriptionBounds {
        max_peers: 200,
        max_criteria_per_peer: 10_000,
        max_bytes: MAX,
        share: 100,
        ttl: TTL,
    });
    for peer in 0..200 {
        let mut number = 0;
        while all
            .add(at(0), PeerNo(peer), set(&[&format!("{peer}/{number}")]))
            .is_ok()
        {
            number += 1;
        }
        assert!(number >= 7, "peer {peer} got {number}");
        assert!(all.bytes() <= MAX, "{} bytes", all.bytes());
    }
    assert_eq!(all.add(at(0), PeerNo(0), set(&["more"])), Err(Full::Bytes));
}

#[test]
fn peers_with_the_same_criterion_share_its_texts() {
    let mut all = subscriptions(1 << 20);
    all.add(at(0), PeerNo(1), set(&["a"])).unwrap();
    all.add(at(0), PeerNo(2), set(&["a"])).unwrap();
    let texts: Vec<_> = all.iter().flat_map(|(_, criteria)| criteria).collect();
    assert!(Arc::ptr_eq(
        &texts[0].content_topic,
        &texts[1].content_topic
    ));
    assert!(Arc::ptr_eq(&texts[0].pubsub_topic, &texts[1].pubsub_topic));
}
