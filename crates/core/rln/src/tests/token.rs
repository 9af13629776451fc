use super::*;
use crate::counter::MessageIdCounter;
use crate::epoch::WallClock;
use crate::identity::{Identity, rate_commitment};
use crate::key::Key;
use crate::pool::{Pool, PoolConfig};
use crate::prover::{Prover, os_rng};
use crate::tree::MerkleTree;

fn prepared(message_id: u32) -> PreparedToken {
    let identity = Identity::from_seed(b"tokens");
    let mut tree = MerkleTree::new();
    tree.set(3, rate_commitment(identity.commitment(), 20))
        .unwrap();
    let prover = Prover::new(Key::load().unwrap());
    let member = prover
        .member(&identity, 20, &tree.path(3).unwrap())
        .unwrap();
    let slot = MessageSlot {
        generation: Generation::Hashed,
        epoch: Epoch(5),
        identifier: &RlnIdentifier::WAKU,
        message_id,
    };
    let token = member.prepare(&slot, &mut os_rng().unwrap()).unwrap();
    assert_eq!(token.root(), tree.root());
    token
}

#[test]
fn a_token_takes_only_its_own_message_id() {
    let folder = tempfile::tempdir().unwrap();
    let mut counter = MessageIdCounter::open(folder.path().join("ids"), 20).unwrap();
    let token = prepared(1);
    let refused = token
        .arm(
            counter
                .reserve(Epoch(5), &WallClock::stopped_in(Epoch(5)))
                .unwrap(),
        )
        .unwrap_err();
    assert_eq!((refused.of_token, refused.reserved), (1, 0));
    let (token, _) = *refused.returned;
    let token = token
        .arm(
            counter
                .reserve(Epoch(5), &WallClock::stopped_in(Epoch(5)))
                .unwrap(),
        )
        .unwrap();
    assert_eq!((token.epoch(), token.message_id()), (Epoch(5), 1));

    let refused = prepared(0)
        .arm(
            counter
                .reserve(Epoch(6), &WallClock::stopped_in(Epoch(6)))
                .unwrap(),
        )
        .unwrap_err();
    assert_eq!(
        (refused.epoch_of_token, refused.epoch_reserved),
        (Epoch(5), Epoch(6))
    );
}

#[test]
fn a_pool_arms_the_token_of_the_reserved_id() {
    let folder = tempfile::tempdir().unwrap();
    let mut counter = MessageIdCounter::open(folder.path().join("ids"), 20).unwrap();
    let mut pool = Pool::new(PoolConfig::default());
    pool.insert((Epoch(5), 1), 0, prepared(1), 0, 0);
    let without = pool
        .take(
            counter
                .reserve(Epoch(5), &WallClock::stopped_in(Epoch(5)))
                .unwrap(),
            0,
        )
        .unwrap_err();
    assert_eq!(without.message_id(), 0);
    let token = pool
        .take(
            counter
                .reserve(Epoch(5), &WallClock::stopped_in(Epoch(5)))
                .unwrap(),
            0,
        )
        .unwrap();
    assert_eq!(token.message_id(), 1);
}

#[test]
fn debug_shows_no_secret() {
    let token = prepared(0);
    let shown = format!("{token:?}");
    assert_eq!(
        shown,
        "PreparedToken { epoch: Epoch(5), message_id: 0, .. }"
    );
}

#[test]
fn wiping_leaves_no_trace_of_the_points() {
    let mut token = prepared(0);
    token.secrets.zeroize();
    let Secrets {
        a,
        b,
        c,
        linear,
        intercept,
        slope,
    } = &token.secrets;
    let zero = ark_bn254::Fq::from(0);
    for point in [a, c, linear] {
        assert_eq!((point.x, point.z), (zero, zero));
    }
    assert_eq!((b.x.c0, b.x.c1, b.z.c0), (zero, zero, zero));
    assert_eq!((*intercept, *slope), (Fr::from(0), Fr::from(0)));
}
