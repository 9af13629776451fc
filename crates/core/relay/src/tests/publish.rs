//! Published messages, from the request to the answer.

use std::sync::Arc;

use undertone_gossip::{MessageId, RequestId};
use undertone_message::{PubsubTopic, WakuMessage};
use undertone_rln::{Epoch, Fr};

use super::fake_proof::*;
use super::net::Net;
use super::solo::*;
use crate::{Input, Output, ProofFailure, PublishError, Rejection};

/// Returns the request for a proof among the outputs.
fn prove_request(outputs: &[Output]) -> Option<(u64, Epoch, Fr)> {
    outputs.iter().find_map(|output| match output {
        Output::Prove {
            request, epoch, x, ..
        } => Some((request.0, *epoch, *x)),
        _ => None,
    })
}

/// Publishes and answers the request for a proof with one under `nullifier`.
fn publish_proved(solo: &mut Solo, message: &WakuMessage, nullifier: u64) -> Vec<Output> {
    let outputs = solo.publish(message, 8);
    assert_eq!(
        prove_request(&outputs).map(|(request, ..)| request),
        Some(8)
    );
    let result = Ok(proof_of(message, nullifier));
    solo.input(Input::Proved {
        request: RequestId(8),
        result,
    })
}

#[test]
fn a_published_message_is_proved_for_what_receivers_will_hash() {
    let mut solo = Solo::new();
    let message = plain("hello");
    let outputs = solo.publish(&message, 8);
    let expected = (8, Epoch(2_833_333), x_of(&message));
    assert_eq!(prove_request(&outputs), Some(expected));
    assert_eq!(
        (published(&outputs).len(), forwarded(&outputs)),
        (0, vec![])
    );

    let result = Ok(proof_of(&message, 1));
    let outputs = solo.input(Input::Proved {
        request: RequestId(8),
        result,
    });
    let proved = proved("hello", 1);
    let sent = [1, 2, 3].map(|peer| (peer, proved.encode().into()));
    assert_eq!(forwarded(&outputs), sent);
    let id = MessageId::of(&proved.encode());
    match &published(&outputs)[..] {
        [(8, Ok(published))] => assert_eq!((published.id, published.peers), (id, 3)),
        other => panic!("{other:?}"),
    }
    solo.assert_idle();
}

#[test]
fn a_published_message_is_delivered_to_ourselves() {
    let mut solo = Solo::new();
    let outputs = publish_proved(&mut solo, &plain("hello"), 1);
    let own = outputs.iter().find_map(|output| match output {
        Output::Deliver {
            topic,
            message,
            received,
            from,
            ..
        } => Some((topic.clone(), message.clone(), *received, *from)),
        _ => None,
    });
    let message = proved("hello", 1);
    assert_eq!(own, Some((topic(), message, solo.now, None)));
}

#[test]
fn a_missing_or_zero_timestamp_is_filled_in_and_any_other_is_kept() {
    for timestamp in [None, Some(0)] {
        let mut solo = Solo::new();
        let unstamped = WakuMessage {
            timestamp,
            ..plain("hello")
        };
        let outputs = solo.publish(&unstamped, 8);
        assert_eq!(
            prove_request(&outputs),
            Some((8, Epoch(2_833_333), x_of(&plain("hello"))))
        );
    }
    let mut solo = Solo::new();
    let earlier = plain_at("hello", NOW_NS - SECOND_NS);
    let outputs = solo.publish(&earlier, 8);
    assert_eq!(
        prove_request(&outputs).map(|(.., x)| x),
        Some(x_of(&earlier))
    );
}

#[test]
fn the_epoch_of_a_proof_is_that_of_the_timestamp() {
    let mut solo = Solo::new();
    // Five seconds into the epoch.
    let unix_ns_at_zero = NOW_NS - 195 * SECOND_NS - solo.now.as_nanos();
    solo.input(Input::ClockSet { unix_ns_at_zero });
    let earlier = plain_at("hello", NOW_NS - 201 * SECOND_NS);
    let outputs = solo.publish(&earlier, 8);
    assert_eq!(
        prove_request(&outputs),
        Some((8, Epoch(2_833_332), x_of(&earlier)))
    );
}

#[test]
fn a_timestamp_that_receivers_refuse_is_refused_before_a_proof_is_asked_for() {
    let gap_ns = 20 * SECOND_NS;
    for time_ns in [NOW_NS - gap_ns, NOW_NS + gap_ns] {
        let outputs = Solo::new().publish(&plain_at("hello", time_ns), 8);
        assert!(prove_request(&outputs).is_some(), "{outputs:?}");
    }
    let far_ns = u64::try_from(i64::MAX).unwrap();
    for time_ns in [1, NOW_NS - gap_ns - 1, NOW_NS + gap_ns + 1, far_ns] {
        let mut solo = Solo::new();
        let outputs = solo.publish(&plain_at("hello", time_ns), 8);
        assert_eq!(outputs.len(), 1, "nothing but the answer: {outputs:?}");
        let error = publish_error(&outputs);
        assert!(matches!(error, PublishError::Timestamp { .. }), "{error:?}");
        solo.assert_idle();
    }
    let mut before_1970 = plain("hello");
    before_1970.timestamp = Some(-1);
    publish_error(&Solo::new().publish(&before_1970, 8));
    let far = plain_at("hello", NOW_NS + 60 * SECOND_NS);
    assert_eq!(
        publish_error(&Solo::new().publish(&far, 8)).to_string(),
        "timestamp 1700000060000000000 is 60 s ahead of our clock (1700000000000000000), receivers \
         accept at most 20 s; leave the timestamp out to have the present time filled in"
    );
    // On a network without RLN, the timestamp is the publisher's choice.
    let outputs = Solo::with(config_without_rln()).publish(&far, 8);
    assert_eq!(forwarded(&outputs)[0].1, far.encode());
}

#[test]
fn the_other_node_decodes_what_was_published_and_checks_its_proof() {
    let mut net = Net::real(2, 1).linked(&[(0, 1)]);
    let mut message = WakuMessage::new("hello", CONTENT_TOPIC);
    message.meta = Some(vec![1, 2, 3].into());
    message.ephemeral = Some(true);
    let stamp = net.unix_now_ns();
    net.publish(0, message);
    net.run_ms(500);
    let received = delivered(&net.outputs_of(1));
    assert_eq!(received, delivered(&net.outputs_of(0)));
    let [received] = &received[..] else {
        panic!("{received:?}");
    };
    assert_eq!(received.payload, "hello");
    assert_eq!(
        (received.meta_bytes(), received.is_ephemeral()),
        (&[1, 2, 3][..], true)
    );
    assert_eq!(received.timestamp_ns(), i64::try_from(stamp).unwrap());
    assert_eq!(
        received.rate_limit_proof.as_ref().map(|proof| proof.len()),
        Some(335)
    );
    match &net.published(0)[..] {
        [Ok(published)] => {
            assert_eq!(published.id, MessageId::of(&received.encode()));
            assert_eq!(published.peers, 1);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_rate_limit_nothing_is_proved() {
    let mut solo = Solo::with(config_without_rln());
    let message = plain("hello");
    let outputs = solo.publish(&message, 8);
    assert_eq!(prove_request(&outputs), None);
    assert_eq!(forwarded(&outputs)[0].1, message.encode());
}

#[test]
fn a_message_that_is_exactly_at_the_limit_with_its_proof_is_published() {
    let max = config().max_message_bytes;
    for empty_proof in [None, Some(Default::default())] {
        let mut fits = proved_of_len(max, 1);
        fits.rate_limit_proof = empty_proof;
        let outputs = publish_proved(&mut Solo::new(), &fits, 1);
        assert_eq!(forwarded(&outputs)[0].1.len(), max);

        let mut over = proved_of_len(max + 1, 1);
        over.rate_limit_proof = fits.rate_limit_proof;
        match publish_error(&Solo::new().publish(&over, 8)) {
            PublishError::TooLarge { len, max: told } => assert_eq!((len, told), (max + 1, max)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_proof_is_counted_only_where_one_is_added() {
    let max = config().max_message_bytes;
    let mut solo = Solo::new();
    let outputs = solo.publish(&proved_of_len(max, 1), 8);
    let outputs = solo.answer(ticket(&outputs).unwrap(), true);
    assert_eq!(forwarded(&outputs)[0].1.len(), max);
    let mut bare = plain("");
    bare.payload = "a".repeat(max - bare.encoded_len() - 4).into();
    bare.payload = "a"
        .repeat(bare.payload.len() + max - bare.encoded_len())
        .into();
    assert_eq!(bare.encoded_len(), max);
    let outputs = Solo::with(config_without_rln()).publish(&bare, 8);
    assert_eq!(forwarded(&outputs)[0].1.len(), max);
}

#[test]
fn a_message_grows_by_what_its_proof_was_counted_as() {
    let (bare, proved) = (plain("hello"), proved("hello", 1));
    let growth = proved.encode().len() - bare.encode().len();
    assert_eq!(growth, crate::publish::PROOF_FIELD_BYTES);
}

#[test]
fn a_topic_must_be_joined_before_it_is_published_to() {
    let mut solo = Solo::new();
    let topic = PubsubTopic::parse("/waku/2/rs/1/1").unwrap();
    let outputs = solo.input(Input::Publish {
        topic: topic.clone(),
        message: plain("hello"),
        request: RequestId(8),
    });
    match publish_error(&outputs) {
        PublishError::NotSubscribed { topic: told } => assert_eq!(told, topic),
        other => panic!("{other:?}"),
    }
    solo.assert_idle();
}

#[test]
fn where_it_is_allowed_topics_of_the_network_are_published_to_unjoined() {
    let mut solo = Solo::with(crate::RelayConfig {
        publish_unjoined: true,
        ..config_without_rln()
    });
    let mut publish = |topic: &str| {
        solo.input(Input::Publish {
            topic: PubsubTopic::parse(topic).unwrap(),
            message: plain("hello"),
            request: RequestId(8),
        })
    };
    let outputs = publish("/waku/2/rs/1/1");
    assert!(matches!(published(&outputs)[..], [(8, Ok(_))]));
    assert_eq!(delivered(&outputs), [], "nobody here asked for the topic");
    let error = publish_error(&publish("/waku/2/rs/2/1"));
    assert!(matches!(error, PublishError::NotSubscribed { .. }));
}

#[test]
fn a_topic_that_is_left_while_a_proof_is_made_is_not_published_to() {
    let mut solo = Solo::new();
    let message = plain("hello");
    solo.publish(&message, 8);
    solo.input(Input::Unsubscribe(topic()));
    let result = Ok(proof_of(&message, 1));
    let outputs = solo.input(Input::Proved {
        request: RequestId(8),
        result,
    });
    let error = publish_error(&outputs);
    assert!(
        matches!(error, PublishError::NotSubscribed { .. }),
        "{error:?}"
    );
    assert_eq!((delivered(&outputs), forwarded(&outputs)), (vec![], vec![]));
    solo.assert_idle();
}

#[test]
fn an_empty_content_topic_is_refused() {
    let mut message = plain("hello");
    message.content_topic = "".into();
    let error = publish_error(&Solo::new().publish(&message, 8));
    assert!(
        matches!(error, PublishError::EmptyContentTopic),
        "{error:?}"
    );
}

#[test]
fn what_every_receiver_would_refuse_to_decode_is_refused() {
    let mut message = plain("hello");
    message.meta = Some(vec![0; 64].into());
    assert!(prove_request(&Solo::new().publish(&message, 8)).is_some());
    message.meta = Some(vec![0; 65].into());
    match publish_error(&Solo::new().publish(&message, 8)) {
        PublishError::MetaTooLong { len, max } => assert_eq!((len, max), (65, 64)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_more_than_64_messages_wait_for_their_proof() {
    let mut solo = Solo::new();
    let message = |i: u64| plain(&format!("message {i}"));
    for i in 0..64 {
        assert!(prove_request(&solo.publish(&message(i), i)).is_some());
    }
    let error = publish_error(&solo.publish(&message(64), 64));
    assert!(
        matches!(error, PublishError::Busy { waiting: 64 }),
        "{error:?}"
    );
    let result = Ok(proof_of(&message(5), 5));
    assert_eq!(
        published(&solo.input(Input::Proved {
            request: RequestId(5),
            result
        }))
        .len(),
        1
    );
    assert!(prove_request(&solo.publish(&message(64), 64)).is_some());
}

#[test]
fn the_same_bytes_are_published_once() {
    let mut solo = Solo::with(config_without_rln());
    let message = plain("hello");
    solo.publish(&message, 1);
    let outputs = solo.publish(&message, 2);
    let error = publish_error(&outputs);
    assert!(matches!(error, PublishError::Duplicate), "{error:?}");
    assert_eq!(delivered(&outputs), []);
    solo.assert_idle();
}

#[test]
fn what_the_driver_cannot_prove_is_told_to_the_publisher() {
    let epoch = Epoch(2_833_333);
    let broken = std::io::Error::other("the disk is full");
    let failures = [
        ProofFailure::Exhausted { limit: 20, epoch },
        ProofFailure::NoMembership,
        ProofFailure::Prover(Arc::new(broken)),
    ];
    let mut told = Vec::new();
    for failure in failures {
        let mut solo = Solo::new();
        solo.publish(&plain("hello"), 8);
        let result = Err(failure);
        let outputs = solo.input(Input::Proved {
            request: RequestId(8),
            result,
        });
        told.push(publish_error(&outputs).to_string());
        assert_eq!(outputs.len(), 1, "nothing but the answer: {outputs:?}");
        solo.assert_idle();
    }
    assert_eq!(
        told,
        [
            "no RLN proof: all 20 messages of epoch 2833333 are used up",
            "no RLN proof: this node has no membership; register one with `undertone rln register`",
            "no RLN proof: the disk is full",
        ]
    );
}

#[test]
fn a_proof_that_nobody_waits_for_changes_nothing() {
    let mut solo = Solo::new();
    let message = plain("hello");
    publish_proved(&mut solo, &message, 1);
    let result = Ok(proof_of(&message, 2));
    assert_eq!(
        solo.input(Input::Proved {
            request: RequestId(8),
            result
        })
        .len(),
        0
    );
}

#[test]
fn our_own_message_in_another_encoding_is_a_duplicate() {
    let mut solo = Solo::new();
    publish_proved(&mut solo, &plain("hello"), 1);
    let echo = as_nwaku_writes(&proved("hello", 1));
    assert_eq!(solo.refusal(1, &echo), Rejection::Duplicate);
}

#[test]
fn a_message_under_a_nullifier_of_ours_is_not_passed_on() {
    let mut solo = Solo::new();
    publish_proved(&mut solo, &plain("hello"), 1);
    let outputs = solo.receive_message(1, &proved("from our double", 1));
    assert_eq!(rejection(&outputs), Rejection::Spam { repeated: false });
}
