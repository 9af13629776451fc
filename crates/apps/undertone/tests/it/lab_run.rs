//! `undertone lab list` and `run`, and the real nodes behind them.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;
use undertone_lab::experiment::{NetworkLoadPlan, NetworkLoadRun, SpamPlan, SpamRun};
use undertone_lab::record::{ExperimentRecord, read_folder};

fn undertone(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(args)
        .output()
        .expect("the program starts")
}

fn succeeded(args: &[&str]) -> String {
    let output = undertone(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).expect("it prints text")
}

/// Asserts an exit code, and that it said this on standard error.
fn ended(args: &[&str], code: i32, said: &str) {
    let output = undertone(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    assert!(stderr.contains(said), "{said:?} is not in {stderr}");
}

#[test]
fn the_list_names_every_experiment_and_its_source() {
    let list: Value = serde_json::from_str(&succeeded(&["lab", "list", "--json"])).unwrap();
    let experiments = list["experiments"].as_array().unwrap();
    let hops = experiments.iter().find(|item| item["id"] == "hops");
    let hops = hops.unwrap_or_else(|| panic!("hops is not in {list}"));
    assert!(!hops["source"].as_str().unwrap().is_empty());
    let text = succeeded(&["lab", "list"]);
    assert_eq!(text.trim().lines().count(), experiments.len());
}

#[test]
fn a_run_leaves_a_record_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    // As if a run had ended half way through.
    fs::write(folder.path().join("hops.json.partial"), "{").unwrap();
    let out = folder.path().to_str().unwrap();
    let text = succeeded(&["lab", "run", "hops", "hops", "--out", out, "--threads", "1"]);
    assert!(text.contains("figures agree;"), "the record: {text}");
    let files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files, ["hops.json"]);
    let record: ExperimentRecord = read_folder(folder.path()).unwrap().remove(0);
    assert_eq!((record.id.as_str(), record.seeds.len()), ("hops", 2));
    assert!(record.judged() > 0);

    let args = ["lab", "run", "hops", "--out", out, "--json"];
    let finished: Value = serde_json::from_str(&succeeded(&args)).unwrap();
    let item = &finished["experiments"][0];
    let path = folder.path().join("hops.json");
    assert_eq!(item["record"], path.to_str().unwrap());
    let judged = item["agree"].as_u64().unwrap() + item["differ"].as_u64().unwrap();
    assert_eq!(judged, record.judged() as u64);
    assert_eq!(item["error"], Value::Null);
}

#[test]
fn mistakes_are_wrong_usage() {
    ended(&["lab", "run"], 2, "<ID>...");
    ended(&["lab", "run", "hopps"], 2, "did you mean \"hops\"?");
    ended(&["lab", "run", "hops", "al"], 2, "did you mean \"all\"?");
    ended(&["lab", "run", "all-quick", "--full"], 2, "`all --full`");
}

/// A folder in the way of the record's file: the experiment fails, the next one runs all the same.
#[test]
fn a_failure_is_told_at_the_end_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("hops.json/in-the-way")).unwrap();
    let out = folder.path().to_str().unwrap();
    let args = ["lab", "run", "hops", "tree-sync", "--out", out];
    ended(&args, 1, "no record of 1 out of 2: hops");
    let text = fs::read_to_string(folder.path().join("tree-sync.json")).unwrap();
    let record: ExperimentRecord = serde_json::from_str(&text).unwrap();
    assert_eq!(record.id, "tree-sync");
}

fn community(plan: NetworkLoadPlan) -> NetworkLoadRun {
    let plan = serde_json::to_string(&plan).expect("plans have fixed keys");
    let text = succeeded(&["lab", "nodes", "community", &plan]);
    serde_json::from_str(&text).expect("it prints what it found")
}

#[test]
fn a_community_delivers_everything_with_and_without_proofs() {
    let plan = NetworkLoadPlan {
        nodes: 5,
        members: 50,
        // Two messages in an epoch of 2 s: one that is late does not exceed the limit.
        period_s: 1.5,
        duration_s: 3.0,
        rln: true,
    };
    for rln in [true, false] {
        let run = community(NetworkLoadPlan { rln, ..plan });
        assert_eq!(run.published, 5 * 2, "each node in each period: {run:?}");
        assert_eq!((run.delivered, run.expected), (10 * 4, 10 * 4), "{run:?}");
        assert_eq!(run.latency_ms.len(), 40);
        assert!(run.latency_ms.is_sorted());
        assert!(run.latency_ms.iter().all(|ms| *ms > 0.0), "{run:?}");
        assert!(run.cpu_s > 0.0 && run.wall_s >= 3.0, "{run:?}");
        assert!((5.0..500.0).contains(&run.rss_mb), "{run:?}");
    }
}

#[test]
fn a_spammer_ends_alone_with_its_secret_known() {
    let plan = SpamPlan {
        nodes: 6,
        interval_s: 0.05,
        duration_s: 4.0,
        limit: 1,
        epoch_s: 600,
    };
    let plan = serde_json::to_string(&plan).unwrap();
    let text = succeeded(&["lab", "nodes", "spam", &plan]);
    let run: SpamRun = serde_json::from_str(&text).unwrap();
    assert_eq!(run.peers[0].1, 5, "all honest nodes, at first: {run:?}");
    assert_eq!(run.peers.last().unwrap().1, 0, "{run:?}");
    assert!(run.prepared >= 40, "two seconds' tokens: {run:?}");
    assert!(run.sent_s.len() > 2 && run.sent_s.is_sorted(), "{run:?}");
    assert!(run.attempted >= run.sent_s.len() as u64, "{run:?}");
    // One for the epoch, two when preparing took so long that it ended meanwhile.
    assert!((1..=2).contains(&run.delivered), "{run:?}");
    assert!(run.secret_recovered);
}

#[test]
fn plans_out_of_range_are_refused() {
    let plan = r#"{"nodes":1,"members":50,"period_s":1.0,"duration_s":2.0,"rln":false}"#;
    let args = ["lab", "nodes", "community", plan];
    ended(&args, 1, "nodes is 1; it must be in 2.0..=1000.0");
}
