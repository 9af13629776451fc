//! The connection manager: offers and facts of strangers, connections and failed dials.
#![no_main]

use libfuzzer_sys::fuzz_target;
use multiaddr::{Multiaddr, PeerId};
use undertone_fuzz::{Reader, rng, until};
use undertone_gossip::{Direction, Time};
use undertone_peers::{
    Capabilities, ConnectionManager, Input, ManagerConfig, PeerFacts, PeerOffer, PeerSource,
};

const SOURCES: [PeerSource; 5] = [
    PeerSource::Dns,
    PeerSource::Discv5,
    PeerSource::Rendezvous,
    PeerSource::PeerExchange,
    PeerSource::Prune,
];

fuzz_target!(|input: &[u8]| {
    let mut reader = Reader::new(input);
    let mut now = Time::ZERO;
    let mut manager = ConnectionManager::new(ManagerConfig::new(peer(255), 1), rng());
    while !reader.is_empty() {
        let kind = reader.byte();
        let peer = peer(reader.byte() % 32);
        let input = match kind % 9 {
            0 | 1 => {
                let mut offer = PeerOffer::new(peer, reader.one_of(&SOURCES));
                offer.addresses = addresses(&mut reader);
                offer.facts = facts(&mut reader);
                Input::Offer(offer)
            }
            2 => Input::Connected {
                peer,
                address: addresses(&mut reader)
                    .pop()
                    .unwrap_or_else(Multiaddr::empty),
                direction: reader.one_of(&[Direction::Inbound, Direction::Outbound]),
            },
            3 => Input::Disconnected(peer),
            4 => Input::DialFailed(peer),
            5 => Input::Learned {
                peer,
                facts: facts(&mut reader),
                listens_at: addresses(&mut reader),
            },
            6 => Input::ThinMeshes(vec![reader.number()]),
            7 => Input::Services(vec![(Capabilities(reader.byte()), reader.byte().into())]),
            _ => {
                let end = now.after(reader.time());
                until(
                    &mut manager,
                    &mut now,
                    end,
                    |manager| Some(manager.next_timeout()),
                    |manager, now| {
                        manager.handle(now, Input::Tick);
                        while manager.poll().is_some() {}
                    },
                );
                continue;
            }
        };
        manager.handle(now, input);
        while manager.poll().is_some() {}
    }
});

fn peer(number: u8) -> PeerId {
    // An identity multihash of a key's 36 bytes.
    let mut bytes = vec![0, 36, 8, 1, 18, 32];
    bytes.extend([number; 32]);
    PeerId::from_bytes(&bytes).expect("the bytes are those of a key")
}

fn facts(reader: &mut Reader<'_>) -> PeerFacts {
    PeerFacts {
        cluster: Some(u16::from(reader.byte() % 3)),
        shards: Some(vec![u16::from(reader.byte() % 4)]),
        capabilities: Some(Capabilities(reader.byte())),
    }
}

fn addresses(reader: &mut Reader<'_>) -> Vec<Multiaddr> {
    let texts = [
        "/ip4/10.0.0.1/tcp/1",
        "/ip4/8.8.8.8/tcp/60000",
        "/dns4/a.b/tcp/1/wss",
    ];
    match reader.byte() % 3 {
        0 => Multiaddr::try_from(reader.piece().to_vec())
            .into_iter()
            .collect(),
        1 => str::from_utf8(reader.piece())
            .ok()
            .and_then(|text| text.parse().ok())
            .into_iter()
            .collect(),
        _ => texts.iter().filter_map(|text| text.parse().ok()).collect(),
    }
}
