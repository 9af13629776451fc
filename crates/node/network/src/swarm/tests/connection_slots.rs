use super::*;

fn limits() -> ConnectionLimits {
    ConnectionLimits {
        clients_max: 6,
        outbound_reserved: 2,
        per_address_max: 3,
        per_network_max: 4,
        per_loopback_address_max: 5,
        ..ConnectionLimits::with_total(10)
    }
}

fn id(n: usize) -> ConnectionId {
    ConnectionId::new_unchecked(n)
}

fn address(n: u8) -> AddressGroup {
    AddressGroup::V4([10, 0, 0, n])
}

fn inbound(n: usize, group: AddressGroup) -> Newcomer {
    Newcomer {
        id: id(n),
        peer: PeerId::random(),
        group,
        inbound: true,
    }
}

fn outbound(n: usize) -> Newcomer {
    Newcomer {
        inbound: false,
        ..inbound(n, address(99))
    }
}

/// Admits a connection and returns those that lose their slots.
fn admit(slots: &mut ConnectionSlots, new: Newcomer) -> Result<Vec<ConnectionId>, NoSlot> {
    let losers = slots.admit(new)?;
    Ok(losers.into_iter().map(|(_, id)| id).collect())
}

/// Admits a peer of good standing.
fn member(slots: &mut ConnectionSlots, new: Newcomer) {
    assert_eq!(relay(slots, new), Ok(vec![]));
}

/// Admits a peer and has it begin a pubsub session; returns those that lose their slots.
fn relay(slots: &mut ConnectionSlots, new: Newcomer) -> Result<Vec<ConnectionId>, NoSlot> {
    let mut losers = admit(slots, new)?;
    let begun = slots.begin_session(new.peer);
    if begun.is_err() {
        slots.leave(new.id);
    }
    losers.extend(begun?.into_iter().map(|(_, id)| id));
    Ok(losers)
}

/// Admits a client with a subscription.
fn subscriber(slots: &mut ConnectionSlots, new: Newcomer) {
    assert_eq!(admit(slots, new), Ok(vec![]));
    slots.subscribes(new.peer, true);
}

#[test]
fn an_address_with_its_share_of_clients_loses_its_oldest_without_a_subscription() {
    let mut slots = ConnectionSlots::new(limits());
    subscriber(&mut slots, inbound(0, address(1)));
    assert_eq!(admit(&mut slots, inbound(1, address(1))), Ok(vec![]));
    assert_eq!(admit(&mut slots, inbound(2, address(1))), Ok(vec![]));
    assert_eq!(admit(&mut slots, inbound(3, address(1))), Ok(vec![id(1)]));
    assert_eq!(admit(&mut slots, inbound(4, address(1))), Ok(vec![id(2)]));
    let others = address(2);
    assert_eq!(admit(&mut slots, inbound(5, others)), Ok(vec![]));
}

#[test]
fn a_newcomer_does_not_throw_out_clients_with_subscriptions_of_its_own_address() {
    let mut slots = ConnectionSlots::new(limits());
    (0..3).for_each(|n| subscriber(&mut slots, inbound(n, address(1))));
    let refused = admit(&mut slots, inbound(3, address(1)));
    assert_eq!(refused, Err(NoSlot::AddressClients));
}

#[test]
fn subscriptions_of_one_address_do_not_keep_clients_of_others_out() {
    let mut slots = ConnectionSlots::new(limits());
    (0..3).for_each(|n| subscriber(&mut slots, inbound(n, address(1))));
    (3..6).for_each(|n| subscriber(&mut slots, inbound(n, address(2))));
    let newcomer = inbound(6, address(3));
    assert_eq!(admit(&mut slots, newcomer), Ok(vec![id(5)]), "the newest");
    slots.subscribes(newcomer.peer, true);
    assert_eq!(admit(&mut slots, inbound(7, address(4))), Ok(vec![id(2)]));
    slots.subscribes(slots.taken[&id(7)].peer, true);
    assert_eq!(admit(&mut slots, inbound(8, address(5))), Ok(vec![id(4)]));
    slots.subscribes(slots.taken[&id(8)].peer, true);
    assert_eq!(admit(&mut slots, inbound(9, address(6))), Ok(vec![id(1)]));
    slots.subscribes(slots.taken[&id(9)].peer, true);
    let last = admit(&mut slots, inbound(10, address(7)));
    assert_eq!(last, Err(NoSlot::Clients), "all have one each");
}

#[test]
fn a_proxy_on_this_host_may_bring_all_clients() {
    let mut slots = ConnectionSlots::new(limits());
    let loopback = AddressGroup::V4([127, 0, 0, 1]);
    (0..6).for_each(|n| subscriber(&mut slots, inbound(n, loopback)));
    // A further loopback client takes no slot from a client elsewhere, even though that one has
    // not subscribed yet.
    let elsewhere = admit(&mut slots, inbound(6, address(1)));
    assert_eq!(elsewhere, Ok(vec![id(5)]), "the newest of the crowd");
    let back = admit(&mut slots, inbound(7, loopback));
    assert_eq!(back, Err(NoSlot::Clients));
}

#[test]
fn a_network_of_the_internet_has_no_more_clients_than_an_address() {
    let mut slots = ConnectionSlots::new(limits());
    let at = |n| AddressGroup::V4([20, 0, 1, n]);
    (0..3).for_each(|n| subscriber(&mut slots, inbound(n, at(n as u8))));
    let refused = admit(&mut slots, inbound(3, at(77)));
    assert_eq!(refused, Err(NoSlot::AddressClients));
}

#[test]
fn clients_stay_when_relays_fill_the_node_and_relays_when_clients_do() {
    let mut slots = ConnectionSlots::new(limits());
    (0..3).for_each(|n| subscriber(&mut slots, inbound(n, address(1))));
    (10..18).for_each(|n| member(&mut slots, inbound(n, address(n as u8))));
    let refused = relay(&mut slots, inbound(18, address(60)));
    assert_eq!(refused, Err(NoSlot::Total));
    (20..23).for_each(|n| subscriber(&mut slots, inbound(n, address(2))));
    assert_eq!(slots.taken.len(), 14, "nobody has lost a slot");
}

#[test]
fn an_address_full_of_members_loses_the_one_with_the_worst_score_or_takes_nobody() {
    let mut slots = ConnectionSlots::new(limits());
    let members: Vec<_> = (0..3).map(|n| inbound(n, address(1))).collect();
    for new in &members {
        member(&mut slots, *new);
    }
    assert_eq!(
        relay(&mut slots, inbound(3, address(1))),
        Err(NoSlot::Address)
    );
    slots.set_score(members[0].peer, -1.0);
    slots.set_score(members[1].peer, -5.0);
    assert_eq!(relay(&mut slots, inbound(4, address(1))), Ok(vec![id(1)]));
}

#[test]
fn an_address_that_is_full_costs_others_nothing() {
    let mut slots = ConnectionSlots::new(limits());
    (0..3).for_each(|n| member(&mut slots, inbound(n, address(1))));
    assert_eq!(admit(&mut slots, inbound(3, address(2))), Ok(vec![]));
}

#[test]
fn a_network_of_the_internet_has_a_bound_that_many_addresses_do_not_lift() {
    let mut slots = ConnectionSlots::new(limits());
    let at = |network, n| AddressGroup::V4([20, 0, network, n]);
    let members: Vec<_> = (0..4).map(|n| inbound(n, at(1, n as u8))).collect();
    for new in &members {
        member(&mut slots, *new);
    }
    let fifth = |n| inbound(n, at(1, 77));
    assert_eq!(relay(&mut slots, fifth(4)), Err(NoSlot::Network));
    assert_eq!(
        admit(&mut slots, inbound(5, at(2, 77))),
        Ok(vec![]),
        "another network"
    );
    slots.set_score(members[2].peer, -1.0);
    assert_eq!(relay(&mut slots, fifth(6)), Ok(vec![id(2)]));
}

#[test]
fn a_loopback_address_has_a_bound_of_its_own() {
    let mut slots = ConnectionSlots::new(limits());
    let loopback = AddressGroup::V4([127, 0, 0, 1]);
    (0..5).for_each(|n| member(&mut slots, inbound(n, loopback)));
    assert_eq!(
        relay(&mut slots, inbound(5, loopback)),
        Err(NoSlot::Address)
    );
}

#[test]
fn a_node_full_of_members_takes_from_the_crowd_and_from_nobody_else() {
    let mut slots = ConnectionSlots::new(limits());
    (0..3).for_each(|n| member(&mut slots, inbound(n, address(1))));
    (3..8).for_each(|n| member(&mut slots, inbound(n, address(n as u8))));
    let newcomer = inbound(8, address(50));
    assert_eq!(relay(&mut slots, newcomer), Ok(vec![id(2)]), "the newest");
    assert_eq!(relay(&mut slots, inbound(9, address(51))), Ok(vec![id(1)]));
    assert_eq!(
        relay(&mut slots, inbound(10, address(52))),
        Err(NoSlot::Total)
    );
}

#[test]
fn peers_that_dial_leave_room_for_those_that_are_dialled() {
    let mut slots = ConnectionSlots::new(limits());
    (0..8).for_each(|n| member(&mut slots, inbound(n, address(n as u8))));
    assert_eq!(
        relay(&mut slots, inbound(8, address(50))),
        Err(NoSlot::Total)
    );
    assert_eq!(admit(&mut slots, outbound(9)), Ok(vec![]));
    assert_eq!(admit(&mut slots, outbound(10)), Ok(vec![]));
    assert_eq!(admit(&mut slots, outbound(11)), Err(NoSlot::Total));
}

#[test]
fn a_static_peer_comes_in_beyond_every_bound_and_is_never_dropped() {
    let mut slots = ConnectionSlots::new(limits());
    let friend = inbound(100, address(60));
    slots.keep(friend.peer);
    (0..8).for_each(|n| member(&mut slots, inbound(n, address(n as u8))));
    assert_eq!(relay(&mut slots, friend), Ok(vec![]));
    assert_eq!(
        relay(&mut slots, inbound(101, address(50))),
        Err(NoSlot::Total)
    );
    slots.leave(friend.id);
    assert_eq!(relay(&mut slots, friend), Ok(vec![]), "remembered");
}

#[test]
fn a_peer_that_comes_a_fourth_time_loses_its_oldest_connection() {
    let mut slots = ConnectionSlots::new(limits());
    let first = inbound(0, address(1));
    assert_eq!(admit(&mut slots, first), Ok(vec![]));
    let again = |n| Newcomer { id: id(n), ..first };
    assert_eq!(admit(&mut slots, again(1)), Ok(vec![]));
    assert_eq!(admit(&mut slots, again(2)), Ok(vec![]));
    assert_eq!(admit(&mut slots, again(3)), Ok(vec![id(0)]));
}

#[test]
fn nothing_is_kept_of_a_peer_that_has_left() {
    let mut slots = ConnectionSlots::new(limits());
    let peer = inbound(0, address(1));
    member(&mut slots, peer);
    slots.leave(peer.id);
    slots.leave(peer.id);
    assert!(slots.taken.is_empty() && slots.peers.is_empty());
}
