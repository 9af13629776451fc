//! Past messages, with real proofs.

use undertone_message::{
    ContentTopic, MessageHash, NetworkPreset, Shard, WakuMessage, message_hash, shard_of,
};
use undertone_rln::{Epoch, Fr, RootTimeline, RootTolerance, signal_hash};

use super::real::{identity, rln};
use crate::{HistoricMessage, HistoryJudge, HistoryVerdict, RelayConfig};

const S: u64 = 1_000_000_000;

/// In the middle of an epoch of 600 s.
const T: u64 = 1_700_000_100 * S;

const TOPIC: &str = "/test/1/a/proto";

/// Message as a store would return it.
#[derive(Clone)]
struct Stored {
    hash: MessageHash,
    pubsub_topic: String,
    message: WakuMessage,
}

impl Stored {
    fn new(pubsub_topic: String, message: WakuMessage) -> Self {
        Self {
            hash: message_hash(&pubsub_topic, &message),
            pubsub_topic,
            message,
        }
    }

    /// Returns the message with a change, and its new hash.
    fn changed(&self, change: impl FnOnce(&mut WakuMessage)) -> Self {
        let mut message = self.message.clone();
        change(&mut message);
        Self::new(self.pubsub_topic.clone(), message)
    }
}

fn network() -> NetworkPreset {
    NetworkPreset::by_name("twn").unwrap()
}

fn place(content_topic: &str) -> String {
    let (network, topic) = (network(), ContentTopic::parse(content_topic).unwrap());
    let index = shard_of(&topic, network.num_shards);
    Shard::new(network.cluster_id, index).unwrap().to_string()
}

/// Message of a member with its proof, as honest nodes make it.
fn honest(payload: &str, at_ns: u64, member: u32, message_id: u32) -> Stored {
    let mut message = WakuMessage::new(payload.as_bytes().to_vec(), TOPIC);
    message.timestamp = Some(at_ns.cast_signed());
    let x = signal_hash(&message.payload, TOPIC, message.timestamp_ns());
    let epoch = Epoch::at(at_ns, network().rln.unwrap().epoch_size_s);
    let proof = rln().prove(member, message_id, epoch, x);
    message.rate_limit_proof = Some(proof.encode().into());
    Stored::new(place(TOPIC), message)
}

/// Timeline in which the root of all proofs is accepted from `since_ns` to `until_ns`.
fn timeline(since_ns: u64, until_ns: u64) -> RootTimeline {
    let mut timeline = RootTimeline::new(1);
    for (moment, root, at_ns) in [
        (1, Fr::from(1), since_ns - S),
        (2, rln().root(), since_ns),
        (3, Fr::from(2), until_ns),
    ] {
        timeline.push(root, moment);
        timeline.set_time(moment, at_ns);
    }
    timeline
}

fn judge() -> HistoryJudge {
    let config = RelayConfig::for_network(&network());
    HistoryJudge::new(&config, RootTolerance::new(20 * S, 60 * S)).unwrap()
}

fn historic(stored: &Stored) -> HistoricMessage<'_> {
    HistoricMessage {
        hash: stored.hash,
        pubsub_topic: &stored.pubsub_topic,
        message: &stored.message,
    }
}

fn judged_by(
    judge: &mut HistoryJudge,
    messages: &[Stored],
    timeline: &RootTimeline,
) -> Vec<HistoryVerdict> {
    let historic: Vec<_> = messages.iter().map(historic).collect();
    judge.judge(&historic, timeline, T + 3600 * S, |statements| {
        let verify = |statement: &&_| match rln().holds(statement) {
            true => Ok(()),
            false => Err(undertone_rln::SnarkInvalid::Equation),
        };
        statements.iter().map(verify).collect()
    })
}

/// Names of the verdicts on messages while the root is accepted.
fn labels(messages: &[Stored]) -> Vec<&'static str> {
    let timeline = timeline(T - 100 * S, T + 1000 * S);
    let verdicts = judged_by(&mut judge(), messages, &timeline);
    verdicts.iter().map(HistoryVerdict::label).collect()
}

#[test]
fn honest_history_is_valid() {
    let messages = [
        honest("one", T, 0, 0),
        honest("two", T + S, 1, 0),
        honest("three", T + 2 * S, 0, 1),
        // The same message id in another epoch.
        honest("four", T + 600 * S, 0, 0),
    ];
    assert_eq!(labels(&messages), ["valid"; 4]);
}

#[test]
fn whatever_a_store_changes_is_named() {
    let honest = honest("one", T, 0, 0);
    let cases: [(&str, Stored); 9] = [
        (
            "signal_mismatch",
            honest.changed(|message| message.payload = b"two".to_vec().into()),
        ),
        (
            "signal_mismatch",
            honest.changed(|message| message.timestamp = Some((T + S).cast_signed())),
        ),
        (
            "wrong_epoch",
            honest.changed(|message| message.timestamp = Some((T + 600 * S).cast_signed())),
        ),
        (
            "wrong_timestamp",
            honest.changed(|message| message.timestamp = Some((T + 4000 * S).cast_signed())),
        ),
        (
            "missing_proof",
            honest.changed(|message| message.rate_limit_proof = None),
        ),
        (
            "malformed_proof",
            honest.changed(|message| message.rate_limit_proof = Some(b"proof".to_vec().into())),
        ),
        ("wrong_hash", {
            let mut changed = honest.changed(|message| message.payload = b"two".to_vec().into());
            changed.hash = honest.hash;
            changed
        }),
        ("other_shard", {
            let cluster = network().cluster_id;
            let shards = (0..network().num_shards.get())
                .map(|index| Shard::new(cluster, index).unwrap().to_string());
            let other = shards.into_iter().find(|shard| *shard != place(TOPIC));
            Stored::new(other.unwrap(), honest.message.clone())
        }),
        (
            "wrong_shard",
            Stored::new("/waku/2/rs/9/0".into(), honest.message.clone()),
        ),
    ];
    for (expected, stored) in cases {
        assert_eq!(labels(&[stored]), [expected]);
    }
    // Onto another content topic of the same shard.
    let moved = (0..)
        .map(|number| format!("/test/1/b{number}/proto"))
        .find(|topic| place(topic) == place(TOPIC))
        .unwrap();
    let moved = honest.changed(|message| message.content_topic = moved.as_str().into());
    assert_eq!(labels(&[moved]), ["signal_mismatch"]);
}

#[test]
fn a_proof_of_another_message_or_of_nothing_is_named() {
    let (one, other) = (honest("one", T, 0, 0), honest("other", T, 1, 0));
    let foreign = other.message.rate_limit_proof.clone();
    let replaced = one.changed(|message| message.rate_limit_proof = foreign);
    assert_eq!(labels(&[replaced]), ["signal_mismatch"]);

    let forge = |change: fn(&mut undertone_rln::RateLimitProof)| {
        one.changed(|message| {
            let field = message.rate_limit_proof.take().unwrap();
            let mut proof = undertone_rln::RateLimitProof::decode(&field).unwrap();
            change(&mut proof);
            message.rate_limit_proof = Some(proof.encode().into());
        })
    };
    // Another share, as if there were another member.
    let forged = forge(|proof| proof.share_y[0] ^= 1);
    assert_eq!(labels(&[forged]), ["bad_proof"]);
    let forged = forge(|proof| proof.nullifier[0] ^= 1);
    assert_eq!(labels(&[forged]), ["bad_proof"]);
    let forged = forge(|proof| proof.proof = [0; 128]);
    assert_eq!(labels(&[forged]), ["bad_proof"]);
    let forged = forge(|proof| proof.merkle_root[0] ^= 1);
    assert_eq!(labels(&[forged]), ["unknown_root"]);
    let forged = forge(|proof| proof.rln_identifier[0] ^= 1);
    assert_eq!(labels(&[forged]), ["foreign_identifier"]);
}

#[test]
fn a_root_counts_at_its_time_alone() {
    let message = [honest("one", T, 0, 0)];
    let verdict = |since_ns, until_ns| {
        let verdicts = judged_by(&mut judge(), &message, &timeline(since_ns, until_ns));
        verdicts.into_iter().next().unwrap()
    };
    assert!(verdict(T + 20 * S, T + 99 * S).is_valid(), "clocks differ");
    assert!(verdict(T - 99 * S, T - 60 * S).is_valid(), "views lag");
    let since_ns = T + 21 * S;
    let early = verdict(since_ns, T + 99 * S);
    assert_eq!(early, HistoryVerdict::EarlyRoot { since_ns });
    assert!(early.to_string().contains("1700000121.000 s"), "{early}");
    let until_ns = T - 61 * S;
    let expired = verdict(T - 99 * S, until_ns);
    assert_eq!(expired, HistoryVerdict::ExpiredRoot { until_ns });
    let none = judged_by(&mut judge(), &message, &RootTimeline::new(50));
    assert_eq!(none, [HistoryVerdict::UnknownRoot]);
}

#[test]
fn times_are_asked_for_where_they_decide() {
    let stored = honest("one", T, 0, 0);
    let messages = [historic(&stored)];
    let mut timeline = RootTimeline::new(1);
    timeline.push(rln().root(), 70);
    timeline.push(Fr::from(2), 80);
    let judge = judge();
    let undated = judge.undated(&messages, &timeline);
    assert_eq!(undated.into_iter().collect::<Vec<_>>(), [70, 80]);
    timeline.set_time(70, T);
    timeline.set_time(80, T + S);
    assert!(judge.undated(&messages, &timeline).is_empty());
}

#[test]
fn a_member_beyond_its_limit_is_named_by_its_commitment() {
    let timeline = timeline(T - 100 * S, T + 1000 * S);
    let mut judge = judge();
    let first = honest("one", T, 3, 7);
    let messages = [
        first.clone(),
        honest("two", T, 2, 7),
        honest("three", T + S, 3, 7),
    ];
    let verdicts = judged_by(&mut judge, &messages, &timeline);
    assert!(verdicts[0].is_valid() && verdicts[1].is_valid());
    let HistoryVerdict::DoubleSignal {
        first: named,
        secret,
    } = &verdicts[2]
    else {
        panic!("{:?}", verdicts[2]);
    };
    assert_eq!(*named, first.hash);
    assert_eq!(secret.commitment(), identity(3).commitment());

    // On a later page of the same epoch, the same message with other metadata.
    let copy = first.changed(|message| message.meta = Some(b"meta".to_vec().into()));
    let later = judged_by(&mut judge, &[copy], &timeline);
    assert_eq!(later, [HistoryVerdict::Repeated { first: first.hash }]);

    // A forged proof incriminates nobody.
    let forged = honest("four", T + S, 2, 7).changed(|message| {
        let field = message.rate_limit_proof.take().unwrap();
        let mut proof = undertone_rln::RateLimitProof::decode(&field).unwrap();
        proof.share_y[0] ^= 1;
        message.rate_limit_proof = Some(proof.encode().into());
    });
    let forged = judged_by(&mut judge, &[forged], &timeline);
    assert_eq!(forged[0].label(), "bad_proof");
}

#[test]
fn every_verdict_has_a_name_of_its_own() {
    let mut labels = HistoryVerdict::LABELS.to_vec();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), HistoryVerdict::LABELS.len());
}

#[test]
fn a_network_without_rate_limit_has_nothing_to_judge() {
    let mut config = RelayConfig::for_network(&network());
    config.rln = None;
    assert!(HistoryJudge::new(&config, RootTolerance::new(0, 0)).is_none());
}
