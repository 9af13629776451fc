use super::*;

const PAUSE: Duration = Duration::from_secs(2);

fn address(number: u8, peer: Option<PeerId>) -> Multiaddr {
    let address: Multiaddr = format!("/ip4/192.0.2.{number}/tcp/60000").parse().unwrap();
    match peer {
        Some(peer) => address.with_p2p(peer).unwrap(),
        None => address,
    }
}

#[test]
fn the_pause_between_attempts_doubles_up_to_a_bound_until_the_peer_is_there() {
    let one = address(1, None);
    let mut kept = KeptPeers::new(vec![one.clone()], Vec::new(), PAUSE);
    let mut now = Instant::now();
    assert!(kept.is_due(&one, now), "it was never tried");
    assert!(kept.failed(&one, now), "the first failure is told");
    for pause_s in [2, 4, 8, 10, 10] {
        let pause = Duration::from_secs(pause_s);
        assert!(
            !kept.is_due(&one, now + pause - Duration::from_millis(1)),
            "{pause_s} s"
        );
        now += pause;
        assert!(kept.is_due(&one, now), "{pause_s} s");
        assert!(!kept.failed(&one, now), "a further failure is not told");
    }
    assert!(kept.connected(&one), "it could not be reached before");
    assert!(!kept.connected(&one));
    assert!(kept.is_due(&one, now), "it is dialled at once when it goes");
    assert!(kept.failed(&one, now), "that failure is told again");
}

#[test]
fn peers_of_services_stay_when_the_static_ones_are_replaced() {
    let [a, b, c] = [(); 3].map(|()| PeerId::random());
    let nameless = address(3, None);
    let statics = vec![address(1, Some(a)), nameless.clone()];
    let mut kept = KeptPeers::new(statics, vec![address(2, Some(b))], PAUSE);
    assert!(kept.reached(&nameless, c));
    assert_eq!(kept.led_to(&nameless), Some(c));
    assert!(kept.failed(&nameless, Instant::now()));
    let mut released = kept.replace_statics(vec![address(4, Some(b))]);
    let mut expected = [a, c];
    released.sort();
    expected.sort();
    assert_eq!(released, expected);
    assert_eq!(kept.led_to(&nameless), None);
    assert_eq!(kept.identities().collect::<Vec<_>>(), [b, b]);
    assert!(kept.replace_statics(Vec::new()).is_empty(), "b is kept");
}

#[test]
fn all_addresses_of_a_kept_peer_are_dialled_together_and_of_another_peer_only_the_named_one() {
    let [a, b] = [(); 2].map(|()| PeerId::random());
    let (one, two) = (address(1, Some(a)), address(2, Some(a)));
    let services = vec![two.clone(), one.clone()];
    let kept = KeptPeers::new(vec![one.clone()], services, PAUSE);
    assert_eq!(kept.addresses_of(a, &two), [one, two], "each once");
    let elsewhere = address(3, Some(a));
    assert_eq!(kept.addresses_of(a, &elsewhere), [elsewhere]);
    let other = address(4, Some(b));
    assert_eq!(kept.addresses_of(b, &other), [other]);
}

#[test]
fn failures_of_other_addresses_are_not_noted() {
    let mut kept = KeptPeers::new(vec![address(1, None)], Vec::new(), PAUSE);
    let other = address(2, None);
    assert!(!kept.failed(&other, Instant::now()));
    assert!(!kept.reached(&other, PeerId::random()));
    assert_eq!(kept.led_to(&other), None);
}
