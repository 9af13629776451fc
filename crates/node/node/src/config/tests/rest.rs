//! Tests of the keys of the servers, and of the shards and content topics that REST keeps messages of.

use super::*;
use undertone_rest::TokenScope;

fn token_for(set: &[(&str, &str)]) -> Option<TokenScope> {
    load_flags(set).unwrap().rest.unwrap().token_for
}

#[test]
fn a_token_is_asked_for_by_where_the_server_listens() {
    let secret = ("rest-token", "0123456789abcdef");
    let wide = ("rest-address", "0.0.0.0");
    assert_eq!(token_for(&[]), None);
    assert_eq!(token_for(&[secret]), Some(TokenScope::Admin));
    let served = ("rest-admin", "true");
    assert_eq!(token_for(&[served]), Some(TokenScope::Admin));
    assert_eq!(token_for(&[served, ("rest-auth", "none")]), None);
    assert_eq!(token_for(&[wide]), Some(TokenScope::Everything));
    assert_eq!(token_for(&[wide, ("rest-auth", "none")]), None);
    let admin = [wide, ("rest-auth", "admin")];
    assert_eq!(token_for(&admin), Some(TokenScope::Admin));
    let all = [("rest-auth", "all")];
    assert_eq!(token_for(&all), Some(TokenScope::Everything));
    let shown = flag_error("rest-token", "too-short");
    assert!(!shown.contains("too-short"), "{shown}");
}

#[test]
fn metrics_have_a_port_of_their_own_when_asked_for() {
    assert_eq!(load_flags(&[]).unwrap().metrics, None);
    let config = load_flags(&[("metrics-server", "true"), ("ports-shift", "2")]);
    let address = config.unwrap().metrics.unwrap();
    assert_eq!(address.to_string(), "127.0.0.1:8010");
}

#[test]
fn any_shard_can_be_joined_and_static_sharding_spreads_nothing() {
    let shards = |set: &[(&str, &str)]| {
        let config = load_flags(set).unwrap();
        let indices = config.shards.iter().map(|shard| shard.index);
        (config.autosharding, indices.collect::<Vec<_>>())
    };
    assert_eq!(shards(&[("shards", "9,1023")]), (true, vec![9, 1023]));
    let is_static = ("num-shards-in-network", "0");
    assert_eq!(shards(&[is_static]), (false, vec![0]));
    assert_eq!(shards(&[is_static, ("shards", "700")]), (false, vec![700]));
}

#[test]
fn content_topics_bring_their_shards() {
    let topics = ("content-topics", "/toychat/2/huilong/proto,/app/22/a/proto");
    let config = load_flags(&[("shards", "5"), topics]).unwrap();
    let indices: Vec<_> = config.shards.iter().map(|shard| shard.index).collect();
    assert_eq!(indices, [2, 3, 5]);
    let (topic, shard) = &config.content_topics[0];
    assert_eq!(
        (topic.as_str(), shard.index),
        ("/toychat/2/huilong/proto", 3)
    );
    let error = flag_error("content-topics", "nope");
    assert!(error.contains("\"nope\" is not one"), "{error}");
    let both = [("num-shards-in-network", "0"), topics];
    let error = load_flags(&both).unwrap_err().to_string();
    assert!(error.contains("no shard carries them"), "{error}");
}
