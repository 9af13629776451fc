use undertone_gossip::Time;
use undertone_peers::{DialState, PeerEntry, PeerStore, PeerStoreLimits};

use super::*;

fn peer(number: u8) -> PeerId {
    PeerId::from_bytes(&[0, 1, number]).expect("a multihash of one byte")
}

fn entry(address: &str) -> PeerEntry {
    let mut store = PeerStore::new(peer(0), 1, PeerStoreLimits::default());
    let mut offer = PeerOffer::new(peer(1), PeerSource::Discv5);
    offer.addresses.push(address.parse().expect("an address"));
    offer.facts = PeerFacts {
        cluster: Some(1),
        shards: Some(vec![0, 7]),
        capabilities: Some(Capabilities::STORE),
    };
    let taken = store.offer(offer, &undertone_peers::AddressRules::default());
    assert_eq!(taken, Ok(true));
    let mut entry = store.get(&peer(1)).expect("offered").clone();
    entry.link = DialState::Down;
    entry.next_dial = Time::MAX;
    entry
}

/// Waits until the writer's thread has written what it was told.
fn reopened(path: &Path, wanted: usize) -> Vec<PeerOffer> {
    for _ in 0..1_000 {
        let (_, offers) = open(path);
        if offers.len() == wanted {
            return offers;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{wanted} peers are not in the database");
}

#[test]
fn peers_are_offered_again_after_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("peers.sqlite");
    let (memory, offers) = open(&path);
    assert_eq!(offers, []);
    memory.remember(peer(1), &entry("/ip4/20.0.0.1/tcp/60000"));
    memory.remember(peer(2), &entry("/dns4/node.example.org/tcp/443/wss"));
    drop(memory);
    let offers = reopened(&path, 2);
    let second = offers.iter().find(|offer| offer.peer == peer(2));
    let second = second.expect("it was remembered");
    assert_eq!(second.source, PeerSource::Remembered);
    assert_eq!(second.facts, entry("/ip4/20.0.0.1/tcp/1").facts);
    let address = second.addresses.first().map(ToString::to_string);
    assert_eq!(
        address.as_deref(),
        Some("/dns4/node.example.org/tcp/443/wss")
    );

    let (memory, _) = open(&path);
    memory.forget(peer(2));
    drop(memory);
    let left = reopened(&path, 1);
    assert_eq!(left.first().map(|offer| offer.peer), Some(peer(1)));
}

#[test]
fn old_peers_and_too_many_are_dropped_at_the_start() {
    let database = Connection::open_in_memory().expect("memory");
    database.execute_batch(SCHEMA).expect("a new database");
    for number in 0..2_500u16 {
        let seen_s = 1_000_000_000 + i64::from(number);
        let id = [&[0, 2][..], &number.to_be_bytes()].concat();
        database
            .execute(
                "INSERT INTO peer VALUES (?1, '/ip4/20.0.0.1/tcp/1', 1, '0', 1, ?2, ?3)",
                params![id, number == 3, seen_s],
            )
            .expect("a row");
    }
    let offers = load(&database, 1_000_002_500).expect("readable");
    assert_eq!(offers.len(), 200);
    let first = offers.first().map(|offer| offer.peer.to_bytes());
    assert_eq!(first, Some(vec![0, 2, 0, 3]), "the one that was reached");
    let reached = offers.iter().map(|offer| offer.was_reached);
    assert_eq!(reached.filter(|was_reached| *was_reached).count(), 1);
    let kept: u32 = database
        .query_row("SELECT count(*) FROM peer", [], |row| row.get(0))
        .expect("a count");
    assert_eq!(kept, KEPT_MAX);
    let month_s = 30 * 86_400;
    let offers = load(&database, 1_000_002_490 + month_s).expect("readable");
    assert_eq!(offers.len(), 10, "seen in the last thirty days");
}

#[test]
fn a_database_that_is_none_is_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("peers.sqlite");
    std::fs::write(&path, [b'x'; 5_000]).expect("a file");
    let (memory, offers) = open(&path);
    assert_eq!(offers, []);
    memory.remember(peer(1), &entry("/ip4/20.0.0.1/tcp/60000"));
    let still = std::fs::read(&path).expect("the file is there");
    assert_eq!(still, [b'x'; 5_000], "it is left as it was");
}
