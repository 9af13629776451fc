use std::path::PathBuf;

use super::*;
use undertone_lab::sweep::RunFigures;

fn report(keys: &[&str], points: &[&[&str]]) -> SweepReport {
    let mut table = SweepTable::new(keys.iter().map(ToString::to_string).collect());
    for values in points {
        let run = RunFigures {
            expected: 10,
            delivered: 9,
            p50_ms: Some(100.0),
            p95_ms: Some(200.0),
            max_ms: None,
            copies: Some(3.0),
            wire_bytes: 5_000_000,
            light_delivered: None,
            violations: Vec::new(),
        };
        let values = values.iter().map(ToString::to_string).collect();
        table.push(values, &[run.clone(), run]);
    }
    SweepReport {
        runs: 2 * points.len(),
        made: 0,
        left: 1,
        failures: Vec::new(),
        table,
        validity: Vec::new(),
        files: [PathBuf::new(), PathBuf::new()],
        there: Vec::new(),
    }
}

#[test]
fn figures_are_drawn_over_the_key_with_the_most_values() {
    let keys = ["relay.strategy", "network.loss", "<mesh>"];
    let points: [&[&str]; 4] = [
        &["a", "0.1", "thin"],
        &["a", "0.2", "thin"],
        &["b", "0.1", "thick"],
        &["b", "0.2", "thick"],
    ];
    let report = report(&keys, &points);
    let charts = charts(&report.table);
    assert_eq!(charts.len(), 6);
    assert_eq!(charts[1].title, "p50_ms over network.loss");
    let names: Vec<&str> = charts[1].series.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "relay.strategy a, <mesh> thin",
            "relay.strategy b, <mesh> thick"
        ]
    );
    let points = vec![[0.1, 100.0, 100.0, 100.0], [0.2, 100.0, 100.0, 100.0]];
    assert_eq!(charts[1].series[0].shape, Shape::Band(points));
    assert!(charts[3].series.is_empty(), "no run has a largest latency");
    let html = sweep_page("loss", &report);
    assert!(html.contains("7 of 8 runs") && html.contains("&lt;mesh&gt;"));
    assert!(!html.contains("<mesh>"));
}

#[test]
fn words_stand_beside_each_other_and_a_crowd_of_series_is_points() {
    let alone = charts(&report(&["mesh"], &[&["thin"], &["thick"]]).table);
    assert_eq!(alone[0].x.categories, ["thin", "thick"]);
    assert_eq!(alone[0].series[0].name, "median");
    let sampled: Vec<[String; 2]> = (1..=7)
        .map(|at| [format!("{at}"), format!("{}", 9 - at)])
        .collect();
    let sampled: Vec<Vec<&str>> = sampled
        .iter()
        .map(|point| point.iter().map(String::as_str).collect())
        .collect();
    let points: Vec<&[&str]> = sampled.iter().map(Vec::as_slice).collect();
    let crowd = charts(&report(&["a", "b"], &points).table);
    assert!(matches!(&crowd[0].series[0].shape, Shape::Points(points) if points.len() == 7));
    assert!(charts(&report(&[], &[&[]]).table).is_empty());
}
