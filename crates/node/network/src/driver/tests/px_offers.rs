use libp2p::identity::Keypair;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng as _};
use undertone_gossip::Time;
use undertone_message::Shard;
use undertone_peers::{ConnectionManager, ManagerConfig, OfferRefusal, Output};

use super::*;

const CLUSTER: u16 = 66;

fn topic(cluster: u16) -> PubsubTopic {
    PubsubTopic::Static(Shard::new(cluster, 3).unwrap())
}

fn address(host: u8) -> Multiaddr {
    format!("/ip4/20.0.0.{host}/tcp/60000").parse().unwrap()
}

/// A signed record in the form of the specification.
fn record(key: &Keypair, addresses: Vec<Multiaddr>) -> Vec<u8> {
    let record = PeerRecord::new_interop(key, addresses).unwrap();
    record.into_signed_envelope().into_protobuf_encoding()
}

fn verified(peer: PeerId, record: &[u8], told_by: PeerId) -> Result<PeerOffer, OfferDefect> {
    let identity = peer.to_bytes();
    PrunedOffer {
        identity: &identity,
        record,
        topic: &topic(CLUSTER),
        told_by,
    }
    .verified()
}

#[test]
fn a_signed_record_of_either_form_becomes_an_offer() {
    let key = Keypair::generate_secp256k1();
    let (peer, teller) = (key.public().to_peer_id(), PeerId::random());
    let older = PeerRecord::new(&key, vec![address(1)]).unwrap();
    let older = older.into_signed_envelope().into_protobuf_encoding();
    for record in [record(&key, vec![address(1)]), older] {
        let offer = verified(peer, &record, teller).unwrap();
        assert_eq!((offer.peer, offer.told_by), (peer, Some(teller)));
        assert_eq!(offer.addresses, [address(1)]);
        assert_eq!(offer.source, PeerSource::Prune);
        assert_eq!(offer.facts.cluster, Some(CLUSTER));
        assert!(offer.facts.relays(3) && !offer.facts.relays(4));
    }
    let bare = verified(peer, &[], teller).unwrap();
    assert_eq!(bare.addresses, []);
}

#[test]
fn what_is_forged_damaged_or_another_peers_is_refused() {
    let key = Keypair::generate_secp256k1();
    let (peer, teller) = (key.public().to_peer_id(), PeerId::random());
    let good = record(&key, vec![address(1)]);
    let other = PeerId::random();
    assert_eq!(
        verified(other, &good, teller),
        Err(OfferDefect::OtherPeer(peer))
    );
    for at in 0..good.len() {
        let mut changed = good.clone();
        changed[at] ^= 1;
        assert!(verified(peer, &changed, teller).is_err(), "byte {at}");
    }
    for length in [1, good.len() / 2, good.len() - 1] {
        let cut = verified(peer, &good[..length], teller);
        assert_eq!(cut, Err(OfferDefect::Record));
    }
    let nobody = PrunedOffer {
        identity: b"nobody",
        record: &good,
        topic: &topic(CLUSTER),
        told_by: teller,
    };
    assert_eq!(nobody.verified(), Err(OfferDefect::Identity));
}

#[test]
fn a_record_with_a_thousand_addresses_gives_few() {
    let key = Keypair::generate_secp256k1();
    let many = (0..=255).map(address).collect();
    let offer = verified(
        key.public().to_peer_id(),
        &record(&key, many),
        PeerId::random(),
    );
    assert_eq!(offer.unwrap().addresses.len(), ADDRESSES_MAX);
}

/// Peers that a manager which wants relays of shard 3 dials after these offers, and those that it refuses.
fn dialled(offers: Vec<PeerOffer>) -> (Vec<PeerId>, Vec<OfferRefusal>) {
    let config = ManagerConfig::new(PeerId::random(), CLUSTER);
    let mut manager = ConnectionManager::new(config, ChaCha8Rng::from_seed([1; 32]));
    manager.handle(Time::ZERO, Input::Shards(vec![3]));
    for offer in offers {
        manager.handle(Time::ZERO, Input::Offer(offer));
    }
    let (mut dialled, mut refused) = (Vec::new(), Vec::new());
    for second in 0..60 {
        manager.handle(Time::from_millis(second * 1000), Input::Tick);
        while let Some(output) = manager.poll() {
            match output {
                Output::Dial { peer, .. } => dialled.push(peer),
                Output::Refused { reason, .. } => refused.push(reason),
                _ => {}
            }
        }
    }
    (dialled, refused)
}

#[test]
fn an_offered_peer_is_dialled_unless_it_is_of_another_cluster_or_nowhere() {
    let key = Keypair::generate_secp256k1();
    let (peer, teller) = (key.public().to_peer_id(), PeerId::random());
    let good = record(&key, vec![address(1)]);
    let offer = verified(peer, &good, teller).unwrap();
    // Nobody answers, so it is dialled more than once.
    assert_eq!(dialled(vec![offer]).0.first(), Some(&peer));
    let foreign = PrunedOffer {
        identity: &peer.to_bytes(),
        record: &good,
        topic: &topic(CLUSTER + 1),
        told_by: teller,
    };
    let foreign = foreign.verified().unwrap();
    assert_eq!(dialled(vec![foreign]).1, [OfferRefusal::OtherCluster]);
    let loopback = record(&key, vec!["/ip4/127.0.0.1/tcp/60000".parse().unwrap()]);
    let loopback = verified(peer, &loopback, teller).unwrap();
    assert_eq!(dialled(vec![loopback]).1, [OfferRefusal::NoAddress]);
}

#[test]
fn one_teller_fills_the_table_with_no_more_than_its_share() {
    let teller = PeerId::random();
    let offers = (0..200).map(|host| {
        let key = Keypair::generate_ed25519();
        let at = format!("/ip4/{}.7.113.1/tcp/60000", 11 + host);
        let record = record(&key, vec![at.parse().unwrap()]);
        verified(key.public().to_peer_id(), &record, teller).unwrap()
    });
    let (_, refused) = dialled(offers.collect());
    assert!(refused.len() >= 100, "{} refused", refused.len());
    let talkative = |reason: &&OfferRefusal| **reason == OfferRefusal::TalkativeTeller;
    assert!(
        refused.iter().filter(talkative).count() >= 100,
        "{refused:?}"
    );
}
