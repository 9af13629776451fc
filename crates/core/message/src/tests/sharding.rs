use super::*;

fn shard(topic: &str, num_shards: u16) -> u16 {
    shard_of(
        &ContentTopic::parse(topic).unwrap(),
        NonZeroU16::new(num_shards).unwrap(),
    )
}

#[test]
fn every_known_vector_for_eight_shards_matches() {
    for (topic, expected) in [
        ("/myapp/1/latest/proto", 0),
        ("/waku/2/content/test.js", 1),
        ("/app/22/sometopic/someencoding", 2),
        ("/toychat/2/huilong/proto", 3),
        ("/statusim/1/community/cbor", 4),
        ("/app/27/sometopic/someencoding", 5),
        ("/app/29/sometopic/someencoding", 6),
        ("/app/20/sometopic/someencoding", 7),
        ("/0/toychat/2/huilong/proto", 3),
        ("/toychat2/2/huilong/proto", 6),
        ("/toychat/4/huilong/proto2", 7),
    ] {
        assert_eq!(shard(topic, 8), expected, "{topic}");
    }
}

#[test]
fn only_application_and_version_decide() {
    for name in ["sport", "weather", "local"] {
        assert_eq!(shard(&format!("/newsService/1.0/{name}/proto"), 8), 2);
        assert_eq!(shard(&format!("/newsService/2.0/{name}/xml"), 8), 4);
    }
}

#[test]
fn a_single_shard_takes_everything() {
    assert_eq!(shard("/toychat/2/huilong/proto", 1), 0);
}
