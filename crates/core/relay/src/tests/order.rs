//! Reason given for a message with several defects: that of the earliest check.

use bytes::Bytes;
use undertone_gossip::{MessageId, PeerIx};
use undertone_message::{DecodeError, PubsubTopic, WakuMessage};
use undertone_rln::{Fr, ProofField, ProofRejection as Why, fr_to_le};

use super::fake_proof::*;
use super::solo::*;
use crate::{Input, Rejection};

/// Defects of a message, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Defect {
    TooLarge,
    NoMessage,
    WrongShard,
    Stale,
    WrongEpoch,
    ForeignIdentifier,
    NonCanonical,
    OtherSignal,
    UnknownRoot,
    UsedNullifier,
    BadSnark,
}

use Defect::*;

const ORDER: [Defect; 11] = [
    TooLarge,
    NoMessage,
    WrongShard,
    Stale,
    WrongEpoch,
    ForeignIdentifier,
    NonCanonical,
    OtherSignal,
    UnknownRoot,
    UsedNullifier,
    BadSnark,
];

/// Nullifier under which [`judge`] has accepted another message.
const USED: u64 = 5;

fn message_with(defects: &[Defect]) -> WakuMessage {
    let has = |defect| defects.contains(&defect);
    let payload = match has(TooLarge) {
        true => "a".repeat(config().max_message_bytes),
        false => "hello".to_owned(),
    };
    let age_ns = if has(Stale) { 30 * SECOND_NS } else { 0 };
    let mut message = plain_at(&payload, NOW_NS - age_ns);
    if has(NoMessage) {
        message.meta = Some(vec![0; 65].into());
    }
    let mut proof = proof_of(&message, if has(UsedNullifier) { USED } else { USED + 1 });
    if has(WrongEpoch) {
        proof.epoch[0] ^= 1;
    }
    if has(ForeignIdentifier) {
        proof.rln_identifier = [0; 32];
    }
    if has(NonCanonical) {
        proof.share_y = alias(proof.share_y);
    }
    if has(OtherSignal) {
        proof.share_x = fr_to_le(&Fr::from(1));
    }
    if has(UnknownRoot) {
        proof.merkle_root = fr_to_le(&Fr::from(101));
    }
    attach(message, &proof)
}

/// Rejection of a message with these defects.
fn judge(defects: &[Defect]) -> Option<Rejection> {
    let mut solo = Solo::new();
    solo.accept(1, &proved("first", USED));
    let data = Bytes::from(message_with(defects).encode());
    let shard = if defects.contains(&WrongShard) { 1 } else { 0 };
    let joined = PubsubTopic::parse(&format!("/waku/2/rs/1/{shard}")).unwrap();
    // Not through the router, which drops messages on topics that are not joined.
    let id = MessageId::of(&data);
    solo.relay
        .validate(id, PeerIx(1), &gossip_topic(&joined), &data);
    let mut outputs: Vec<_> = std::iter::from_fn(|| solo.relay.poll()).collect();
    if let ([], Some(ticket)) = (&rejections(&outputs)[..], ticket(&outputs)) {
        let valid = !defects.contains(&BadSnark);
        outputs = solo.input(Input::ProofVerified { ticket, valid });
    }
    rejections(&outputs).first().map(|(_, reason)| *reason)
}

fn belongs_to(reason: Rejection) -> Defect {
    match reason {
        Rejection::TooLarge { .. } => TooLarge,
        Rejection::Decode(DecodeError::MetaTooLong { .. }) => NoMessage,
        Rejection::WrongShard => WrongShard,
        Rejection::Proof(Why::StaleTimestamp { .. }) => Stale,
        Rejection::Proof(Why::EpochMismatch { .. }) => WrongEpoch,
        Rejection::Proof(Why::ForeignIdentifier) => ForeignIdentifier,
        Rejection::Proof(Why::NonCanonical(ProofField::ShareY)) => NonCanonical,
        Rejection::Proof(Why::SignalMismatch) => OtherSignal,
        Rejection::Proof(Why::UnknownRoot { .. }) => UnknownRoot,
        Rejection::Spam { .. } => UsedNullifier,
        Rejection::Snark => BadSnark,
        other => panic!("unexpected: {other:?}"),
    }
}

#[test]
fn a_message_without_defects_passes() {
    assert_eq!(judge(&[]), None);
}

#[test]
fn each_defect_alone_is_found() {
    for defect in ORDER {
        assert_eq!(judge(&[defect]).map(belongs_to), Some(defect));
    }
}

#[test]
fn of_two_defects_the_earlier_is_the_reason() {
    for (at, earlier) in ORDER.into_iter().enumerate() {
        for later in ORDER.into_iter().skip(at + 1) {
            let reason = judge(&[earlier, later]).map(belongs_to);
            assert_eq!(reason, Some(earlier), "{earlier:?} and {later:?}");
        }
    }
}

#[test]
fn a_missing_or_unreadable_proof_comes_after_the_shard_and_before_the_timestamp() {
    let data = |message: &WakuMessage| Bytes::from(message.encode());
    let mut stale = plain_at("hello", NOW_NS - 30 * SECOND_NS);
    assert_eq!(
        Solo::new().refusal(1, &data(&stale)),
        Rejection::MissingProof
    );
    stale.rate_limit_proof = Some(vec![0xff].into());
    let reason = Solo::new().refusal(1, &data(&stale));
    assert!(matches!(reason, Rejection::MalformedProof(_)), "{reason:?}");

    let mut solo = Solo::new();
    let data = data(&plain("hello"));
    let elsewhere = gossip_topic(&PubsubTopic::parse("/waku/2/rs/1/1").unwrap());
    solo.relay
        .validate(MessageId::of(&data), PeerIx(1), &elsewhere, &data);
    let outputs: Vec<_> = std::iter::from_fn(|| solo.relay.poll()).collect();
    assert_eq!(rejection(&outputs), Rejection::WrongShard);
}
