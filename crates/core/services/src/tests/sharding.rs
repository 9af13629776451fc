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
