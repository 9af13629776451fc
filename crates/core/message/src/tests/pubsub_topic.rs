use proptest::prelude::*;

use super::*;

#[test]
fn a_static_shard_parses() {
    let topic = PubsubTopic::parse("/waku/2/rs/65535/1023").unwrap();
    assert_eq!(
        topic.shard(),
        Some(Shard {
            cluster: 65535,
            index: 1023
        })
    );
    assert_eq!(
        Shard::new(1, 1023),
        Some(Shard {
            cluster: 1,
            index: 1023
        })
    );
    assert_eq!(Shard::new(1, 1024), None);
}

#[test]
fn each_fault_has_its_error() {
    let not_static = |topic: &str| PubsubTopicError::NotStatic {
        topic: topic.into(),
    };
    let structure = |topic: &str| PubsubTopicError::Structure {
        topic: topic.into(),
    };
    let cluster = |text: &str| PubsubTopicError::Number {
        part: "cluster",
        text: text.into(),
        max: u16::MAX,
    };
    let shard = |text: &str| PubsubTopicError::Number {
        part: "shard",
        text: text.into(),
        max: 1023,
    };
    let cases = [
        ("", not_static("")),
        (
            "/waku/2/default-waku/proto",
            not_static("/waku/2/default-waku/proto"),
        ),
        ("/waku/2/rs", not_static("/waku/2/rs")),
        ("/waku/2/rs/1", structure("/waku/2/rs/1")),
        ("/waku/2/rs/1/2/3", structure("/waku/2/rs/1/2/3")),
        ("/waku/2/rs//2", cluster("")),
        ("/waku/2/rs/65536/2", cluster("65536")),
        ("/waku/2/rs/+1/2", cluster("+1")),
        ("/waku/2/rs/01/2", cluster("01")),
        ("/waku/2/rs/1/", shard("")),
        ("/waku/2/rs/1/1024", shard("1024")),
        ("/waku/2/rs/1/x", shard("x")),
    ];
    for (topic, expected) in cases {
        assert_eq!(PubsubTopic::parse(topic), Err(expected), "{topic:?}");
    }
}

#[test]
fn named_topics_are_opaque_and_bounded() {
    let named = PubsubTopic::parse_any("/waku/2/default-waku/proto").unwrap();
    assert_eq!(
        named,
        PubsubTopic::Named("/waku/2/default-waku/proto".into())
    );
    assert_eq!(named.shard(), None);
    assert_eq!(named.to_string(), "/waku/2/default-waku/proto");
    assert_eq!(
        PubsubTopic::parse_any(""),
        Err(PubsubTopicError::NameLength { size_bytes: 0 })
    );
    assert!(PubsubTopic::parse_any(&"n".repeat(256)).is_ok());
    assert_eq!(
        PubsubTopic::parse_any(&"n".repeat(257)),
        Err(PubsubTopicError::NameLength { size_bytes: 257 })
    );
}

#[test]
fn a_misspelt_shard_is_not_taken_for_a_name() {
    assert!(PubsubTopic::parse_any("/waku/2/rs/1/9999").is_err());
}

proptest! {
    #[test]
    fn shards_round_trip(cluster: u16, index in 0u16..=MAX_SHARD_INDEX) {
        let shard = Shard { cluster, index };
        prop_assert_eq!(shard.to_string().parse(), Ok(shard));
        prop_assert_eq!(PubsubTopic::parse_any(&shard.to_string()), Ok(shard.into()));
    }

    #[test]
    fn what_parses_is_shown_as_it_was(topic in "(/waku/2/rs/)?[0-9/+]{0,9}") {
        if let Ok(parsed) = PubsubTopic::parse_any(&topic) {
            prop_assert_eq!(parsed.to_string(), topic);
        }
    }
}
