//! Tests of files with the parameters of a router only.

use std::fs;

use undertone_gossip::{Config, StrategyKind};

use super::super::relay_parameters;
use super::{LEAST, read};

fn from_file(text: &str) -> Result<Config, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relay.toml");
    fs::write(&path, text).unwrap();
    let read = relay_parameters(&path);
    // The path of the file differs from test to test.
    read.map_err(|error| {
        let folder = format!("{}/", folder.path().display());
        error.to_string().replace(&folder, "")
    })
}

#[test]
fn what_a_scenario_sets_is_what_its_file_says() {
    let text = "[relay]\nd = 7\nprotocol = \"/meshsub/1.1.0\"\ntopics = 3\n[relay.score.topics.\"/a b\"]\n\
                topic_weight = 0.5\n[relay.limits]\ntopics_max = 9\n";
    let loaded = read(&format!("{LEAST}{text}"), &["relay.strategy=staggered"]);
    let config = from_file(&loaded.relay_parameters).unwrap();
    assert_eq!(config, loaded.scenario.relay.gossip);
    assert_eq!(
        (config.degrees.d, config.strategy),
        (7, StrategyKind::Staggered.into())
    );
    let nothing = read(LEAST, &[]).relay_parameters;
    assert_eq!(from_file(&nothing).unwrap(), Config::waku());
}

#[test]
fn mistakes_are_named_by_their_place() {
    for (text, expected) in [
        (
            "[relay]\nd = 6\ndlow = 3\n",
            "relay.toml:3: unknown key \"relay.dlow\"; did you mean \"d_low\"?",
        ),
        (
            "[relay]\nd = \"six\"\n",
            "relay.toml:2: relay.d = \"six\": expected a whole number",
        ),
        (
            "[relay]\nprotocol = \"/meshsub/1.1.0\"\n",
            "relay.toml:2: relay.protocol = \"/meshsub/1.1.0\": expected no such key here: a node has \
             the flag --protocols",
        ),
        ("[rln]\n", "relay.toml:1: unknown key \"rln\""),
        ("", "relay"),
    ] {
        let error = from_file(text).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}
