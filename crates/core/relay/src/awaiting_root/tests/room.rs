use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const LIMITS: RoomLimits = RoomLimits {
    max_of_proven: 8,
    max_of_strangers: 8,
    max_of_stranger: 3,
};

#[derive(Default)]
struct World {
    proven: BTreeSet<PeerIx>,
    senders: BTreeMap<MessageId, Vec<PeerIx>>,
}

impl PeerKnowledge for World {
    fn is_proven(&self, peer: PeerIx) -> bool {
        self.proven.contains(&peer)
    }

    fn senders(&self, id: &MessageId) -> &[PeerIx] {
        self.senders.get(id).map_or(&[], Vec::as_slice)
    }
}

struct Rig {
    room: Room<()>,
    world: World,
}

impl Rig {
    fn new() -> Self {
        Self {
            room: Room::new(LIMITS),
            world: World::default(),
        }
    }

    fn id(number: u32) -> MessageId {
        MessageId::of(&number.to_le_bytes())
    }

    /// Adds a message of a peer; returns the ids of those that it displaces.
    fn put(&mut self, number: u32, peer: u32) -> Vec<MessageId> {
        let (id, from) = (Self::id(number), PeerIx(peer));
        self.copy(number, peer);
        let message = WaitingMessage { id, from, what: () };
        let displaced = self.room.put(message, &self.world);
        displaced.into_iter().map(|message| message.id).collect()
    }

    /// Records that a peer has sent a message.
    fn copy(&mut self, number: u32, peer: u32) {
        let senders = self.world.senders.entry(Self::id(number)).or_default();
        if !senders.contains(&PeerIx(peer)) {
            senders.push(PeerIx(peer));
        }
    }

    fn holds(&self, number: u32) -> bool {
        self.room
            .iter()
            .any(|message| message.id == Self::id(number))
    }
}

#[test]
fn of_one_stranger_the_oldest_makes_room() {
    let mut rig = Rig::new();
    for number in 0..3 {
        assert_eq!(rig.put(number, 1), []);
    }
    assert_eq!(rig.put(3, 1), [Rig::id(0)]);
    assert_eq!(rig.put(4, 2), [], "another peer has places of its own");
}

#[test]
fn those_who_have_the_most_make_room() {
    let mut rig = Rig::new();
    rig.put(100, 9);
    for number in 0..100 {
        rig.put(number, 1 + number % 5);
    }
    assert!(rig.holds(100), "strangers displace one another");
    rig.put(101, 8);
    assert!(rig.holds(100) && rig.holds(101));
}

#[test]
fn strangers_cannot_take_the_places_of_a_proven_peer() {
    let mut rig = Rig::new();
    rig.world.proven.insert(PeerIx(50));
    for number in 100..100 + LIMITS.max_of_proven as u32 {
        assert_eq!(rig.put(number, 50), []);
    }
    for number in 0..30 {
        rig.put(number, 100 + number);
    }
    for number in 100..100 + LIMITS.max_of_proven as u32 {
        assert!(rig.holds(number));
    }
    assert_eq!(rig.put(200, 50), [Rig::id(100)], "its own oldest");
}

#[test]
fn a_message_that_a_proven_peer_sent_too_waits_in_its_places() {
    let mut rig = Rig::new();
    rig.world.proven.insert(PeerIx(50));
    for number in 100..105 {
        rig.put(number, 50);
    }
    rig.put(200, 1);
    rig.copy(200, 50);
    for number in 0..30 {
        rig.put(number, 1);
    }
    assert!(
        rig.holds(200),
        "the proven peer has the better claim, though it has more"
    );
}

#[test]
fn a_message_that_an_honest_peer_sent_too_waits_in_its_places() {
    let mut rig = Rig::new();
    rig.put(100, 1);
    rig.copy(100, 2);
    for number in 0..30 {
        rig.put(number, 1);
    }
    assert!(rig.holds(100), "its first sender cannot displace it");
}

#[test]
fn what_is_taken_is_gone_and_comes_oldest_first() {
    let mut rig = Rig::new();
    for number in 0..4 {
        rig.put(number, number);
    }
    let taken = rig.room.take(|message| message.id != Rig::id(2));
    let ids: Vec<_> = taken.into_iter().map(|message| message.id).collect();
    assert_eq!(ids, [0, 1, 3].map(Rig::id));
    assert!(rig.holds(2) && !rig.room.is_empty());
}

proptest! {
    /// For any behaviour of others: the limits hold, each message is either waiting or was returned, and a
    /// peer with no more waiting messages than its even share keeps them all.
    #[test]
    fn an_even_share_is_safe(
        events in prop::collection::vec((0u32..12, 0u32..12, any::<bool>()), 0..200),
        proven in prop::collection::btree_set(0u32..12, 0..6),
    ) {
        let mut rig = Rig::new();
        rig.world.proven = proven.into_iter().chain([101]).map(PeerIx).collect();
        rig.put(1_000, 100);
        rig.put(1_001, 101);
        let mut there = BTreeSet::from([Rig::id(1_000), Rig::id(1_001)]);
        // At most seven other peers are in the room, so one slot is an even share.
        for (number, (peer, copier, is_copied)) in (0u32..).zip(events) {
            if is_copied {
                rig.copy(number, copier % 7);
            }
            there.insert(Rig::id(number));
            for id in rig.put(number, peer % 7) {
                prop_assert!(there.remove(&id), "given back twice");
            }
            prop_assert_eq!(rig.room.iter().count(), there.len());
            let (mut of_proven, mut of_strangers) = (0, 0);
            for (peer, holding) in rig.room.holdings(&rig.world) {
                if rig.world.proven.contains(&peer) {
                    of_proven += holding.count;
                } else {
                    of_strangers += holding.count;
                    prop_assert!(holding.count <= LIMITS.max_of_stranger);
                }
            }
            prop_assert!(of_proven <= LIMITS.max_of_proven);
            prop_assert!(of_strangers <= LIMITS.max_of_strangers);
            prop_assert!(rig.holds(1_000) && rig.holds(1_001));
        }
    }
}
