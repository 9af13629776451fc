use std::fs;

use proptest::prelude::*;
use undertone_sim::scenario::Delay;

use super::super::{gml, load, parse};
use super::LEAST;

/// A graph of two places, and a third that is joined only to the second.
const GRAPH: &str = r#"
# A comment.
graph [
  directed 0
  node [
    id 10
    label "a, b [c]"
    host_bandwidth_up "100 Mbit"
    host_bandwidth_down "1 Gbit"
  ]
  node [ id 20 host_bandwidth_up "50000 Kbit" host_bandwidth_down "1 Gbit" ]
  node [ id 30 ]
  edge [ source 10 target 10 latency "1 ms" packet_loss 0.25 ]
  edge [ source 20 target 20 latency "2 ms" packet_loss 0.25 ]
  edge [ source 30 target 30 latency "3000 us" packet_loss 0.25 ]
  edge [ source 10 target 20 latency "75 ms" packet_loss 0.25 ]
  edge [ source 20 target 30 latency "0.01 s" packet_loss 0.5 ]
]
"#;

#[test]
fn a_graph_becomes_places_rates_and_loss() {
    let graph = gml::read(GRAPH).unwrap();
    let ms = |ms: u64| ms * 1_000_000;
    assert_eq!(
        graph.one_way_ns,
        [
            [ms(1), ms(75), ms(85)],
            [ms(75), ms(2), ms(10)],
            [ms(85), ms(10), ms(3)],
        ]
    );
    let (up, down) = (graph.uplink_bytes_per_s, graph.downlink_bytes_per_s);
    assert_eq!(up, [Some(12_500_000), Some(6_250_000), None]);
    assert_eq!(down, [Some(125_000_000), Some(125_000_000), None]);
    assert_eq!(graph.loss[0], [0.25, 0.25, 0.625], "0.625 over two edges");
}

#[test]
fn edges_of_a_directed_graph_lead_one_way() {
    let graph = GRAPH.replace("directed 0", "directed 1");
    let (_, error) = gml::read(&graph).unwrap_err();
    assert_eq!(error.to_string(), "no path leads from node 20 to node 10");
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (right, wrong, line, message) in [
        (
            "75 ms",
            "75 parsecs",
            16,
            r#"latency = "75 parsecs": expected a time above 0, such as "75 ms""#,
        ),
        (
            "75 ms",
            "0 ms",
            16,
            r#"latency = "0 ms": expected a time above 0, such as "75 ms""#,
        ),
        (
            "target 20 latency \"75",
            "target 21 latency \"75",
            16,
            "node 21 does not exist",
        ),
        ("id 20", "id 10", 11, "node 10 exists twice"),
        ("node [ id 30 ]", "node [ ]", 12, "this node has no id"),
        (
            "\"2 ms\" packet_loss 0.25",
            "\"2 ms\" packet_loss 7",
            14,
            r#"packet_loss = "7": expected a number from 0 to 1"#,
        ),
        (
            "graph [",
            "grape [",
            3,
            r#""grape" is not GML here: expected graph [ … ]"#,
        ),
        (
            "directed 0",
            "directed ]",
            4,
            r#""]" is not GML here: expected a number, a text in quotes or ["#,
        ),
    ] {
        assert!(GRAPH.contains(right), "{right}");
        let (at, error) = gml::read(&GRAPH.replacen(right, wrong, 1)).unwrap_err();
        assert_eq!((at, error.to_string().as_str()), (line, message), "{wrong}");
    }
    assert!(
        gml::read("graph [ ]")
            .unwrap_err()
            .1
            .to_string()
            .starts_with("0 nodes")
    );
}

#[test]
fn a_scenario_refers_to_a_graph_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("net.gml"), GRAPH).unwrap();
    let text = LEAST.replace("one_way_ms = 50", "gml = \"net.gml\"");
    let path = folder.path().join("s.toml");
    fs::write(&path, &text).unwrap();
    let network = load(path.to_str().unwrap(), &[]).unwrap().scenario.network;
    let rates = [
        (12_500_000, 125_000_000),
        (6_250_000, 125_000_000),
        (12_500_000, 12_500_000),
    ];
    assert_eq!(
        network.place_rates, rates,
        "the file's where the graph has none"
    );
    assert_eq!(network.place_loss[0][2], 0.625);
    let Delay::Places { one_way_ns } = network.delay else {
        panic!("{:?}", network.delay);
    };
    assert_eq!(one_way_ns.len(), 3);
    // Without a folder, a scenario cannot refer to files.
    let error = parse(&text, "s.toml", "s", None, &[])
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("s.toml:8: network.gml = \"net.gml\": "),
        "{error}"
    );
    // A mistake in the graph is reported with the graph's file and line.
    fs::write(folder.path().join("net.gml"), "graph [\n node [ ]\n]").unwrap();
    let error = load(path.to_str().unwrap(), &[]).unwrap_err().to_string();
    assert!(error.ends_with("net.gml:2: this node has no id"), "{error}");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "([a-z\\[\\]\" \n#0-9.]|node|edge|latency){0,200}") {
        let _ = gml::read(&format!("graph [{text}"));
    }
}
