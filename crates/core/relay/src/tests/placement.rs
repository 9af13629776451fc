//! Automatic sharding: a message that an attacker has moved to another shard.

use undertone_gossip::Report;
use undertone_message::PubsubTopic;

use super::fake_proof::{proved, sharded, topic};
use super::net::{Net, STRANGER};
use super::solo::{Solo, blamed, delivered, message_frame, new_peer, publish_error, rejection};
use crate::{Input, Output, PublishError, Rejection, RelayReport};

/// The shard of the content topic that all tests use; [`topic`] is another one.
const ITS_SHARD: u16 = 4;

fn its_topic() -> PubsubTopic {
    PubsubTopic::parse(&format!("/waku/2/rs/1/{ITS_SHARD}")).unwrap()
}

fn on_its_shard(outputs: &[Output]) -> Vec<Vec<u8>> {
    let delivered = outputs.iter().filter_map(|output| match output {
        Output::Deliver { topic, message, .. } if *topic == its_topic() => {
            Some(message.payload.to_vec())
        }
        _ => None,
    });
    delivered.collect()
}

/// Three relays in a line. The moved copies reach the middle before the originals are sent.
#[test]
fn whoever_moves_messages_to_another_shard_first_does_not_keep_the_originals_from_anybody() {
    let mut net = Net::forged_with(&sharded(), 3, 1).linked(&[(0, 1), (1, 2)]);
    (0..3).for_each(|node| net.subscribe(node, its_topic()));
    net.run_ms(3_000);
    let source = new_peer(50);
    net.input(0, Input::Connected(source.clone()));
    let texts = ["first", "second", "third"];
    for (nullifier, text) in texts.iter().enumerate() {
        let data = proved(text, nullifier as u64).encode();
        net.stranger_sends(1, &data);
        net.run_ms(100);
        let (peer, frame) = (source.peer, message_frame(&its_topic(), &data));
        net.input(
            0,
            Input::Frame {
                peer,
                frame: frame.into(),
            },
        );
        net.run_ms(500);
    }
    for node in 0..3 {
        let heard = on_its_shard(&net.outputs_of(node));
        assert_eq!(
            heard,
            texts.map(|text| text.as_bytes().to_vec()),
            "node {node}"
        );
        assert_eq!(delivered(&net.outputs_of(node)).len(), texts.len());
    }
    let reports = net.outputs_of(1).into_iter().filter(|output| {
        matches!(
            output,
            Output::Report(RelayReport::Rejected {
                reason: Rejection::OtherShard,
                from,
                ..
            }) if from.0 as usize == STRANGER
        )
    });
    assert_eq!(reports.count(), texts.len());
}

#[test]
fn nobody_is_blamed_for_a_message_on_another_shard() {
    let mut solo = Solo::with(sharded());
    let outputs = solo.receive_message(1, &proved("moved", 1));
    assert_eq!(rejection(&outputs), Rejection::OtherShard);
    assert_eq!(blamed(&outputs), [0; 0]);
    let misplaced = |output: &Output| {
        matches!(
            output,
            Output::Report(RelayReport::Gossip(Report::Misplaced { .. }))
        )
    };
    assert!(!outputs.iter().any(misplaced), "it is reported once");
    solo.assert_idle();
}

#[test]
fn a_content_topic_that_cannot_be_placed_may_be_on_any_shard() {
    let mut solo = Solo::with(sharded());
    let mut message = proved("anywhere", 1);
    message.content_topic = "no slash".into();
    message.rate_limit_proof = None;
    let reason = rejection(&solo.receive_message(1, &message));
    assert_eq!(reason, Rejection::MissingProof, "it is judged");
}

#[test]
fn with_static_sharding_any_content_topic_may_be_on_any_shard() {
    let mut config = sharded();
    config.num_shards = None;
    Solo::with(config).accept(1, &proved("anywhere", 1));
}

#[test]
fn a_message_of_our_own_is_refused_on_another_shard() {
    let mut solo = Solo::with(sharded());
    let mut message = proved("hello", 1);
    message.rate_limit_proof = None;
    let error = publish_error(&solo.publish(&message, 1));
    assert!(
        matches!(&error, PublishError::OtherShard { topic: t, shard: ITS_SHARD, .. } if *t == topic()),
        "{error}"
    );
}
