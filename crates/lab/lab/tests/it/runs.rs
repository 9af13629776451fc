//! A scenario from its file to its report.

use undertone_lab::model::scenario::{MeasuredMesh, spread_params};
use undertone_lab::model::spread::predict;
use undertone_lab::report::{Campaign, Stopwatch, Summary, write_deliveries};
use undertone_lab::scenario::load;
use undertone_sim::{RunOptions, run};

fn simulate(name: &str, overrides: &[&str]) -> Summary {
    let overrides: Vec<_> = overrides.iter().map(ToString::to_string).collect();
    let scenario = load(name, &overrides)
        .expect("the scenario can be read")
        .scenario;
    let watch = Stopwatch::start();
    let options = RunOptions::new(1);
    let outcome = run(&scenario, options, &mut |_| {}).expect("it can be simulated");
    let mut rows = Vec::new();
    let summary = Summary::new(&scenario, &outcome, watch.read(), "test");
    write_deliveries(&outcome, &summary, &[], &mut rows).expect("memory takes everything");
    summary
}

#[test]
fn a_small_network_delivers_everything() {
    let summary = simulate("small", &[]);
    assert_eq!((summary.expected, summary.delivered), (3 * 49, 3 * 49));
    assert_eq!(summary.violations, [""; 0]);
    let latency = summary.latency_ms.unwrap();
    // A proof, one way and a verification at least.
    assert!(latency.min >= 276.3 + 50.0 + 4.5, "{latency:?}");
    let text = Campaign::new(vec![summary]).to_string();
    assert!(text.contains("147 of 147 deliveries"), "{text}");
}

/// The closed form has no parameter of the simulator but the mesh degree that it measured.
#[test]
fn the_closed_form_agrees_with_a_run() {
    let name = "paper-2kb";
    let small = [
        "scenario.nodes=200",
        "topology.dials=10",
        "traffic.messages=3",
    ];
    let summary = simulate(name, &small);
    let overrides: Vec<_> = small.iter().map(ToString::to_string).collect();
    let scenario = load(name, &overrides).unwrap().scenario;
    let measured = MeasuredMesh {
        degree: summary.mesh_degree.mean,
        frame_bytes: None,
    };
    let predicted = predict(&spread_params(&scenario, 2_000, Some(measured)).unwrap());
    let simulated = summary.latency_ms.unwrap();
    let ratio = predicted.mean_ms() / simulated.mean;
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}: {simulated:?}");
}

/// A message longer than a window of yamux waits for the receiver once more at each hop, and nothing is lost by it.
#[test]
fn a_window_that_does_not_grow_slows_large_messages() {
    let mean_ms = |mux: &str| {
        let set = [
            "scenario.nodes=30",
            "topology.dials=5",
            "traffic.messages=3",
            "traffic.payload_bytes=1000000",
            "relay.max_message_bytes=2000000",
            "rln.generation_ms=0",
            mux,
        ];
        let summary = simulate("paper-500kb", &set);
        assert_eq!(summary.delivered, summary.expected, "{mux}");
        assert_eq!(summary.violations, [""; 0], "{mux}");
        summary.latency_ms.expect("all were delivered").mean
    };
    let [free, rust, nim] =
        ["mplex", "yamux-rust", "yamux-nim"].map(|mux| mean_ms(&format!("network.mux={mux}")));
    // Three round trips of 300 ms a hop for the window that keeps its size; the other grows with the first message.
    assert!(free < rust && rust < nim, "{free}, {rust}, {nim} ms");
    assert!(free + 900.0 < nim, "{free}, {nim} ms");
}

/// What real nodes write before their first message opens Shadow's windows.
#[test]
fn handshakes_open_windows() {
    let run = |setup: &[&str]| {
        let small = [
            "scenario.nodes=30",
            "topology.dials=5",
            "traffic.messages=1",
            "traffic.warm_up_messages=0",
        ];
        let summary = simulate("paper-100kb", &[&small, setup].concat());
        assert_eq!(summary.delivered, summary.expected, "{setup:?}");
        summary.latency_ms.unwrap().mean
    };
    let cold_ms = run(&["network.setup_packets=0"]);
    for handshake in ["undertone", "rust", "js"] {
        let set = format!("network.handshake={handshake}");
        let warmer_ms = run(&["network.setup_packets=", &set]);
        assert!(
            warmer_ms + 300.0 < cold_ms,
            "{handshake}: {warmer_ms}, {cold_ms}"
        );
    }
}

/// Light clients take a way more than relays, and their figures stand beside those of relays.
#[test]
fn light_clients_are_reported_beside_relays() {
    let set = [
        "scenario.nodes=30",
        "services.service_nodes=3",
        "services.peers_per_client=3",
        "traffic.messages=8",
    ];
    let summary = simulate("light-clients", &set);
    assert_eq!(summary.violations, [""; 0]);
    let services = summary.services.as_ref().unwrap();
    assert_eq!((services.light_clients, services.lost), (30, 0));
    let ways = services.ways;
    let [relay, light] = [ways.relay_to_relay_ms, ways.relay_to_light_ms].map(Option::unwrap);
    assert!(light.min > relay.min + 40.0, "{ways:?}");
    let bytes = services.bytes_per_message;
    assert!(bytes.light_client < bytes.relay, "{bytes:?}");
    assert!(bytes.service_node > bytes.relay, "{bytes:?}");
    let json = serde_json::to_value(&summary).unwrap();
    assert!(json["services"]["latency_ms"]["p50"].is_number(), "{json}");
    let text = Campaign::new(vec![summary]).to_string();
    assert!(
        text.contains("30 light clients of 3 service nodes"),
        "{text}"
    );
    // A network of relays says nothing of services.
    let json = serde_json::to_value(simulate("small", &[])).unwrap();
    assert!(json.get("services").is_none());
}
