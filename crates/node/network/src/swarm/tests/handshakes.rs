use super::*;

fn handshakes(pending_max: u32, per_address_max: u32) -> Handshakes {
    Handshakes::new(ConnectionLimits {
        pending_max,
        per_address_max,
        per_loopback_address_max: 1000,
        ..ConnectionLimits::with_total(100)
    })
}

fn address(n: u8) -> AddressGroup {
    AddressGroup::V4([10, 0, 0, n])
}

#[test]
fn an_address_with_too_many_ends_its_own_oldest() {
    let mut all = handshakes(100, 2);
    let (first, _) = all.begin(address(1));
    let (second, none) = all.begin(address(1));
    assert_eq!(none, None);
    assert_eq!(all.begin(address(2)).1, None);
    assert_eq!(all.begin(address(1)).1, Some(first));
    assert_eq!(all.begin(address(1)).1, Some(second));
}

#[test]
fn too_many_in_all_end_the_oldest_of_the_address_with_the_most() {
    let mut all = handshakes(3, 16);
    all.begin(address(1));
    let (flood, _) = all.begin(address(2));
    all.begin(address(2));
    assert_eq!(all.begin(address(3)).1, Some(flood));
    assert_eq!(all.pending.len(), 3);
}

#[test]
fn what_has_ended_makes_room() {
    let mut all = handshakes(1, 16);
    let (first, _) = all.begin(address(1));
    all.end(first);
    all.end(first);
    assert_eq!(all.begin(address(2)).1, None);
}

/// Forged packets come from any number of addresses, all of them new.
#[test]
fn among_equals_the_oldest_ends_whatever_its_address() {
    let mut all = handshakes(4, 16);
    for last in 1..=4 {
        all.begin(address(last));
    }
    let (newcomer, evicted) = all.begin(address(255));
    assert_eq!(evicted, Some(HandshakeId(0)));
    // The newcomer is aborted only after as many others as there are places.
    for (forged, oldest) in (10..13).zip(1..) {
        assert_eq!(all.begin(address(forged)).1, Some(HandshakeId(oldest)));
    }
    assert_eq!(all.begin(address(13)).1, Some(newcomer));
}

#[test]
fn addresses_of_one_network_count_as_one() {
    let mut all = handshakes(4, 16);
    let other = AddressGroup::V4([20, 0, 1, 1]);
    let (lone, _) = all.begin(other);
    let crowd: Vec<_> = (1..=3)
        .map(|last| all.begin(AddressGroup::V4([20, 0, 0, last])).0)
        .collect();
    let ipv6 = AddressGroup::V6([0x26, 0, 0, 1, 0, 2, 0, 3]);
    assert_eq!(all.begin(ipv6).1, Some(crowd[0]));
    assert!(all.pending.contains_key(&lone));
}

/// Attackers that redial as soon as they are aborted cycle through the table faster than a handshake takes.
#[test]
fn who_comes_back_after_an_abort_makes_way_before_a_peer_that_comes_first() {
    let mut all = handshakes(8, 16);
    let attackers = || (0..20).map(address);
    attackers().for_each(|attacker| _ = all.begin(attacker));
    let (newcomer, _) = all.begin(address(255));
    for _ in 0..10 {
        attackers().for_each(|attacker| _ = all.begin(attacker));
        assert!(all.pending.contains_key(&newcomer));
    }
    assert_eq!(all.pending.len(), 8);
    assert!(all.aborted.len() <= 8 * ABORTED_PER_PENDING);
}
