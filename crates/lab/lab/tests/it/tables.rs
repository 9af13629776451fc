//! Tables of the laboratory as snapshots, so that a change of the protocol or of the models shows in review as
//! a changed table. CONTRIBUTING.md says how to accept one.

use std::fmt::Write;

use undertone_lab::model::hops::figure_2;
use undertone_lab::model::large;
use undertone_lab::report::{Stopwatch, Summary};
use undertone_lab::scenario::load;
use undertone_sim::{RunOptions, run};

/// Protocol whose peers agree to copies that come later, or on request only.
const LARGE_MESSAGES: &str = "relay.protocol=/undertone/relay-large/1.0.0";

/// Ways of sending a message of 100 kB, each with the values that it sets in the scenario `small`.
const WAYS: [(&str, &[&str]); 6] = [
    ("eager", &[]),
    ("no IDONTWANT", &["relay.idontwant=false"]),
    ("flood", &["relay.strategy=flood"]),
    ("staggered", &["relay.strategy=staggered", LARGE_MESSAGES]),
    ("reduced", &["relay.strategy=reduced", LARGE_MESSAGES]),
    ("4 fragments", &["relay.fragments=4"]),
];

fn simulate(set: &[&str]) -> Summary {
    let size = "traffic.payload_bytes=100000";
    let overrides = [&[size], set].concat();
    let overrides: Vec<_> = overrides.iter().map(ToString::to_string).collect();
    let scenario = load("small", &overrides)
        .expect("the scenario can be read")
        .scenario;
    let options = RunOptions::new(1).threads(1);
    let watch = Stopwatch::start();
    let outcome = run(&scenario, options, &mut |_| {}).expect("it can be simulated");
    Summary::new(&scenario, &outcome, watch.read(), "test")
}

#[test]
fn ways_of_sending_in_a_small_network() {
    let mut table = String::from(
        "50 nodes, 3 messages of 100 kB, seed 1

way          delivered  mean ms   p95 ms   max ms  hops  copies  data MB  control kB  lost packets\n",
    );
    for (way, set) in WAYS {
        let summary = simulate(set);
        assert_eq!(summary.violations, [""; 0], "{way}");
        let latency = summary.latency_ms.expect("something is delivered");
        let bytes = summary.bytes;
        writeln!(
            table,
            "{way:12} {:>3} of {:>3} {:>8.1} {:>8.1} {:>8.1} {:>5} {:>7.2} {:>8.2} {:>11.1} {:>13}",
            summary.delivered,
            summary.expected,
            latency.mean,
            latency.p95,
            latency.max,
            summary.hops.keys().max().copied().unwrap_or(0),
            bytes.copies_per_delivery.unwrap_or(0.0),
            bytes.payload as f64 / 1e6,
            bytes.control as f64 / 1e3,
            bytes.packets_dropped,
        )
        .expect("a string takes everything");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn closed_forms() {
    let mut tables = String::from("Figure 2: most hops for 1e3, 1e4, 1e5, 1e6 nodes\n\ndegree\n");
    for row in figure_2() {
        let [a, b, c, d] = row.h_max;
        writeln!(tables, "{:>6} {a:>6} {b:>6} {c:>6} {d:>6}", row.degree)
            .expect("a string takes everything");
    }
    tables.push_str("\n1 MB over 4 hops of 12,500 bytes/ms, by fragments\n\n");
    tables.push_str("fragments  published ms  pipeline ms\n");
    for row in large::table(1e6, 12_500.0, 4) {
        writeln!(
            tables,
            "{:>9} {:>13.3} {:>12.3}",
            row.fragments, row.published_ms, row.pipeline_ms
        )
        .expect("a string takes everything");
    }
    insta::assert_snapshot!(tables);
}
