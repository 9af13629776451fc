//! Tests of scenarios with every parameter, and of the origins of these.

use std::fs;

use serde_json::json;
use undertone_sim::Scenario;

use super::super::{BUILT_IN, load, load_results, parse};
use super::{LEAST, read};

/// The scenario as text, without what has several forms of the same meaning.
fn shown(scenario: &Scenario) -> String {
    let mut scenario = scenario.clone();
    if let Some(services) = &mut scenario.services {
        services.rates = Default::default();
    }
    format!("{scenario:?}")
}

/// Writes the files that a run leaves, and reads its scenario from them.
fn again(text: &str, overrides: &[&str], more: &[&str]) -> super::super::EarlierRuns {
    let folder = tempfile::tempdir().unwrap();
    let loaded = read(text, overrides);
    let summary = json!({
        "scenario": loaded.scenario.name,
        "resolved": loaded.resolved,
        "seed": 7,
        "commit": "abc",
        "trace_hash": "00",
        "events": 12,
    });
    fs::write(folder.path().join("summary.json"), summary.to_string()).unwrap();
    let more: Vec<String> = more.iter().map(ToString::to_string).collect();
    load_results(folder.path(), &more).unwrap()
}

/// Texts of scenarios that set every key, with their names.
fn texts() -> Vec<(&'static str, String)> {
    let built_in = BUILT_IN.iter();
    let mut texts: Vec<_> = built_in.map(|b| (b.name, b.text.to_owned())).collect();
    let libp2p = format!("{LEAST}[relay]\nbase = \"libp2p\"\n");
    let many = format!(
        "{LEAST}drain_s = 1.5\n[relay]\nidontwant = false\nflood_publish = \"off\"\nheartbeat_ms = 0.7\n\
         [relay.score.topics.\"/a.b/c\"]\ntopic_weight = 0.5\n[relay.score]\nip_colocation_allowed = [\"::1\"]\n\
         [[faults]]\nkind = \"clock-skew\"\nahead_ms = -1.5\nnodes = 1\nat_s = 0.1\n"
    );
    let warm = LEAST.replace(
        "messages = 1\n",
        "messages = 3\nspacing_s = 1\nwarm_up_messages = 2\nwarm_up_spacing_s = 0.25\n",
    );
    let shaken = LEAST.replace(
        "one_way_ms = 50\n",
        "one_way_ms = 50\nhandshake = \"rust\"\nmux = \"yamux-js\"\n",
    );
    assert!(read(&shaken, &[]).scenario.network.handshake.is_some());
    let listed = LEAST.split("[traffic]").next().unwrap();
    let listed = format!(
        "{listed}[traffic]\nlisted = [[20.5, 3, 100], [21, 9, 2000, 0]]\nwarm_up_messages = 1\n"
    );
    let strangers = LEAST.replace(
        "[topology]\n",
        "[topology]\noffered = 5\nchurn_per_minute = 0.1\naway_s = 60\nchurn_from_s = 30\nchurn_until_s = 90\n",
    );
    let strangers = strangers.replace("\"line\"", "\"discovery\"");
    assert!(
        read(&strangers, &[])
            .scenario
            .topology
            .discovery()
            .is_some()
    );
    let spacing_ns = read(&warm, &[]).scenario.warm_up_spacing_ns;
    assert_eq!(spacing_ns, Some(250_000_000));
    texts.extend([
        ("listed", listed),
        ("strangers", strangers),
        ("shaken", shaken),
        ("libp2p", libp2p),
        ("many", many),
        ("warm", warm),
    ]);
    texts
}

#[test]
fn what_is_resolved_is_the_same_scenario_again() {
    for (name, text) in texts() {
        let loaded = parse(&text, "s.toml", "s", None, &[]).unwrap();
        let again = again(&text, &[], &[]).loaded;
        assert_eq!(shown(&again.scenario), shown(&loaded.scenario), "{name}");
        assert_eq!(again.resolved, loaded.resolved, "{name}");
        assert_eq!(again.description, loaded.description);
    }
}

/// Whether the documentation names a key, on its own, with a value, or as a table.
fn is_documented(key: &str) -> bool {
    const PAGE: &str = include_str!("../../../../../../docs/use/scenarios.md");
    let forms = [
        format!("`{key}`"),
        format!("`{key} = "),
        format!(".{key}]`"),
    ];
    forms.iter().any(|form| PAGE.contains(form.as_str()))
}

fn check_documented(table: &serde_json::Value) {
    // Their keys are the field names of the router's structures.
    const OF_ROUTER: [&str; 3] = ["limits", "score", "thresholds"];
    for (key, value) in table.as_object().into_iter().flatten() {
        assert!(is_documented(key), "docs/use/scenarios.md lacks {key}");
        if !OF_ROUTER.contains(&key.as_str()) {
            check_documented(value);
        }
    }
    for item in table.as_array().into_iter().flatten() {
        check_documented(item);
    }
}

#[test]
fn every_key_is_documented() {
    for (_, text) in texts() {
        let parameters = read(&text, &[]).resolved.parameters;
        for table in parameters.as_object().unwrap().values() {
            check_documented(table);
        }
    }
}

#[test]
fn every_parameter_says_where_it_comes_from() {
    let text = format!("{LEAST}[[faults]]\nkind = \"leave\"\nat_s = 1\nnodes = 1\n");
    let set = ["relay.d=7", "relay={d=8, d_low=5}", "faults.0.at_s=2"];
    let resolved = read(&text, &set).resolved;
    let (values, from) = (&resolved.parameters, &resolved.from);
    assert_eq!(values["scenario"]["nodes"], 10);
    assert_eq!(from["scenario"]["nodes"], "s.toml:2");
    assert_eq!(values["relay"]["d"], 8);
    assert_eq!(from["relay"]["d"], "--set relay={d=8, d_low=5}");
    assert_eq!(values["relay"]["d_high"], 8);
    assert_eq!(from["relay"]["d_high"], "default");
    assert_eq!(
        values["relay"]["limits"]["topics_max"],
        from_default("topics_max")
    );
    assert_eq!(from["faults"][0]["at_s"], "--set faults.0.at_s=2");
    assert_eq!(from["faults"][0]["nodes"], "s.toml:16");
    let overrides = ["--set faults.0.at_s=2", "--set relay={d=8, d_low=5}"];
    assert_eq!(resolved.overrides(), overrides, "relay.d=7 sets nothing");
    // Results keep the origins, except of what changes.
    let again = again(&text, &set, &["relay.d_low=4"]).loaded.resolved;
    assert_eq!(again.from["scenario"]["nodes"], "s.toml:2");
    assert_eq!(again.from["relay"]["d"], "--set relay={d=8, d_low=5}");
    assert_eq!(again.from["relay"]["d_low"], "--set relay.d_low=4");
    assert_eq!(again.from["relay"]["d_high"], "default");
}

fn from_default(limit: &str) -> serde_json::Value {
    read(LEAST, &[]).resolved.parameters["relay"]["limits"][limit].clone()
}

#[test]
fn the_hash_is_that_of_what_is_run() {
    let hash = |text: &str, set: &[&str]| read(text, set).resolved.hash;
    let least = hash(LEAST, &[]);
    assert_eq!(least.len(), 64);
    assert_eq!(hash(LEAST, &["scenario.description=other"]), least);
    assert_eq!(hash(LEAST, &["network.loss=0.0"]), least);
    assert_eq!(hash(LEAST, &["relay.d=6"]), least);
    assert_ne!(hash(LEAST, &["relay.d=7"]), least);
    let hashes: std::collections::BTreeSet<_> = BUILT_IN
        .iter()
        .map(|built_in| load(built_in.name, &[]).unwrap().resolved.hash)
        .collect();
    assert!(
        hashes.len() + 2 >= BUILT_IN.len(),
        "{} differ",
        hashes.len()
    );
}

#[test]
fn places_of_cities_and_graphs_are_kept_as_a_matrix() {
    let cities =
        "network.cities={names=[\"a\",\"b\"], rtt_ms=[[2,4],[6,8]], rate_mbit_per_s=[10,20]}";
    let text = LEAST.replace("one_way_ms = 50\n", "");
    let again = again(&text, &[cities], &[]).loaded;
    let places = &again.resolved.parameters["network"]["places"];
    assert_eq!(places["one_way_ms"], json!([[1, 2], [3, 4]]));
    assert_eq!(places["uplink_mbit_per_s"], json!([10, 20]));
    let from = &again.resolved.from["network"]["places"]["one_way_ms"];
    assert_eq!(*from, format!("--set {cities}, from network.cities"));
    assert_eq!(again.resolved.overrides(), [format!("--set {cities}")]);
    let lossy = "network.places={one_way_ms=[[1,2],[3,4]], loss=[[0,0.5],[0.25,0]]}";
    let network = read(&text, &[lossy]).scenario.network;
    assert_eq!(network.place_loss, [[0.0, 0.5], [0.25, 0.0]]);
}

#[test]
fn results_without_a_scenario_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let problem = |text: &str| {
        fs::write(folder.path().join("summary.json"), text).unwrap();
        load_results(folder.path(), &[]).unwrap_err().to_string()
    };
    assert!(problem("{").contains("no summary of a run"));
    let old = problem("{\"scenario\": \"s\", \"seed\": 1}");
    assert!(old.contains("does not say what was run"), "{old}");
    let none = tempfile::tempdir().unwrap();
    let error = load_results(none.path(), &[]).unwrap_err().to_string();
    assert!(error.contains("summary.json"), "{error}");
}
