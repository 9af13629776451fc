use undertone_rln::{Epoch, Generation, RlnIdentifier, external_nullifier, fr_to_le};

use super::*;

const SECRET: u64 = 77;

/// Proof fields of a message by the member with `secret`, without a valid SNARK.
fn proof(secret: u64, epoch: u64, message_id: u32, x: u64) -> RateLimitProof {
    let (secret, x) = (Fr::from(secret), Fr::from(x));
    let epoch = Epoch(epoch);
    let external = external_nullifier(Generation::Direct, epoch, &RlnIdentifier::WAKU);
    let slope = poseidon(&[secret, external, Fr::from(message_id)]);
    RateLimitProof {
        proof: [0; 128],
        merkle_root: [0; 32],
        epoch: epoch.to_bytes(),
        share_x: fr_to_le(&x),
        share_y: fr_to_le(&(secret + slope * x)),
        nullifier: fr_to_le(&poseidon(&[slope])),
        rln_identifier: RlnIdentifier::WAKU.0,
    }
}

#[test]
fn two_messages_with_one_id_name_their_author_and_are_two() {
    let one_id = [proof(SECRET, 5, 3, 1), proof(SECRET, 5, 3, 2)];
    let found = evidence(&one_id).unwrap();
    assert_eq!((found.secret, found.messages), (Fr::from(SECRET), 2));
}

#[test]
fn messages_of_the_author_count_in_their_epoch_and_once() {
    let mut messages = vec![proof(SECRET, 5, 3, 1), proof(SECRET, 5, 3, 2)];
    messages.push(proof(SECRET, 5, 3, 2));
    messages.extend((0..7).map(|id| proof(SECRET, 6, id, 10 + u64::from(id))));
    // A message of another member.
    messages.extend((0..9).map(|id| proof(78, 6, id, 30 + u64::from(id))));
    let found = evidence(&messages).unwrap();
    assert_eq!((found.secret, found.messages), (Fr::from(SECRET), 7));
}

#[test]
fn messages_that_reveal_nothing_are_told_apart() {
    let same = [proof(SECRET, 5, 3, 1), proof(SECRET, 5, 3, 1)];
    assert_eq!(evidence(&same), Err(Nothing::Same));
    let other_ids = [proof(SECRET, 5, 3, 1), proof(SECRET, 5, 4, 2)];
    assert_eq!(evidence(&other_ids), Err(Nothing::NoNullifierTwice));
    let other_epochs = [proof(SECRET, 5, 3, 1), proof(SECRET, 6, 3, 2)];
    assert_eq!(evidence(&other_epochs), Err(Nothing::NoNullifierTwice));
    assert_eq!(evidence(&same[..1]), Err(Nothing::NoNullifierTwice));
}

/// Counter of the reference implementation: ids restart when an epoch's length has passed since the
/// first one. `None` means that it refuses to publish.
struct ReferenceCounter {
    next: u32,
    since_s: Option<u64>,
}

impl ReferenceCounter {
    fn next(&mut self, now_s: u64, epoch_s: u64, limit: u32) -> Option<u32> {
        if self
            .since_s
            .is_none_or(|since_s| now_s - since_s >= epoch_s)
        {
            (self.next, self.since_s) = (0, Some(now_s));
        }
        let id = self.next;
        self.next += 1;
        (id < limit).then_some(id)
    }
}

/// Member that stays far below its limit, and still uses five ids twice.
#[test]
fn a_member_of_the_reference_node_may_repeat_ids_within_its_limit() {
    let (epoch_s, limit) = (600, 100);
    let mut counter = ReferenceCounter {
        next: 0,
        since_s: None,
    };
    // Ten messages in the middle of epoch 0, five early in epoch 1, thirty late in it.
    let times = (300..310).chain(600..605).chain(1000..1030);
    let messages: Vec<_> = times
        .map(|now_s| {
            let id = counter.next(now_s, epoch_s, limit).unwrap();
            proof(SECRET, now_s / epoch_s, id, now_s)
        })
        .collect();
    let found = evidence(&messages).unwrap();
    assert_eq!((found.secret, found.messages), (Fr::from(SECRET), 35));
    assert!(found.messages <= limit as usize);
}
