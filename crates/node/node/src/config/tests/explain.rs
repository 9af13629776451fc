//! Explanation of a configuration.

use super::{environment, flags, with_file};
use crate::config::{KEYS, explain};

#[test]
fn each_key_is_explained_with_the_source_of_its_value() {
    let (_dir, mut sources) = with_file("tcp-port = 7\n\n[gossip]\nd = 7");
    sources.environment = environment(&[("UNDERTONE_REST_PORT", "2")]);
    sources.flags = flags(&[("shards", "0,1"), ("rest-token", "a secret of ours")]);
    let explained = explain(&sources).unwrap();
    assert_eq!(explained.len(), KEYS.len());
    let of = |name: &str| {
        let key = explained.iter().find(|explained| explained.key == name);
        let key = key.unwrap();
        (key.value.as_str(), key.source.as_str())
    };
    let file = |line: usize| format!("{}:{line}", sources.file.as_ref().unwrap().display());
    assert_eq!(of("tcp-port"), ("7", file(1).as_str()));
    assert_eq!(of("gossip.d"), ("7", file(4).as_str()));
    let variable = "environment variable UNDERTONE_REST_PORT";
    assert_eq!(of("rest-port"), ("2", variable));
    assert_eq!(of("shards"), ("[0,1]", "flag --shards"));
    assert_eq!(of("rest-token"), ("(not shown)", "flag --rest-token"));
    assert_eq!(of("ws-port"), ("8000", "defaults"));
    assert_eq!(of("cluster-id"), ("the network's", "defaults"));
}
