use proptest::prelude::*;

use super::*;

fn id(time_ns: u64, hash: u8) -> SyncId {
    SyncId {
        time_ns,
        hash: MessageHash([hash; 32]),
    }
}

fn set(max_set: usize) -> SyncSet {
    SyncSet::new(&SyncLimits {
        max_set,
        ..SyncLimits::default()
    })
}

fn insert(set: &mut SyncSet, time_ns: i64, hash: u8) -> bool {
    set.insert(time_ns, MessageHash([hash; 32]), "p".into(), "c".into())
}

#[test]
fn a_full_set_forgets_the_oldest_message() {
    let mut set = set(2);
    assert!(insert(&mut set, 20, 1) && insert(&mut set, 10, 2));
    assert_eq!(set.complete_from_ns(), 0);
    assert!(insert(&mut set, 30, 3));
    assert_eq!(set.complete_from_ns(), 11);
    assert_eq!(set.view(&SyncScope::default()).ids, [id(20, 1), id(30, 3)]);
    assert!(!insert(&mut set, 5, 4), "older than all of a full set");
    assert!(!insert(&mut set, 30, 3), "known");
    assert_eq!((set.len(), set.complete_from_ns()), (2, 11));
}

#[test]
fn messages_of_before_1970_are_not_kept() {
    let mut set = set(2);
    assert!(!insert(&mut set, -1, 1));
    assert!(insert(&mut set, 0, 1));
    assert!(!set.is_empty());
}

#[test]
fn pruning_keeps_what_is_not_older() {
    let mut set = set(10);
    for (time_ns, hash) in [(9, 0xff), (10, 0), (11, 1)] {
        insert(&mut set, time_ns, hash);
    }
    assert_eq!(set.prune(10), 1);
    assert_eq!(set.view(&SyncScope::default()).ids, [id(10, 0), id(11, 1)]);
    assert_eq!((set.prune(-5), set.prune(i64::MAX)), (0, 2));
}

#[test]
fn an_empty_scope_has_every_topic() {
    let scope = |pubsub: &[&str], content: &[&str]| SyncScope {
        pubsub_topics: pubsub.iter().map(|&topic| topic.into()).collect(),
        content_topics: content.iter().map(|&topic| topic.into()).collect(),
    };
    let payload = |pubsub: &[&str], content: &[&str]| RangesPayload {
        pubsub_topics: pubsub.iter().map(|&topic| topic.into()).collect(),
        content_topics: content.iter().map(|&topic| topic.into()).collect(),
        ranges: vec![],
    };
    let meet = |a: SyncScope, b: RangesPayload| a.intersection(&b);
    let all = || scope(&[], &[]);
    assert_eq!(meet(all(), payload(&[], &[])), Some(all()));
    assert_eq!(
        meet(all(), payload(&["a"], &["b"])),
        Some(scope(&["a"], &["b"]))
    );
    assert_eq!(
        meet(scope(&["a"], &["b"]), payload(&[], &[])),
        Some(scope(&["a"], &["b"]))
    );
    assert_eq!(
        meet(scope(&["a", "b"], &[]), payload(&["b", "c"], &[])),
        Some(scope(&["b"], &[]))
    );
    assert_eq!(meet(scope(&["a"], &[]), payload(&["b"], &[])), None);
    assert_eq!(meet(scope(&[], &["a"]), payload(&[], &["b"])), None);

    let mut set = set(10);
    let topics = [("p", "c"), ("p", "d"), ("q", "c")];
    for (time_ns, (pubsub, content)) in (0..).zip(topics) {
        set.insert(time_ns, MessageHash([1; 32]), pubsub.into(), content.into());
    }
    assert_eq!(set.view(&scope(&["p"], &["c"])).ids, [id(0, 1)]);
    assert_eq!(set.view(&scope(&[], &["c"])).ids, [id(0, 1), id(2, 1)]);
}

proptest! {
    #[test]
    fn fingerprints_are_those_of_the_messages_in_range(
        messages in prop::collection::btree_set((0u64..20, any::<u8>()), 0..50),
        bounds in any::<[(u8, u8); 2]>(),
    ) {
        let ids: Vec<_> = messages.iter().map(|&(time_ns, hash)| id(time_ns, hash)).collect();
        let view = SetView::new(ids.clone());
        let [lower, upper] = bounds.map(|(time, hash)| id(u64::from(time % 22), hash));
        let inside: Vec<_> = ids.into_iter().filter(|id| lower <= *id && *id < upper).collect();
        let mut expected = [0; 32];
        for id in &inside {
            (0..32).for_each(|i| expected[i] ^= id.hash.0[i]);
        }
        prop_assert_eq!(view.ids(lower, upper), inside);
        prop_assert_eq!(view.fingerprint(lower, upper), Fingerprint(expected));
    }
}
