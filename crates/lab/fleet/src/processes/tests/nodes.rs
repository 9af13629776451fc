use undertone_lab::scenario::{BUILT_IN, Loaded, load, parse, relay_parameters};
use undertone_node::assemble::relay_config;
use undertone_relay::RelayConfig;
use undertone_sim::scenario::Fault;

use super::*;

const S: u64 = 1_000_000_000;

/// Relay configuration that a scenario's nodes get from their command line and their parameters' file.
fn relay_of(loaded: &Loaded) -> RelayConfig {
    let setup = Setup {
        program: PathBuf::new(),
        node: &[],
        attacker: &[],
        tokens: 0,
        ready: Duration::ZERO,
        quic: false,
    };
    let base = tempfile::tempdir().unwrap();
    let folder = RunFolder::make(base.path()).unwrap();
    let flags = flags(&loaded.scenario, &setup);
    let line = command_line(&flags, &loaded.relay_parameters, &folder).unwrap();
    let file = line
        .iter()
        .find_map(|arg| arg.strip_prefix("--relay-parameters="));
    let mut node = config(&flags).unwrap();
    let file = file.expect("the file is on the command line");
    node.router = Some(relay_parameters(file.as_ref()).unwrap());
    relay_config(&node)
}

/// Relay configuration that the simulator gives its nodes: the frame limit follows from the longest message.
fn check(loaded: &Loaded) {
    let (relay, wanted) = (relay_of(loaded), &loaded.scenario.relay);
    let mut gossip = wanted.gossip.clone();
    gossip.limits.frame_bytes_max = wanted.max_message_bytes + (64 << 10);
    // Real nodes of one machine are no crowd at an address.
    if let Some(score) = &mut gossip.score {
        score.allow_loopback();
    }
    assert_eq!(relay.gossip, gossip, "{}", loaded.scenario.name);
    assert_eq!(relay.max_message_bytes, wanted.max_message_bytes);
    let rln = relay.rln.map(|rln| rln.policy.epoch_size_s);
    assert_eq!(rln, loaded.scenario.rln.as_ref().map(|rln| rln.epoch_s));
}

#[test]
fn nodes_of_every_scenario_have_its_router() {
    for built_in in BUILT_IN {
        check(&load(built_in.name, &[]).unwrap());
    }
}

#[test]
fn what_is_set_is_what_the_router_has() {
    for set in [
        "relay.base=libp2p",
        "relay.d=7",
        "relay.heartbeat_ms=700.5",
        "relay.heartbeat_delay_ms=5",
        "relay.gossip_factor=0.5",
        "relay.seen_ttl_s=60",
        "relay.flood_publish=on",
        "relay.strategy=flood",
        "relay.strategy=reduced",
        "relay.large.push=2",
        "relay.idontwant=false",
        "relay.peer_exchange=true",
        "relay.thresholds.gossip=-1",
        "relay.score.enabled=false",
        "relay.score.topics={\"/waku/2/rs/66/0\"={topic_weight=0.25}}",
        "relay.limits.topics_max=3",
        "relay.iwant_followup_s=9",
        "relay.max_message_bytes=600000",
        "rln.epoch_s=10",
        "rln.message_limit=1",
    ] {
        let loaded = load("small", &[set.to_owned()]).unwrap();
        check(&loaded);
        let plain = load("small", &[]).unwrap();
        let changed = loaded.scenario.relay.gossip != plain.scenario.relay.gossip;
        let elsewhere = set.contains("max_message_bytes") || set.starts_with("rln");
        assert!(changed || elsewhere, "{set} changes nothing");
    }
}

#[test]
fn members_may_send_what_the_scenario_lets_them() {
    let loaded = load("spam", &[]).unwrap();
    let setup = Setup {
        program: PathBuf::new(),
        node: &[],
        attacker: &[],
        tokens: 0,
        ready: Duration::ZERO,
        quic: false,
    };
    let node = config(&flags(&loaded.scenario, &setup)).unwrap();
    let rln = node.rln.expect("the scenario has a limit");
    assert_eq!((rln.message_limit, rln.params.epoch_size_s), (1, 10));
}

#[test]
fn nodes_listen_where_the_others_dial_them() {
    let loaded = load("small", &[]).unwrap();
    let mut setup = Setup {
        program: PathBuf::new(),
        node: &[],
        attacker: &[],
        tokens: 0,
        ready: Duration::ZERO,
        quic: false,
    };
    for quic in [false, true] {
        setup.quic = quic;
        let node = config(&flags(&loaded.scenario, &setup)).unwrap();
        let port = match node.quic_port {
            Some(port) => format!("udp/{port}/quic-v1"),
            None => format!("tcp/{}", node.tcp_port),
        };
        assert_eq!(setup.port(), port);
    }
}

fn skewed(faults: &[(u64, u32, i64)]) -> [Option<i64>; 3] {
    let mut scenario = Scenario::plain(3);
    scenario.topology = undertone_sim::scenario::Topology::Line;
    let fault = |(at_s, nodes, by_ns): &(u64, u32, i64)| Fault {
        at_ns: at_s * S,
        nodes: *nodes,
        kind: FaultKind::ClockSkew { by_ns: *by_ns },
    };
    scenario.faults = faults.iter().map(fault).collect();
    let plan = Plan::new(&scenario, 1).unwrap();
    [0, 1, 2].map(|node| clock_ahead_ms(&scenario, &plan, node))
}

#[test]
fn clocks_are_set_once_nodes_run() {
    let ms = NS_PER_MS;
    assert_eq!(skewed(&[]), [None; 3]);
    assert_eq!(skewed(&[(2, 2, -30 * ms)]), [None, Some(-30), Some(-30)]);
    // All nodes start within the first second, after its beginning.
    assert_eq!(skewed(&[(0, 3, 5 * ms)]), [None; 3]);
    let twice = [(4, 1, 7 * ms), (3, 2, 9 * ms)];
    assert_eq!(skewed(&twice), [None, Some(9), Some(7)]);
}

#[test]
fn every_message_is_cut_into_as_many_parts_as_it_is_to_have() {
    let parts = |set: &[&str]| {
        let set: Vec<_> = set.iter().map(ToString::to_string).collect();
        part_bytes(&load("large-messages", &set).unwrap().scenario)
    };
    assert_eq!(parts(&["relay.fragments=1"]), None);
    let sized = |bytes: &str| {
        let bytes = format!("traffic.payload_bytes={bytes}");
        parts(&["relay.fragments=4", &bytes])
    };
    assert_eq!(sized("100000"), Some(25_000));
    assert_eq!(sized("100001"), Some(25_001));
    assert_eq!(sized("[100000, 99000]"), Some(25_000));
    assert_eq!(sized("[100000, 50000]"), None);
    assert_eq!(sized("3000"), None, "too short");
}

#[test]
fn a_scenario_without_parameters_of_the_router_has_wakus() {
    let text = "[scenario]\nnodes = 2\n[topology]\nkind = \"line\"\n[network]\none_way_ms = 1\n\
                uplink_mbit_per_s = 1\ndownlink_mbit_per_s = 1\n[traffic]\nmessages = 1\n\
                payload_bytes = 9\nfirst_s = 1\n";
    check(&parse(text, "plain", "plain", None, &[]).unwrap());
}
