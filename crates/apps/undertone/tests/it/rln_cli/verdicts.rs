//! What `undertone rln verify` refuses, and at which stage.

use bytes::Bytes;
use undertone_message::WakuMessage;
use undertone_rln::RateLimitProof;

use crate::support::place::{Place, T, text};

/// The message in hex with a change made to it.
fn changed(message_hex: &str, change: impl FnOnce(&mut WakuMessage)) -> String {
    let bytes = Bytes::from(hex::decode(message_hex).unwrap());
    let mut message = WakuMessage::decode(&bytes).unwrap();
    change(&mut message);
    hex::encode(message.encode())
}

#[test]
fn whatever_is_changed_in_a_message_is_found() {
    let (place, _) = Place::with_member(3);
    let proved = place.prove(T, "--payload hello").json(0);
    let good = text(&proved["message"]);
    let with_proof = |change: &dyn Fn(&mut RateLimitProof)| {
        changed(good, |message| {
            let field = message.rate_limit_proof.as_ref().unwrap();
            let mut proof = RateLimitProof::decode(field).unwrap();
            change(&mut proof);
            message.rate_limit_proof = Some(proof.encode().into());
        })
    };
    let now = format!("--now-ns {T}");
    let late = format!("--now-ns {}", T + 20_000_000_001);
    let early = format!("--now-ns {}", T - 20_000_000_001);
    let other_generation = format!("{now} --network twn-v0.37");
    let cases = [
        (
            changed(good, |m| m.payload = "hellO".into()),
            &now,
            "check",
            "share_x",
        ),
        (
            changed(good, |m| m.content_topic = "/test/1/b/proto".into()),
            &now,
            "check",
            "share_x",
        ),
        (
            changed(good, |m| m.timestamp = Some(T as i64 + 1)),
            &now,
            "check",
            "share_x",
        ),
        (
            changed(good, |m| m.rate_limit_proof = None),
            &now,
            "missing-proof",
            "no proof",
        ),
        (
            changed(good, |m| m.rate_limit_proof = Some(Bytes::new())),
            &now,
            "missing-proof",
            "no proof",
        ),
        (
            changed(good, |m| {
                m.rate_limit_proof = Some(Bytes::from_static(b"x"));
            }),
            &now,
            "proof-encoding",
            "byte 0",
        ),
        (
            good[..good.len() - 2].to_owned(),
            &now,
            "message",
            "not a WakuMessage",
        ),
        (String::new(), &now, "message", "payload"),
        (
            with_proof(&|proof| proof.epoch[0] ^= 1),
            &now,
            "check",
            "epoch",
        ),
        (
            with_proof(&|proof| proof.rln_identifier[0] ^= 1),
            &now,
            "check",
            "rln_identifier",
        ),
        (
            with_proof(&|proof| proof.merkle_root[0] ^= 1),
            &now,
            "check",
            "merkle_root",
        ),
        (
            with_proof(&|proof| proof.share_y[0] ^= 1),
            &now,
            "snark",
            "does not hold",
        ),
        (
            with_proof(&|proof| proof.nullifier[0] ^= 1),
            &now,
            "snark",
            "does not hold",
        ),
        (
            with_proof(&|proof| proof.proof = [0; 128]),
            &now,
            "snark",
            "A of the proof",
        ),
        (good.to_owned(), &late, "check", "behind our clock"),
        (good.to_owned(), &early, "check", "ahead of our clock"),
        (good.to_owned(), &other_generation, "snark", "does not hold"),
    ];
    for (message, options, stage, reason) in cases {
        let ran = place.verify(&message, options);
        let verdict = ran.json(1);
        assert_eq!(
            (&verdict["valid"], text(&verdict["stage"])),
            (&false.into(), stage)
        );
        assert!(
            text(&verdict["reason"]).contains(reason),
            "{reason:?} not in {ran:?}"
        );
        assert!(ran.stderr.starts_with("error: -: not valid: "), "{ran:?}");
    }
    // The message was fine all along.
    assert_eq!(place.verify(good, &now).json(0)["valid"], true);
}

#[test]
fn a_message_counts_only_for_the_registry_of_its_author() {
    let (place, _) = Place::with_member(3);
    let (other, _) = Place::with_member(3);
    let proved = place.prove(T, "").json(0);
    let message = text(&proved["message"]);
    let now = format!("--now-ns {T}");
    let verdict = other.verify(message, &now).json(1);
    assert!(
        text(&verdict["reason"]).contains("merkle_root"),
        "{verdict}"
    );

    // A relay accepts the roots of the last 50 changes; whoever is removed can prove nothing new.
    place
        .run("rln remove --registry r --index 0 --json")
        .json(0);
    assert_eq!(place.verify(message, &now).json(0)["valid"], true);
    place.prove(T, "").failed(
        1,
        &["alice: not a member of r", "help: undertone rln register"],
    );
    let again = "rln remove --registry r --index 0";
    place.run(again).failed(1, &["r: there is no member 0"]);
}
