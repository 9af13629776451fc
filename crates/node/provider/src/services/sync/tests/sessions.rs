use undertone_services::sync::SyncScope;

use super::*;

fn terms() -> SessionTerms {
    SessionTerms {
        scope: SyncScope::default(),
        earliest_ns: 0,
        latest_ns: i64::MAX,
    }
}

#[test]
fn strangers_take_all_places_and_a_named_store_gets_one_all_the_same() {
    let bounds = SyncBounds::default();
    let named = PeerId::random();
    let places = bounds.inbound_sessions;
    let sessions = Sessions::new(PeerId::random(), bounds, BTreeSet::from([named]));
    let begin = |peer| sessions.open(peer, SessionSide::Theirs, terms());
    // The place of a named store is not one of the strangers'.
    let early = begin(named).unwrap();
    let strangers: Vec<_> = (0..places)
        .map(|_| begin(PeerId::random()).unwrap())
        .collect();
    let refused = begin(PeerId::random()).unwrap_err();
    assert!(matches!(refused, SyncFailure::Busy), "{refused:?}");
    drop(early);
    let late = begin(named).unwrap();
    let twice = begin(named).unwrap_err();
    assert!(matches!(twice, SyncFailure::Busy), "{twice:?}");
    drop((late, strangers));
    begin(PeerId::random()).unwrap();
}
