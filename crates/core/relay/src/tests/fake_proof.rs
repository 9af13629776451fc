//! Messages with well-formed proofs that no prover made, with shares on a line of our choice.

use bytes::Bytes;
use undertone_message::{NetworkPreset, PubsubTopic, WakuMessage};
use undertone_rln::{Epoch, Fr, RateLimitProof, RlnIdentifier, RootWindow, fr_to_le, signal_hash};

use crate::RelayConfig;

/// Wall time at virtual time zero: 200 s into epoch 2 833 333 of 600 s.
pub(crate) const NOW_NS: u64 = 1_700_000_000 * SECOND_NS;
pub(crate) const SECOND_NS: u64 = 1_000_000_000;
pub(crate) const EPOCH_S: u64 = 600;
pub(crate) const CONTENT_TOPIC: &str = "/test/1/a/proto";

/// The secret of the member whose line [`share`] draws.
pub(crate) const SECRET: u64 = 77;

/// The Waku Network: cluster 1, 150 KiB, epochs of 600 s, 20 s of clock gap. Any content topic may be
/// on any shard.
pub(crate) fn config() -> RelayConfig {
    RelayConfig {
        num_shards: None,
        ..sharded()
    }
}

/// The Waku Network with its eight shards, each for some content topics.
pub(crate) fn sharded() -> RelayConfig {
    RelayConfig::for_network(&NetworkPreset::by_name("twn").unwrap())
}

/// The Waku Network without a rate limit.
pub(crate) fn config_without_rln() -> RelayConfig {
    RelayConfig {
        rln: None,
        ..config()
    }
}

pub(crate) fn topic() -> PubsubTopic {
    PubsubTopic::parse("/waku/2/rs/1/0").unwrap()
}

/// The root that forged proofs name.
pub(crate) fn root() -> Fr {
    Fr::from(100)
}

pub(crate) fn window(roots: &[Fr]) -> RootWindow {
    let mut window = RootWindow::new(50);
    roots.iter().for_each(|root| window.push(*root));
    window
}

pub(crate) fn x_of(message: &WakuMessage) -> Fr {
    signal_hash(
        &message.payload,
        &message.content_topic,
        message.timestamp_ns(),
    )
}

/// A message with the current timestamp, without a proof.
pub(crate) fn plain(payload: &str) -> WakuMessage {
    plain_at(payload, NOW_NS)
}

pub(crate) fn plain_at(payload: &str, timestamp_ns: u64) -> WakuMessage {
    let mut message = WakuMessage::new(payload.as_bytes().to_vec(), CONTENT_TOPIC);
    message.timestamp = Some(i64::try_from(timestamp_ns).unwrap());
    message
}

/// The member's line at `x`; each nullifier has a slope of its own.
pub(crate) fn share(nullifier: u64, x: Fr) -> Fr {
    Fr::from(SECRET) + Fr::from(nullifier + 1) * x
}

/// The proof of `message` under a nullifier, correct in everything but the zero-knowledge proof.
pub(crate) fn proof_of(message: &WakuMessage, nullifier: u64) -> RateLimitProof {
    let time_ns = u64::try_from(message.timestamp_ns()).unwrap_or(0);
    let x = x_of(message);
    RateLimitProof {
        proof: [9; 128],
        merkle_root: fr_to_le(&root()),
        epoch: Epoch::at(time_ns, EPOCH_S).to_bytes(),
        share_x: fr_to_le(&x),
        share_y: fr_to_le(&share(nullifier, x)),
        nullifier: fr_to_le(&Fr::from(nullifier)),
        rln_identifier: RlnIdentifier::WAKU.0,
    }
}

pub(crate) fn attach(mut message: WakuMessage, proof: &RateLimitProof) -> WakuMessage {
    message.rate_limit_proof = Some(proof.encode().into());
    message
}

/// A message with the current timestamp and its proof.
pub(crate) fn proved(payload: &str, nullifier: u64) -> WakuMessage {
    proved_at(payload, nullifier, NOW_NS)
}

pub(crate) fn proved_at(payload: &str, nullifier: u64, timestamp_ns: u64) -> WakuMessage {
    let message = plain_at(payload, timestamp_ns);
    let proof = proof_of(&message, nullifier);
    attach(message, &proof)
}

/// A message whose proof was tampered with.
pub(crate) fn tampered(tamper: impl FnOnce(&mut RateLimitProof)) -> WakuMessage {
    let message = plain("hello");
    let mut proof = proof_of(&message, 1);
    tamper(&mut proof);
    attach(message, &proof)
}

/// A message with its proof that takes exactly `len` bytes.
pub(crate) fn proved_of_len(len: usize, nullifier: u64) -> WakuMessage {
    let mut payload = "a".repeat(len);
    loop {
        let message = proved(&payload, nullifier);
        let over = message.encoded_len() - len;
        if over == 0 {
            return message;
        }
        payload.truncate(payload.len() - over);
    }
}

/// The same element in its other encoding: the value plus the field's modulus.
pub(crate) fn alias(bytes: [u8; 32]) -> [u8; 32] {
    let modulus = fr_to_le(&-Fr::from(1));
    let mut sum = [0; 32];
    // The encoding of -1 is the modulus less one: the missing one is the first carry.
    let mut carry = 1u16;
    for (at, byte) in bytes.into_iter().enumerate() {
        carry += u16::from(byte) + u16::from(modulus[at]);
        sum[at] = carry as u8;
        carry >>= 8;
    }
    assert_eq!(carry, 0, "no room for an alias in 32 bytes");
    sum
}

/// The message as nwaku writes it: every field, even at its default, and here one unknown field.
pub(crate) fn as_nwaku_writes(message: &WakuMessage) -> Bytes {
    let mut message = message.clone();
    message.version.get_or_insert(0);
    message.meta.get_or_insert_default();
    message.ephemeral.get_or_insert(false);
    let mut bytes = message.encode();
    // Field 100, length-delimited.
    bytes.extend([0xa2, 0x06, 3, b'n', b'e', b'w']);
    bytes.into()
}
