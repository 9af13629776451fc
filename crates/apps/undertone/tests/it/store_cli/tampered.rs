//! History that a store has changed, made up or kept of members that exceed their limit.

use serde_json::Value;
use undertone_archive::{Archive, ArchiveOptions, ArchiveUrl};
use undertone_message::WakuMessage;
use undertone_rln::{Identity, RateLimitProof, fr_to_le};
use undertone_services::history::StoredMessage;

use crate::store_cli::support::{EPOCH_S, Place, address, now_ns, pubsub_topic};
use crate::support::author::Author;

const S: i64 = 1_000_000_000;
const LIMIT: u32 = 50;

/// Changes the proof of a message.
fn forge(message: &mut WakuMessage, change: impl FnOnce(&mut RateLimitProof)) {
    let field = message.rate_limit_proof.take().unwrap();
    let mut proof = RateLimitProof::decode(&field).unwrap();
    change(&mut proof);
    message.rate_limit_proof = Some(proof.encode().into());
}

fn stored(message: WakuMessage) -> StoredMessage {
    StoredMessage::new(pubsub_topic().to_string(), message)
}

/// Puts messages into a new archive in the folder `store`.
async fn archive(place: &Place, messages: Vec<StoredMessage>) -> String {
    let folder = place.path("store/store.sqlite");
    let url = ArchiveUrl::sqlite(&folder);
    let archive = Archive::open(&url, ArchiveOptions::default())
        .await
        .unwrap();
    let report = archive.insert(messages).await.unwrap();
    assert_eq!(report.duplicates + report.out_of_range, 0);
    format!("--archive sqlite://{}", folder.display())
}

/// Verdict and first message named for a hash.
fn verdict<'a>(verified: &'a Value, one: &StoredMessage) -> &'a Value {
    let hash = one.hash.to_string();
    let offending = verified["offending"].as_array().unwrap();
    let found = offending.iter().find(|offending| offending["hash"] == hash);
    found.unwrap_or_else(|| panic!("{hash} is not in {verified}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_of_a_store_is_named() {
    let place = Place::new();
    let registry = place.registry();
    let author = Author::new(Identity::from_seed(b"alice"), LIMIT, EPOCH_S);
    let commitment = author.identity.commitment();
    registry.register(commitment, LIMIT).unwrap();
    let joined_ns = now_ns();
    let path = registry.tree().unwrap().path(0).unwrap();
    let honest = |message_id: u32| {
        let at_ns = joined_ns + i64::from(message_id) * 1_000_000;
        author.message(&path, &format!("message {message_id}"), at_ns, message_id)
    };
    let changed = |message_id, change: &dyn Fn(&mut WakuMessage)| {
        let mut message = honest(message_id);
        change(&mut message);
        stored(message)
    };
    let other = Identity::from_seed(b"bob").commitment();
    registry.register(other, LIMIT).unwrap();
    let later = registry.tree().unwrap().path(0).unwrap();

    let first = stored(honest(0));
    let proof = honest(0).rate_limit_proof;
    let cases = [
        (
            "signal_mismatch",
            changed(1, &|message| message.payload = b"tampered".to_vec().into()),
        ),
        (
            "signal_mismatch",
            changed(2, &|message| message.timestamp = Some(joined_ns + S)),
        ),
        (
            "signal_mismatch",
            changed(3, &|message| {
                message.content_topic = "/test/1/b/proto".into();
            }),
        ),
        (
            "wrong_epoch",
            changed(4, &|message| message.timestamp = Some(S)),
        ),
        (
            "wrong_timestamp",
            changed(5, &|message| message.timestamp = Some(joined_ns + 9999 * S)),
        ),
        (
            "missing_proof",
            changed(6, &|message| message.rate_limit_proof = None),
        ),
        (
            "signal_mismatch",
            changed(7, &|message| message.rate_limit_proof.clone_from(&proof)),
        ),
        (
            "bad_proof",
            changed(8, &|message| forge(message, |proof| proof.share_y[0] ^= 1)),
        ),
        (
            "early_root",
            stored(author.message(&later, "too early", joined_ns - 30 * S, 9)),
        ),
        (
            "double_signal",
            stored(author.message(&path, "once more", joined_ns + S / 2, 0)),
        ),
    ];
    let mut messages = vec![first.clone(), stored(honest(20)), stored(honest(21))];
    messages.extend(cases.iter().map(|(_, one)| one.clone()));
    let count = messages.len();
    let archive = archive(&place, messages).await;
    let store = place
        .node(
            "store",
            &[],
            &[
                ("rln", "false"),
                ("store", "true"),
                ("store-message-retention-policy", "none"),
            ],
        )
        .await;
    let peer = format!("--peer {}", address(&store));
    for store in [&archive, &peer] {
        let ran = place.verify(store);
        assert!(
            ran.stderr.contains("10 of 13 messages are not valid"),
            "{ran:?}"
        );
        let verified = ran.json(3);
        assert_eq!(verified["messages"], count, "{verified}");
        assert_eq!(verified["valid"], 3, "{verified}");
        assert_eq!(verified["verdicts"]["signal_mismatch"], 4, "{verified}");
        for (expected, one) in &cases {
            assert_eq!(verdict(&verified, one)["verdict"], *expected, "{verified}");
        }
        let double = verdict(&verified, &cases[9].1);
        assert_eq!(double["first"], first.hash.to_string(), "{double}");
        assert_eq!(double["commitment"], hex::encode(fr_to_le(&commitment)));
        assert_eq!(double["member"], 0, "{double}");
        let short = place.verify(&format!("{store} --show 1")).json(3);
        assert_eq!(short["offending"].as_array().unwrap().len(), 1);
    }
    store.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hash_that_is_none_of_the_message_is_named_in_an_archive_and_refused_from_a_peer() {
    let place = Place::new();
    let registry = place.registry();
    let author = Author::new(Identity::from_seed(b"alice"), LIMIT, EPOCH_S);
    registry
        .register(author.identity.commitment(), LIMIT)
        .unwrap();
    let path = registry.tree().unwrap().path(0).unwrap();
    let mut wrong = stored(author.message(&path, "hello", now_ns(), 0));
    wrong.hash.0[0] ^= 1;
    let archive = archive(&place, vec![wrong.clone()]).await;
    let verified = place.verify(&archive).json(3);
    assert_eq!(verdict(&verified, &wrong)["verdict"], "wrong_hash");
    let store = place
        .node("store", &[], &[("rln", "false"), ("store", "true")])
        .await;
    place
        .verify(&format!("--peer {}", address(&store)))
        .failed(1, &["is not the hash of its message", "ask another one"]);
    store.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_epoch_length_that_is_not_the_networks_is_said_once() {
    let place = Place::new();
    let registry = place.registry();
    let author = Author::new(Identity::from_seed(b"alice"), LIMIT, 600);
    registry
        .register(author.identity.commitment(), LIMIT)
        .unwrap();
    let path = registry.tree().unwrap().path(0).unwrap();
    let message = |id: u32| {
        let at_ns = now_ns() - i64::from(id) * 10 * S;
        stored(author.message(&path, &format!("message {id}"), at_ns, id))
    };
    let archive = archive(&place, (0..3).map(message).collect()).await;
    place.verify(&archive).failed(
        2,
        &[
            "the proofs are not of epochs of 1000000000 s: all of the first 3 fit 600 s",
            "--rln-epoch-s",
        ],
    );
}
