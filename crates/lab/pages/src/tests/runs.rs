use std::ops::ControlFlow;

use super::{RunShown, run_page, tree};
use undertone_lab::report::DatasetChoice;
use undertone_lab::run::{FinishedRun, RunRequest};
use undertone_lab::scenario;

fn run(seed: u64, set: &[&str]) -> FinishedRun {
    run_of("small", seed, set)
}

fn run_of(name: &str, seed: u64, set: &[&str]) -> FinishedRun {
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    let loaded = scenario::load(name, &set).unwrap();
    let request = RunRequest {
        loaded: &loaded,
        seed,
        threads: 1,
        commit: "test",
        datasets: DatasetChoice::default(),
    };
    request.run(&mut |_| ControlFlow::Continue(())).unwrap()
}

fn shown<'a>(name: &str, run: &'a FinishedRun) -> RunShown<'a> {
    RunShown {
        name: name.to_owned(),
        run,
    }
}

#[test]
fn runs_lie_over_one_another_in_every_chart() {
    let (one, other) = (run(1, &[]), run(2, &[]));
    let html = run_page(&[shown("seed <1>", &one), shown("seed 2", &other)]);
    assert_eq!(html.matches("<svg viewBox=\"0 0 600 ").count(), 4);
    assert_eq!(html.matches("class=\"tree chart\"").count(), 2);
    assert!(!html.contains("seed <1>"), "names are escaped");
    for run in [&one, &other] {
        assert!(html.contains(run.summary.trace_hash.as_ref().unwrap()));
    }
    for part in [" src=", "url(", "http:", "https:", "<script"] {
        assert!(!html.contains(part), "{part}");
    }
}

#[test]
fn the_page_says_what_was_not_checked() {
    let star = run(1, &["topology={kind=\"star\"}"]);
    let other = run(1, &[]);
    let html = run_page(&[shown("star", &star), shown("other", &other)]);
    assert!(
        html.contains("<li>In one simulation the network is a star, "),
        "{html}"
    );
    assert!(!run_page(&[shown("other", &other)]).contains("is a star"));
}

#[test]
fn the_tree_has_every_node_once_after_the_one_before_it() {
    let run = run(1, &[]);
    let tree = tree::slowest(&shown("run", &run)).unwrap();
    assert_eq!(tree.nodes.len(), 50);
    let slowest = run.summary.latency_ms.unwrap().max;
    let last = tree.nodes.iter().map(|node| node.latency_ms);
    assert_eq!(last.fold(0.0, f64::max), slowest);
    for (at, node) in tree.nodes.iter().enumerate() {
        let Some(parent) = node.parent else {
            assert_eq!((at, node.hops), (0, 0));
            continue;
        };
        let parent = &tree.nodes[parent];
        assert!(parent.latency_ms < node.latency_ms);
        assert_eq!(parent.hops + 1, node.hops);
        assert!((0.0..tree.rows as f64).contains(&node.row), "{node:?}");
    }
}

#[test]
fn the_page_tells_what_adversaries_did() {
    let attacked = run_of(
        "attack-cold-boot",
        1,
        &["scenario.nodes=30", "traffic.messages=5"],
    );
    let other = run(1, &[]);
    let html = run_page(&[shown("attacked", &attacked), shown("other", &other)]);
    for part in [
        "Under attack",
        "mesh places of adversaries, %",
        "Mesh places of adversaries<",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!run_page(&[shown("other", &other)]).contains("adversaries"));
}

#[test]
fn a_run_without_deliveries_has_a_page_too() {
    let run = run(1, &["network.loss=1.0"]);
    assert_eq!(run.summary.delivered, 0);
    let html = run_page(&[shown("nothing", &run)]);
    assert!(html.contains("0 of 147"));
    assert!(html.contains("no values"));
    assert!(run_page(&[]).contains("No run"));
}
