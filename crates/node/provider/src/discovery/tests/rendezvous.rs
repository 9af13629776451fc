use super::*;
use crate::services::sign_record;

const CLUSTER: u16 = 66;

fn addresses(port: u16) -> Vec<Multiaddr> {
    vec![format!("/ip4/203.0.113.7/tcp/{port}").parse().unwrap()]
}

fn registration(shard: u16, record: Bytes) -> FoundRegistration {
    FoundRegistration {
        namespace: shard_namespace(CLUSTER, shard).into(),
        record,
        ttl_s: Some(60),
    }
}

fn of(keypair: &Keypair, shard: u16) -> FoundRegistration {
    let record = sign_record(keypair, 1, &addresses(60_000)).unwrap();
    registration(shard, record)
}

struct TellersAnswer {
    own: Keypair,
    teller: PeerId,
    found: FoundPeers,
}

impl TellersAnswer {
    fn new() -> Self {
        let own = Keypair::generate_secp256k1();
        Self {
            found: FoundPeers::new(own.public().to_peer_id(), CLUSTER),
            teller: PeerId::random(),
            own,
        }
    }

    fn with(mut self, shard: u16, found: &[FoundRegistration]) -> Self {
        self.found.add(self.teller, shard, found);
        self
    }
}

#[test]
fn a_registered_peer_is_offered_once_with_all_its_shards_and_who_told_of_it() {
    let peer = Keypair::generate_secp256k1();
    let answer = TellersAnswer::new();
    let teller = answer.teller;
    let answer = answer
        .with(0, &[of(&peer, 0), of(&peer, 0)])
        .with(3, &[of(&peer, 3)]);
    let offers = answer.found.offers();
    let expected = PeerOffer {
        addresses: addresses(60_000),
        facts: PeerFacts {
            cluster: Some(CLUSTER),
            shards: Some(vec![0, 3]),
            capabilities: None,
        },
        told_by: Some(teller),
        ..PeerOffer::new(peer.public().to_peer_id(), PeerSource::Rendezvous)
    };
    assert_eq!(offers, [expected]);
}

#[test]
fn this_node_s_own_registration_is_passed_over() {
    let answer = TellersAnswer::new();
    let own = of(&answer.own, 0);
    assert_eq!(answer.with(0, &[own]).found.offers(), []);
}

#[test]
fn registrations_of_another_namespace_and_forged_ones_are_passed_over_and_the_rest_is_taken() {
    let honest = Keypair::generate_secp256k1();
    let other = of(&Keypair::generate_secp256k1(), 1);
    let mut forged = of(&Keypair::generate_secp256k1(), 0).record.to_vec();
    *forged.last_mut().unwrap() ^= 1;
    let found = [
        other,
        registration(0, forged.into()),
        registration(0, Bytes::from_static(b"nonsense")),
        of(&honest, 0),
    ];
    let offers = TellersAnswer::new().with(0, &found).found.offers();
    let peers: Vec<_> = offers.iter().map(|offer| offer.peer).collect();
    assert_eq!(peers, [honest.public().to_peer_id()]);
}

#[test]
fn pauses_double_up_to_the_longest_and_begin_anew_after_a_success() {
    let mut pauses = Pauses::new(ASK_AGAIN, ASK_PAUSE);
    let seconds: Vec<_> = (0..6).map(|_| pauses.failed().as_secs()).collect();
    assert_eq!(seconds, [5, 10, 20, 40, 60, 60]);
    pauses.succeeded();
    assert_eq!(pauses.failed(), ASK_AGAIN);
}

#[test]
fn a_record_has_as_many_addresses_as_every_point_takes() {
    let named = |name: &str| -> Multiaddr { format!("/dns4/{name}/tcp/443/wss").parse().unwrap() };
    let short = vec![named("a.example"); 40];
    assert_eq!(fitting(short.into_iter()).len(), 16);
    let long = vec![named(&"a".repeat(200)); 40];
    let long = fitting(long.into_iter());
    assert_eq!(long.len(), 7);
    let keypair = Keypair::generate_secp256k1();
    let record = sign_record(&keypair, u64::MAX, &long).unwrap();
    assert!(record.len() <= 2048, "{}", record.len());
}
