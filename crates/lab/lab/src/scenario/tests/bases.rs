//! Tests of files with a base, and of keys that are removed.

use std::fs;

use undertone_sim::scenario::{Delay, Topology};

use super::super::load;
use super::{LEAST, error, read};

const GML: &str = "graph [\n node [ id 0 ]\n edge [ source 0 target 0 latency \"5 ms\" ]\n]\n";

#[test]
fn a_file_states_only_what_differs_from_its_base() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("bases")).unwrap();
    let base = LEAST.replace("one_way_ms = 50", "gml = \"net.gml\"");
    fs::write(at("bases/net.gml"), GML).unwrap();
    fs::write(at("bases/least.toml"), base).unwrap();
    let mine = "base = \"bases/least.toml\"\n[scenario]\nnodes = 20\n[relay]\nd = 7\n";
    fs::write(at("mine.toml"), mine).unwrap();
    let yours = "base = \"mine.toml\"\nwithout = [\"network.gml\", \"relay.d\"]\n[network]\none_way_ms = 2\n";
    fs::write(at("yours.toml"), yours).unwrap();

    let mine = load(at("mine.toml").to_str().unwrap(), &[]).unwrap();
    assert_eq!(
        (mine.scenario.name.as_str(), mine.scenario.nodes),
        ("mine", 20)
    );
    // The graph is found beside the file that names it.
    let one_way_ns = vec![vec![5_000_000]];
    assert_eq!(mine.scenario.network.delay, Delay::Places { one_way_ns });
    let origin = |key: &str| {
        mine.resolved.from["scenario"][key]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        origin("nodes").ends_with("mine.toml:3"),
        "{}",
        origin("nodes")
    );
    let topology = mine.resolved.from["topology"]["kind"].as_str().unwrap();
    assert!(topology.ends_with("bases/least.toml:4"), "{topology}");

    let yours = load(at("yours.toml").to_str().unwrap(), &[])
        .unwrap()
        .scenario;
    let one_way_ns = 2_000_000;
    assert_eq!(yours.network.delay, Delay::Constant { one_way_ns });
    assert_eq!((yours.nodes, yours.relay.gossip.degrees.d), (20, 6));
}

#[test]
fn a_base_may_be_built_in() {
    let scenario = read("base = \"small\"\n[scenario]\nnodes = 30\n", &[]).scenario;
    let small = load("small", &[]).unwrap().scenario;
    assert_eq!(scenario.nodes, 30);
    assert_eq!(scenario.traffic, small.traffic);
}

#[test]
fn mistakes_about_bases_name_the_line() {
    for (text, message) in [
        (
            "base = 1",
            "s.toml:1: base = 1: expected the name of a scenario, or the path of a file",
        ),
        (
            "base = \"smal\"",
            "no scenario is called \"smal\"; did you mean \"small\"?",
        ),
        (
            "base = \"small\"\nwithout = [\"network.los\"]",
            "s.toml:2: without = \"network.los\": expected a key that the base has",
        ),
        (
            "base = \"small\"\nwithout = \"network.loss\"",
            "s.toml:2: without = \"network.loss\": expected a list of keys of the base",
        ),
        (
            "without = [\"network.loss\"]",
            "s.toml:1: without = a list of 1: expected a key base, whose keys it names",
        ),
    ] {
        assert_eq!(error(text, &[]), message);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("loop.toml");
    fs::write(&path, "base = \"loop.toml\"").unwrap();
    let said = load(path.to_str().unwrap(), &[]).unwrap_err().to_string();
    assert!(
        said.contains("no more than 8 files based on each other"),
        "{said}"
    );
}

#[test]
fn an_override_without_a_value_takes_the_key_away() {
    let text =
        format!("{LEAST}[relay]\nd = 7\n[[faults]]\nkind = \"leave\"\nat_s = 1\nnodes = 1\n");
    let scenario = read(&text, &["relay.d=", "faults.0="]).scenario;
    assert_eq!(scenario.relay.gossip.degrees.d, 6);
    assert!(scenario.faults.is_empty());
    // Switches a table to another kind.
    let set = [
        "network.one_way_ms=",
        "network.min_one_way_ms=1",
        "network.max_one_way_ms=2",
    ];
    let (min_ns, max_ns) = (1_000_000, 2_000_000);
    assert_eq!(
        read(LEAST, &set).scenario.network.delay,
        Delay::Uniform { min_ns, max_ns }
    );
    let line = read(LEAST, &["topology=", "topology.kind=ring"])
        .scenario
        .topology;
    assert_eq!(line, Topology::Ring);
    assert_eq!(
        error(LEAST, &["network.loss="]),
        "--set network.loss=: network.loss = : expected a key that is set, to take it away"
    );
}

#[test]
fn a_mistake_names_the_override_that_makes_it() {
    for (set, message) in [
        (
            &["relay.d=7", "network.one_way_ms="][..],
            "--set network.one_way_ms=: s.toml:5: network.one_way_ms is missing: expected milliseconds, or \
             min_one_way_ms and max_one_way_ms, cities, places, or gml instead",
        ),
        (
            &[
                "network.min_one_way_ms=1",
                "network.max_one_way_ms=2",
                "relay.d=7",
            ],
            "--set network.min_one_way_ms=1 --set network.max_one_way_ms=2: s.toml:8: network.one_way_ms has no effect \
             here: another kind of delay or queue is given",
        ),
        // Neither is wrong alone: the second would have no effect without the first, which needs it.
        (
            &[
                "topology.kind=regular",
                "relay.d=7",
                "topology.degree=4",
                "topology.dials=3",
            ],
            "--set topology.kind=regular --set topology.degree=4 --set topology.dials=3: topology.dials has no effect \
             here: another topology.kind would use it",
        ),
        (
            &["relay.d_low=2", "relay.d=4"],
            "--set relay.d_low=2 --set relay.d=4: [relay]: gossip configuration: d_out = 3 must be below d_low = 2 and at most half of \
             d = 4; set d_out to 1 or less, or d_low to 4 or more and d to 6 or more",
        ),
        (
            &["scenario.nodes=1"],
            "--set scenario.nodes=1: scenario.nodes = 1: expected a whole number from 2 to 4000000",
        ),
    ] {
        assert_eq!(error(LEAST, set), message);
    }
    // A mistake of the file is not blamed on an override.
    let text = LEAST.replace("nodes = 10", "nodes = 1");
    assert!(error(&text, &["relay.d=7"]).starts_with("s.toml:2: scenario.nodes = 1"));
}
