use std::fs;
use std::ops::ControlFlow;
use undertone_sim::scenario::Members;

use serde_json::{Value, json};
use undertone_sim::scenario::{Dialling, Topology, Verification};

use super::super::{Loaded, ScenarioError, load, parse};
use super::payload_bytes;
use crate::report::DatasetChoice;
use crate::run::{FinishedRun, RunRequest};

/// Twelve nodes in a ring with chords; messages of 98304 and 1024 bytes in turn, every 12 s.
const PARAMS: &str = include_str!("interop/params.json");

/// Loads a script from a file, as `undertone sim params.json` does.
fn loaded(text: &str, overrides: &[&str]) -> Result<Loaded, ScenarioError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("params.json");
    fs::write(&path, text).unwrap();
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    load(&path.to_string_lossy(), &overrides)
}

fn run(loaded: &Loaded) -> FinishedRun {
    let mut datasets = DatasetChoice::default();
    datasets.add("copies");
    let request = RunRequest {
        loaded,
        seed: 1,
        threads: 1,
        commit: "test",
        datasets,
    };
    request.run(&mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn a_script_becomes_a_scenario() {
    let loaded = loaded(PARAMS, &[]).unwrap();
    let scenario = &loaded.scenario;
    assert_eq!(scenario.nodes, 12);
    assert_eq!(scenario.relay.gossip.degrees.d, 4);
    assert_eq!(scenario.relay.gossip.heartbeat.as_millis(), 700);
    assert_eq!(scenario.relay.gossip.heartbeat_delay.as_millis(), 100);
    assert_eq!(scenario.start_spread_ns, 1_100_000);
    assert_eq!(scenario.dialling, Dialling::OneByOne);
    let Topology::Edges(edges) = &scenario.topology else {
        panic!("{:?}", scenario.topology);
    };
    assert_eq!(edges.len(), 36);
    assert_eq!(edges[..3], [(0, 1), (0, 3), (0, 5)]);
    let limit = scenario.rln.as_ref().unwrap();
    assert_eq!(limit.verification, Verification::Wait { ns: 5_000_000 });
    let sent: Vec<_> = scenario
        .listed
        .iter()
        .map(|m| (m.at_ns, m.publisher))
        .collect();
    assert_eq!(sent[..2], [(30_000_000_000, 0), (42_000_000_000, 5)]);
    assert_eq!(scenario.warm_up_messages, 4);
    // The script waits for 42 s after the last message.
    assert_eq!(scenario.drain_ns, 42_000_000_000);
}

#[test]
fn it_runs_and_its_messages_have_their_length_on_the_wire() {
    let run = run(&loaded(PARAMS, &[]).unwrap());
    assert_eq!(run.summary.delivered, 6 * 11);
    assert_eq!(run.summary.violations, Vec::<String>::new());
    // Around the data: tag and length, the topic, and tag and length of the whole.
    let around = |length: u32| 1 + length + 17 + 1 + length;
    let copies = &run.outcome.recorded.as_ref().unwrap().copies;
    for copy in copies {
        let expected = match copy.message % 2 {
            0 => 98_304 + around(3),
            _ => 1_024 + around(2),
        };
        assert_eq!(copy.bytes, expected, "message {}", copy.message);
    }
    // Each hop takes the validation's 5 ms and more.
    let latency = run.summary.latency_ms.unwrap();
    assert!(latency.min > 5.0, "{latency:?}");
}

#[test]
fn without_a_validation_delay_there_is_no_proof() {
    let mut content: Value = serde_json::from_str(PARAMS).unwrap();
    let script = content["script"].as_array_mut().unwrap();
    script.retain(|instruction| instruction["type"] != "setTopicValidationDelay");
    let loaded = loaded(&content.to_string(), &[]).unwrap();
    assert!(loaded.scenario.rln.is_none());
    let copies = run(&loaded).outcome.recorded.unwrap().copies;
    let of_second = copies.iter().find(|copy| copy.message == 1).unwrap();
    assert_eq!(of_second.bytes, 1_024 + 1 + 2 + 17 + 1 + 2);
}

#[test]
fn overrides_and_results_work_as_for_any_scenario() {
    let first = loaded(PARAMS, &["relay.d=5", "network.loss=0.01"]).unwrap();
    assert_eq!(first.scenario.relay.gossip.degrees.d, 5);
    let written = toml_of(&first);
    let again = parse(&written, "again", "params", None, &[]).unwrap();
    assert_eq!(again.scenario.listed, first.scenario.listed);
    assert_eq!(again.resolved.hash, first.resolved.hash);
    let error = loaded(PARAMS, &["relay.dd=5"]).unwrap_err().to_string();
    assert!(error.contains("--set relay.dd=5"), "{error}");
}

/// The parameters as the text of a scenario file; JSON's values are TOML's, and tables are inline.
fn toml_of(loaded: &Loaded) -> String {
    fn value(at: &Value) -> String {
        match at {
            Value::Object(table) => {
                let pairs = table
                    .iter()
                    .map(|(key, at)| format!("{key:?} = {}", value(at)));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(value).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }
    let resolved = serde_json::to_value(&loaded.resolved).unwrap();
    let tables = resolved["parameters"].as_object().unwrap();
    tables
        .iter()
        .map(|(key, at)| format!("{key} = {}\n", value(at)))
        .collect()
}

#[test]
fn payloads_fill_up_to_the_length_of_the_message() {
    // 127 bytes need one byte for their length, 128 two.
    for bytes in [60, 160, 163, 164, 165, 500, 16_000, 20_000, 98_304] {
        let payload = payload_bytes(bytes, false);
        let length = [1, 2, 3][usize::from(payload > 127) + usize::from(payload > 16_383)];
        let whole = payload + super::ENVELOPE_BYTES + length;
        assert!((bytes - 1..=bytes).contains(&whole), "{bytes}: {payload}");
    }
    assert_eq!(payload_bytes(10, true), 8);
}

#[track_caller]
fn fails(change: impl Fn(&mut Vec<Value>), expected: &[&str]) {
    let mut content: Value = serde_json::from_str(PARAMS).unwrap();
    change(content["script"].as_array_mut().unwrap());
    let error = loaded(&content.to_string(), &[]).unwrap_err().to_string();
    assert!(error.contains("params.json: "), "{error}");
    for part in expected {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn mistakes_name_their_place_and_what_was_expected() {
    fails(
        |s| s[3]["nodeID"] = json!(-1),
        &["script[3].nodeID = -1", "0 to 99999"],
    );
    fails(
        |s| s[3]["type"] = json!("ifNodeIDEqual"),
        &["script[3].type", "did you mean \"ifNodeIDEquals\""],
    );
    fails(
        |s| s[2]["instruction"]["gossipSubParams"]["Dlow"] = json!(3),
        &[
            "script[2].instruction.gossipSubParams",
            "\"Dlow\"",
            "did you mean \"Dlo\"",
        ],
    );
    fails(
        |s| s[14]["instruction"]["connectTo"] = json!("1"),
        &["script[14].instruction.connectTo = \"1\""],
    );
    fails(
        |s| s[14]["instruction"]["connectTo"] = json!([1]),
        &["other nodes than its own"],
    );
    fails(
        |s| s[27]["instruction"]["topicID"] = json!("a-subnett"),
        &["script[27]", "did you mean \"a-subnet\""],
    );
    fails(
        |s| s[27]["instruction"]["messageSizeBytes"] = json!("big"),
        &["messageSizeBytes = \"big\"", "whole number"],
    );
    fails(
        |s| s.retain(|i| i["instruction"]["type"] != "publish"),
        &["no messages", "publish"],
    );
    fails(Vec::clear, &["no two nodes"]);
}

#[test]
fn what_the_simulator_does_not_have_is_refused_with_a_remedy() {
    fails(
        |s| s[25] = json!({"type": "subscribeToTopic", "topicID": "a-subnet", "partial": true}),
        &["script[25]", "partial messages", "subnet-blob-msg"],
    );
    fails(
        |s| s.swap(14, 26),
        &["connection after a waitUntil", "before the first wait"],
    );
    fails(
        |s| s.push(json!({"type": "publishPartial", "topicID": "a-subnet", "groupID": 1})),
        &["partial messages"],
    );
}

/// A topic that one node alone subscribes to, and parameters of one node: both become groups, and the run delivers
/// each message to its subscribers.
#[test]
fn nodes_that_differ_are_groups() {
    let mut content: Value = serde_json::from_str(PARAMS).unwrap();
    let script = content["script"].as_array_mut().unwrap();
    // Instruction 2 initialises node 2; instruction 25 subscribes all nodes to the only topic.
    script[2]["instruction"]["gossipSubParams"]["D"] = json!(5);
    let more = json!({"type": "subscribeToTopic", "topicID": "b-subnet", "partial": false});
    script.insert(
        26,
        json!({"type": "ifNodeIDEquals", "nodeID": 5, "instruction": more}),
    );
    let loaded = loaded(&content.to_string(), &[]).unwrap();
    let groups = &loaded.scenario.groups;
    let members: Vec<_> = groups.iter().map(|group| group.members.clone()).collect();
    let listed = |nodes: &[u32]| Members::Listed(nodes.to_vec());
    assert_eq!(members[1..], [listed(&[2])]);
    assert_eq!(groups[1].relay.as_ref().unwrap().gossip.degrees.d, 5);
    assert_eq!(groups[0].topics.as_ref().map(Vec::len), Some(1));
    let run = run(&loaded);
    assert_eq!(run.summary.delivered, run.summary.expected);
    assert!(run.summary.violations.is_empty());
}

#[test]
fn scripts_are_bounded() {
    let mut deep = json!({"type": "subscribeToTopic", "topicID": "a"});
    for _ in 0..20 {
        deep = json!({"type": "ifNodeIDEquals", "nodeID": 1, "instruction": deep});
    }
    fails(
        move |s| s.push(deep.clone()),
        &["within one another", "at most 8"],
    );
    fails(
        |s| s[14]["instruction"]["connectTo"] = json!([4_000_000_000_u32]),
        &["below 100000"],
    );
    let error = loaded("{\"script\": [", &[]).unwrap_err().to_string();
    assert!(
        error.contains("not JSON") && error.contains("line 1"),
        "{error}"
    );
}
