//! Stores whose answer is enough to call a message stored, and those whose answer is not.

use std::net::IpAddr;

use super::super::SendEventKind::{self, PropagatedOnly, Stored};
use super::super::{SenderConfig, Unconfirmed};
use super::promises::{message, seconds};
use super::world::{Episode, Trouble, World, services};
use crate::light::Services;
use crate::trust::{Network, Standing};

const ONE_STORE: SendEventKind = PropagatedOnly(Unconfirmed::OneStore);

/// Peers that are strangers, each with its services, its address and its faults.
fn strangers(peers: &[(Services, Option<&str>, &[Trouble])]) -> World {
    let offers: Vec<Services> = peers.iter().map(|(offer, ..)| *offer).collect();
    let mut world = World::new(3, SenderConfig::default(), &offers);
    for (peer, (_, ip, troubles)) in peers.iter().enumerate() {
        let ip = ip.map(|ip| Network::of(ip.parse::<IpAddr>().unwrap()));
        world.servers[peer].standing = Standing::Stranger;
        world.servers[peer].network = ip;
        for trouble in *troubles {
            world.trouble(Episode {
                peer,
                trouble: *trouble,
                from_s: 0,
                len_s: 100_000,
            });
        }
    }
    world.introduce();
    world
}

/// Final state of a message that is sent after the world has been running for a long time.
fn end(world: &mut World) -> SendEventKind {
    world.send_at(seconds(100), message("a"));
    world.run_until(seconds(1000));
    let end = world.ends().into_values().next().unwrap();
    end.expect("a message has its end within the time for confirmation")
}

const LIES: &[Trouble] = &[Trouble::Swallows, Trouble::Claims];

#[test]
fn a_stranger_that_swallows_a_message_cannot_confirm_it() {
    let mut world = strangers(&[(services(true, true), None, LIES)]);
    assert_eq!(end(&mut world), ONE_STORE);
    assert!(world.published.is_empty());
}

#[test]
fn a_message_that_a_lying_stranger_swallows_goes_to_another_and_arrives() {
    let both = services(true, true);
    for honest in 0..2 {
        let troubles = [LIES, LIES];
        let mut peers = troubles.map(|lies| (both, None, lies));
        peers[honest] = (both, None, &[]);
        let mut world = strangers(&peers);
        assert_eq!(end(&mut world), Stored);
        assert_eq!(world.published.len(), 1);
    }
}

#[test]
fn a_store_in_the_network_of_the_peer_that_took_a_message_cannot_confirm_it() {
    let (push, store) = (services(true, false), services(false, true));
    let with_store_at = |ip| {
        strangers(&[
            (push, Some("20.1.2.3"), &[Trouble::Swallows]),
            (store, Some(ip), &[Trouble::Claims]),
        ])
    };
    assert_eq!(end(&mut with_store_at("20.1.2.250")), ONE_STORE);
    assert_eq!(end(&mut with_store_at("20.1.3.3")), Stored);
}

#[test]
fn many_stores_of_one_network_are_one_witness_and_a_second_network_is_another() {
    let store = services(false, true);
    let claims: &[Trouble] = &[Trouble::Claims];
    let mut crowd = vec![(services(true, true), Some("20.1.2.3"), LIES)];
    let ips: Vec<String> = (10..40).map(|host| format!("20.1.2.{host}")).collect();
    crowd.extend(ips.iter().map(|ip| (store, Some(&**ip), claims)));
    assert_eq!(end(&mut strangers(&crowd)), ONE_STORE);
    crowd.push((store, Some("20.9.9.9"), &[Trouble::Denies]));
    assert_eq!(end(&mut strangers(&crowd)), ONE_STORE);
    let Some(last) = crowd.last_mut() else {
        unreachable!()
    };
    last.2 = claims;
    assert_eq!(end(&mut strangers(&crowd)), Stored);
}

#[test]
fn a_named_store_confirms_alone_what_it_was_given() {
    let mut world = strangers(&[(services(true, true), None, &[])]);
    world.servers[0].standing = Standing::Named;
    world.introduce();
    assert_eq!(end(&mut world), Stored);
}

#[test]
fn what_the_relay_gave_out_needs_two_stores() {
    let store = services(false, true);
    for (stores, expected) in [(1, ONE_STORE), (2, Stored)] {
        let mut world = strangers(&vec![(store, None, &[][..]); stores]);
        world.relay_at(seconds(0), true);
        assert_eq!(end(&mut world), expected);
    }
}

#[test]
fn after_a_restart_nobody_knows_who_was_given_the_message() {
    let (push, store) = (services(true, false), services(false, true));
    for (stores, expected) in [(1, ONE_STORE), (2, Stored)] {
        let mut peers = vec![(push, None, &[][..])];
        peers.resize(stores + 1, (store, None, &[][..]));
        let mut world = strangers(&peers);
        world.send_at(seconds(100), message("a"));
        world.run_until(seconds(101));
        world.crash();
        world.run_until(seconds(1000));
        assert_eq!(world.ends().into_values().next(), Some(Some(expected)));
    }
}

/// A store that claims to have what nobody accepted would end a message that reached nobody.
#[test]
fn a_store_alone_does_not_end_a_message_that_nobody_took() {
    let (push, store) = (services(true, false), services(false, true));
    let mut world = strangers(&[
        (push, None, &[]),
        (store, None, &[Trouble::Claims]),
        (store, None, &[]),
    ]);
    world.trouble(Episode {
        peer: 0,
        trouble: Trouble::Late,
        from_s: 0,
        len_s: 200,
    });
    world.trouble(Episode {
        peer: 0,
        trouble: Trouble::Swallows,
        from_s: 0,
        len_s: 200,
    });
    assert_eq!(end(&mut world), Stored);
    assert_eq!(world.published.len(), 1);
}
