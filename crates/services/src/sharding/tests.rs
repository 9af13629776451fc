use super::*;

const AUTO: Sharding = Sharding {
    cluster: 1,
    num_shards: NonZeroU16::new(8),
};

const STATIC: Sharding = Sharding {
    cluster: 1,
    num_shards: None,
};

#[test]
fn topics_are_derived_as_other_implementations_do() {
    let derived = AUTO.derive("/toychat/2/huilong/proto").unwrap();
    assert_eq!(&*derived, "/waku/2/rs/1/3");
}

#[test]
fn topics_are_not_derived_without_autosharding_or_from_other_text() {
    assert_eq!(
        STATIC.derive("/toychat/2/huilong/proto"),
        Err(ShardingError::TopicRequired)
    );
    assert!(matches!(
        AUTO.derive("toychat"),
        Err(ShardingError::ContentTopic(_))
    ));
}

#[test]
fn shards_of_other_networks_are_refused() {
    for (sharding, topic, accepted) in [
        (AUTO, "/waku/2/rs/1/7", true),
        (AUTO, "/waku/2/rs/1/8", false),
        (STATIC, "/waku/2/rs/1/8", true),
        (AUTO, "/waku/2/rs/2/0", false),
        (STATIC, "/waku/2/rs/2/0", false),
        (STATIC, "/waku/2/rs/1/", false),
        (AUTO, "/waku/2/default-waku/proto", true),
    ] {
        assert_eq!(sharding.check(&topic.into()).is_ok(), accepted, "{topic}");
    }
}
