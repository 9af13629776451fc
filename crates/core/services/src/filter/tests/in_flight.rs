use super::*;

const ONE: PeerNo = PeerNo(1);
const TWO: PeerNo = PeerNo(2);

fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

fn in_flight() -> InFlight {
    InFlight::new(PushBounds {
        max_pushes_per_peer: 3,
        max_bytes_per_peer: 100,
        max_bytes: 200,
        max_failing: Duration::from_secs(60),
    })
}

/// Pushes a message to peers; returns those that had room.
fn push(in_flight: &mut InFlight, bytes: usize, peers: &[PeerNo]) -> Vec<PeerNo> {
    in_flight.begin(bytes);
    let sent = peers
        .iter()
        .copied()
        .filter(|&peer| in_flight.push(peer))
        .collect();
    in_flight.end();
    sent
}

#[test]
fn a_message_to_many_peers_counts_once_until_the_last_report() {
    let mut in_flight = in_flight();
    push(&mut in_flight, 70, &[ONE, TWO]);
    assert_eq!(in_flight.bytes(), 70);
    assert_eq!(
        in_flight.report(at(0), ONE, PushOutcome::Delivered),
        Some(false)
    );
    assert_eq!(in_flight.bytes(), 70);
    assert_eq!(
        in_flight.report(at(0), TWO, PushOutcome::Delivered),
        Some(false)
    );
    assert_eq!((in_flight.bytes(), in_flight.peers()), (0, 0));
}

#[test]
fn a_report_without_a_push_is_ignored() {
    let mut in_flight = in_flight();
    assert_eq!(in_flight.report(at(0), ONE, PushOutcome::Failed), None);
    push(&mut in_flight, 70, &[ONE]);
    in_flight.report(at(0), ONE, PushOutcome::Failed);
    assert_eq!(in_flight.report(at(100), ONE, PushOutcome::Failed), None);
}

#[test]
fn a_peer_has_at_most_so_many_pushes_and_bytes_in_flight() {
    let mut in_flight = in_flight();
    for _ in 0..3 {
        assert_eq!(push(&mut in_flight, 10, &[ONE]), [ONE]);
    }
    assert_eq!(push(&mut in_flight, 10, &[ONE, TWO]), [TWO], "three pushes");
    assert_eq!(push(&mut in_flight, 91, &[TWO]), [], "101 bytes");
    assert_eq!(push(&mut in_flight, 90, &[TWO]), [TWO], "100 bytes");
}

#[test]
fn a_report_makes_room_for_as_many_bytes() {
    let mut in_flight = in_flight();
    push(&mut in_flight, 60, &[ONE]);
    push(&mut in_flight, 40, &[ONE]);
    assert_eq!(push(&mut in_flight, 60, &[ONE]), []);
    in_flight.report(at(0), ONE, PushOutcome::Delivered);
    assert_eq!(push(&mut in_flight, 61, &[ONE]), []);
    assert_eq!(push(&mut in_flight, 60, &[ONE]), [ONE]);
}

#[test]
fn an_idle_peer_gets_a_message_of_any_size() {
    assert_eq!(push(&mut in_flight(), 150, &[ONE]), [ONE]);
}

#[test]
fn the_holders_of_the_oldest_message_give_way() {
    let mut in_flight = in_flight();
    push(&mut in_flight, 100, &[ONE]);
    push(&mut in_flight, 90, &[TWO]);
    assert_eq!(in_flight.make_room(10), []);
    assert_eq!(in_flight.make_room(11), [ONE]);
    assert_eq!((in_flight.bytes(), in_flight.peers()), (90, 1));
    assert_eq!(in_flight.make_room(200), [TWO]);
    assert_eq!((in_flight.bytes(), in_flight.peers()), (0, 0));
}

#[test]
fn a_peer_is_given_up_after_failing_for_a_minute() {
    let mut in_flight = in_flight();
    let mut fail = |seconds, outcome| {
        push(&mut in_flight, 10, &[ONE]);
        in_flight.report(at(seconds), ONE, outcome)
    };
    assert_eq!(fail(0, PushOutcome::Failed), Some(false));
    assert_eq!(fail(59, PushOutcome::Failed), Some(false));
    assert_eq!(fail(60, PushOutcome::Failed), Some(true));
    assert_eq!(fail(61, PushOutcome::Delivered), Some(false));
    assert_eq!(
        fail(62, PushOutcome::Failed),
        Some(false),
        "one delivery wipes it out"
    );
    assert_eq!(
        fail(100, PushOutcome::Away),
        Some(false),
        "so does an absence"
    );
    assert_eq!(fail(130, PushOutcome::Failed), Some(false));
}

#[test]
fn a_cleared_peer_holds_nothing() {
    let mut in_flight = in_flight();
    push(&mut in_flight, 10, &[ONE]);
    push(&mut in_flight, 20, &[ONE, TWO]);
    in_flight.clear_if_idle(ONE);
    assert_eq!(in_flight.peers(), 2, "one is not idle");
    in_flight.clear(ONE);
    assert_eq!((in_flight.bytes(), in_flight.peers()), (20, 1));
}
