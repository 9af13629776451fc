use super::*;
use crate::facts::Capabilities;
use crate::tests::{address, peer};

fn store(limits: PeerStoreLimits) -> PeerStore {
    PeerStore::new(peer(0), 1, limits)
}

fn offer(number: u32, source: PeerSource) -> PeerOffer {
    PeerOffer {
        addresses: vec![address(number)],
        ..PeerOffer::new(peer(number), source)
    }
}

fn rules() -> AddressRules {
    AddressRules::default()
}

#[test]
fn a_peer_is_taken_in_once_and_facts_are_added() {
    let mut store = store(PeerStoreLimits::default());
    assert_eq!(
        store.offer(offer(1, PeerSource::Discv5), &rules()),
        Ok(true)
    );
    assert_eq!(
        store.offer(offer(1, PeerSource::Discv5), &rules()),
        Ok(false)
    );
    let mut more = offer(1, PeerSource::PeerExchange);
    more.facts.capabilities = Some(Capabilities::STORE);
    assert_eq!(store.offer(more, &rules()), Ok(true));
    let entry = store.get(&peer(1)).expect("the peer was offered");
    assert!(entry.facts.offers(Capabilities::STORE));
    assert_eq!(entry.source, PeerSource::Discv5, "the more trusted one");
}

#[test]
fn this_node_other_clusters_and_unreachable_peers_are_refused() {
    let mut store = store(PeerStoreLimits::default());
    let refused = |store: &mut PeerStore, offer| store.offer(offer, &rules());
    assert_eq!(
        refused(&mut store, offer(0, PeerSource::Discv5)),
        Err(OfferRefusal::Own)
    );
    let mut foreign = offer(1, PeerSource::Discv5);
    foreign.facts.cluster = Some(2);
    assert_eq!(
        refused(&mut store, foreign),
        Err(OfferRefusal::OtherCluster)
    );
    let nowhere = PeerOffer::new(peer(1), PeerSource::Discv5);
    assert_eq!(refused(&mut store, nowhere), Err(OfferRefusal::NoAddress));
    let mut private = offer(1, PeerSource::Discv5);
    private.addresses = vec!["/ip4/10.0.0.1/tcp/1".parse().expect("an address")];
    assert_eq!(
        refused(&mut store, private.clone()),
        Err(OfferRefusal::NoAddress)
    );
    private.source = PeerSource::Static;
    assert_eq!(refused(&mut store, private), Ok(true), "the operator knows");
}

#[test]
fn a_victim_is_named_a_few_times_only() {
    let mut store = store(PeerStoreLimits::default());
    let mut taken = 0;
    for number in 1..=1_000 {
        let mut named = offer(number, PeerSource::PeerExchange);
        named.addresses = vec!["/ip4/8.8.8.8/tcp/443".parse().expect("an address")];
        match store.offer(named, &rules()) {
            Ok(is_new) => taken += usize::from(is_new),
            Err(refusal) => assert_eq!(refusal, OfferRefusal::CrowdedNetwork),
        }
    }
    assert_eq!(taken, PeerStoreLimits::default().per_host_max);
}

#[test]
fn one_network_and_one_teller_take_few_places() {
    let limits = PeerStoreLimits::default();
    let mut crowded = store(limits);
    for number in 1..=200 {
        let mut named = offer(number, PeerSource::Discv5);
        let text = format!("/ip4/8.8.8.{number}/tcp/443");
        named.addresses = vec![text.parse().expect("an address")];
        let _ = crowded.offer(named, &rules());
    }
    assert_eq!(crowded.len(), limits.per_network_max);

    let mut talked = store(limits);
    for number in 1..=1_000 {
        let mut named = offer(number, PeerSource::PeerExchange);
        named.told_by = Some(peer(5_000));
        let _ = talked.offer(named, &rules());
    }
    assert_eq!(talked.len(), limits.per_teller_max);
}

#[test]
fn a_full_store_keeps_those_that_were_reached() {
    let limits = PeerStoreLimits {
        peers_max: 10,
        ..PeerStoreLimits::default()
    };
    let mut store = store(limits);
    for number in 1..=10 {
        assert_eq!(
            store.offer(offer(number, PeerSource::Discv5), &rules()),
            Ok(true)
        );
    }
    for number in 1..=9 {
        let entry = store.get_mut(&peer(number)).expect("the peer was offered");
        entry.was_reached = true;
    }
    for number in 11..=500 {
        let _ = store.offer(offer(number, PeerSource::Discv5), &rules());
    }
    assert_eq!(store.len(), 10);
    for number in 1..=9 {
        assert!(store.get(&peer(number)).is_some(), "{number} was reached");
    }
    store.get_mut(&peer(500)).expect("the last one").was_reached = true;
    let refused = store.offer(offer(501, PeerSource::Discv5), &rules());
    assert_eq!(refused, Err(OfferRefusal::Full));
    let named = store.offer(offer(502, PeerSource::Static), &rules());
    assert_eq!(named, Ok(true), "the operator's peers find room");
}

#[test]
fn addresses_are_bounded_and_the_one_that_led_to_the_peer_stays_first() {
    let mut store = store(PeerStoreLimits::default());
    let _ = store.offer(offer(1, PeerSource::Discv5), &rules());
    store.get_mut(&peer(1)).expect("offered").was_reached = true;
    for port in 1..50 {
        let mut told = offer(1, PeerSource::PeerExchange);
        let text = format!("/ip4/9.9.9.9/tcp/{port}");
        told.addresses = vec![text.parse().expect("an address")];
        let _ = store.offer(told, &rules());
    }
    let entry = store.get(&peer(1)).expect("offered");
    assert_eq!(entry.addresses.first(), Some(&address(1)));
    assert_eq!(entry.addresses.len(), rules().per_peer_max);
}

#[test]
fn an_older_record_of_a_peer_changes_nothing() {
    let mut store = store(PeerStoreLimits::default());
    let mut new = offer(1, PeerSource::Discv5);
    new.sequence = Some(7);
    new.facts.shards = Some(vec![3]);
    assert_eq!(store.offer(new.clone(), &rules()), Ok(true));
    let mut old = offer(1, PeerSource::PeerExchange);
    old.sequence = Some(6);
    old.facts.shards = Some(vec![1]);
    old.addresses = vec![address(2)];
    assert_eq!(
        store.offer(old, &rules()),
        Err(OfferRefusal::Outdated),
        "a genuine record, replayed"
    );
    let entry = store.get(&peer(1)).expect("the peer was offered");
    assert_eq!(entry.facts.shards, Some(vec![3]));
    assert_eq!(entry.addresses, [address(1)]);

    assert_eq!(store.offer(new.clone(), &rules()), Ok(false));
    let mut newer = new;
    newer.sequence = Some(8);
    newer.facts.shards = Some(vec![4]);
    assert_eq!(store.offer(newer, &rules()), Ok(true));
    let mut unsigned = offer(1, PeerSource::Static);
    unsigned.facts.shards = Some(vec![5]);
    assert_eq!(
        store.offer(unsigned, &rules()),
        Ok(true),
        "what has no record has no age"
    );
}

#[test]
fn only_what_is_remembered_counts_as_reached_before() {
    let mut store = store(PeerStoreLimits::default());
    for (number, source) in [(1, PeerSource::Remembered), (2, PeerSource::PeerExchange)] {
        let mut known = offer(number, source);
        known.was_reached = true;
        assert_eq!(store.offer(known, &rules()), Ok(true));
    }
    let was_reached = |number| store.get(&peer(number)).map(|entry| entry.was_reached);
    assert_eq!(was_reached(1), Some(true));
    assert_eq!(was_reached(2), Some(false));
}

#[test]
fn a_domain_with_many_names_is_one_network() {
    let limits = PeerStoreLimits::default();
    let mut store = store(limits);
    let named = |number: u32, domain: &str| {
        let mut named = offer(number, PeerSource::PeerExchange);
        let text = format!("/dns4/h{number}.{domain}/tcp/60000");
        named.addresses = vec![text.parse().expect("an address")];
        named
    };
    let taken = (1..=100).map(|number| store.offer(named(number, "evil.example"), &rules()));
    let taken: Vec<_> = taken.collect();
    let accepted = taken.iter().filter(|taken| taken.is_ok()).count();
    assert_eq!(accepted, limits.per_network_max);
    assert_eq!(taken.last(), Some(&Err(OfferRefusal::CrowdedNetwork)));
    assert_eq!(store.offer(named(101, "good.example"), &rules()), Ok(true));
}
