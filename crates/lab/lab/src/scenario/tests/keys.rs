//! Tests of keys, overrides, and messages about mistakes.

use undertone_gossip::{
    Config, FloodPublish, Strategy, StrategyChoice, StrategyFactory, StrategyKind,
};
use undertone_sim::scenario::{
    Churn, Delay, Discovery, FaultKind, ListedMessage, Publishers, Qdisc, Spacing, Topology,
    Verification,
};

use super::super::register_strategy;
use super::{LEAST, error, read};

#[test]
fn the_least_scenario_has_wakus_router_and_no_limit() {
    let scenario = read(LEAST, &[]).scenario;
    assert_eq!(scenario.relay.gossip, Config::waku());
    assert_eq!(scenario.relay.protocol, "/vac/waku/relay/2.0.0");
    assert_eq!(scenario.rln, None);
    assert_eq!(scenario.traffic.spacing, Spacing::Constant(0));
    assert!(scenario.faults.is_empty());
    let scenario = read(LEAST, &["relay.base=libp2p"]).scenario;
    assert_eq!(scenario.relay.gossip, Config::libp2p());
    assert_eq!(scenario.relay.protocol, "/meshsub/1.2.0");
}

#[test]
fn overrides_speak_toml_and_fall_back_to_text() {
    let set = |overrides: &[&str]| read(LEAST, overrides).scenario;
    assert_eq!(set(&["topology.kind=ring"]).topology, Topology::Ring);
    assert_eq!(set(&["topology.kind = \"star\""]).topology, Topology::Star);
    assert_eq!(
        set(&["traffic.payload_bytes=[1, 2]"]).traffic.payload_bytes,
        [1, 2]
    );
    let edges = set(&["topology={kind=\"edges\", edges=[[0,1],[9,2]]}"]).topology;
    assert_eq!(edges, Topology::Edges(vec![(0, 1), (9, 2)]));
    let regular = set(&["topology.kind=regular", "topology.degree=3"]).topology;
    assert_eq!(regular, Topology::Regular(3));
    // The last override of a key counts.
    assert_eq!(set(&["scenario.nodes=20", "scenario.nodes=30"]).nodes, 30);
    // An override reaches into a list by position.
    let text = format!("{LEAST}[[faults]]\nkind = \"leave\"\nat_s = 1\nnodes = 1\n");
    let faults = read(&text, &["faults.0.at_s=2.5"]).scenario.faults;
    assert_eq!(faults[0].at_ns, 2_500_000_000);
}

#[test]
fn messages_may_have_times_of_their_own() {
    let text = LEAST.split("[traffic]").next().unwrap();
    let text = format!(
        "{text}[relay]\ntopics = 2\n[traffic]\nlisted = [[1.5, 3, 100], [0.5, 9, 2000, 1]]\n"
    );
    let scenario = read(&text, &[]).scenario;
    let first = ListedMessage {
        at_ns: 1_500_000_000,
        publisher: 3,
        payload_bytes: 100,
        topic: 0,
    };
    let second = ListedMessage {
        at_ns: 500_000_000,
        publisher: 9,
        payload_bytes: 2_000,
        topic: 1,
    };
    assert_eq!(scenario.listed, [first, second]);
    assert_eq!(scenario.traffic.messages, 2);
    let wrong = error(&text, &["traffic.listed=[[1, 10, 100]]"]);
    assert!(wrong.contains("node below 10"), "{wrong}");
    let wrong = error(&text, &["traffic.messages=3"]);
    assert!(wrong.contains("traffic.listed has the time"), "{wrong}");
    let wrong = error(&text, &["traffic.listed=[]"]);
    assert!(wrong.contains("a list of at most"), "{wrong}");
}

#[test]
fn a_strategy_of_the_program_is_chosen_by_its_name() {
    #[derive(Debug)]
    struct Own;
    impl StrategyFactory for Own {
        fn build(&self) -> Box<dyn Strategy> {
            Box::new(OwnStrategy)
        }
    }
    #[derive(Debug)]
    struct OwnStrategy;
    impl Strategy for OwnStrategy {}
    let before = error(LEAST, &["relay.strategy=of-keys-test"]);
    assert!(before.contains("\"eager-mesh\""), "{before}");
    register_strategy("of-keys-test", Own).unwrap();
    let chosen = read(LEAST, &["relay.strategy=of-keys-test"]);
    assert!(matches!(
        chosen.scenario.relay.gossip.strategy,
        StrategyChoice::Custom(_)
    ));
    assert_eq!(
        chosen.resolved.parameters["relay"]["strategy"],
        "of-keys-test"
    );
    assert!(register_strategy("of-keys-test", Own).is_err());
    assert!(register_strategy("flood", Own).is_err());
}

#[test]
fn delays_queues_and_costs() {
    let network = |overrides: &[&str]| {
        let text = LEAST.replace("one_way_ms = 50\n", "");
        read(&text, overrides).scenario.network
    };
    let uniform = network(&["network.min_one_way_ms=1.5", "network.max_one_way_ms=2"]);
    let (min_ns, max_ns) = (1_500_000, 2_000_000);
    assert_eq!(uniform.delay, Delay::Uniform { min_ns, max_ns });
    let cities = network(&["network.cities={names=[\"a\",\"b\"], one_way_ms=[[1,2],[3,4]]}"]);
    let one_way_ns = vec![vec![1_000_000, 2_000_000], vec![3_000_000, 4_000_000]];
    assert_eq!(cities.delay, Delay::Places { one_way_ns });
    let fifo = network(&[
        "network.one_way_ms=1",
        "network.queue=fifo",
        "network.fifo_max_bytes=2000",
    ]);
    assert_eq!(fifo.queue, Qdisc::Fifo { max_bytes: 2_000 });
    let cpu = read(LEAST, &["cpu={per_frame_us=1.5, per_kb_us=2}"])
        .scenario
        .cpu;
    assert_eq!((cpu.per_frame_ns, cpu.per_kb_ns), (1_500, 2_000));
}

#[test]
fn a_silence_costs_what_the_transport_says_unless_the_scenario_does() {
    let slow = |overrides: &[&str]| {
        read(LEAST, overrides)
            .scenario
            .network
            .slow_start_after_idle
    };
    assert!(slow(&[]));
    assert!(!slow(&["network.tcp=shadow"]));
    let (on, off) = (
        "network.slow_start_after_idle=true",
        "network.slow_start_after_idle=false",
    );
    assert!(!slow(&[off]));
    assert!(slow(&["network.tcp=shadow", on]));
}

#[test]
fn nodes_that_find_each_other_have_no_connections_at_the_start() {
    let strangers = "topology={kind=\"discovery\"}";
    let scenario = read(LEAST, &[strangers]).scenario;
    assert_eq!(scenario.topology, Topology::Discovery(Discovery::default()));
    let churn = "topology={kind=\"discovery\", offered=4, answer_ms=100, cut_noticed_s=10, churn_per_minute=0.1, \
                 away_s=60, churn_from_s=30, churn_until_s=90}";
    let topology = read(LEAST, &[churn]).scenario.topology;
    let found = topology.discovery().unwrap();
    assert_eq!((found.offered, found.answer_ns), (4, 100_000_000));
    assert_eq!(found.cut_noticed_after_ns, 10_000_000_000);
    let expected = Churn {
        share_per_minute: 0.1,
        away_ns: 60_000_000_000,
        from_ns: 30_000_000_000,
        until_ns: 90_000_000_000,
    };
    assert_eq!(found.churn, Some(expected));
    for (set, what) in [
        ("topology.dialling=\"one-by-one\"", "has no effect here"),
        ("topology.away_s=60", "has no effect here"),
        (
            "topology.churn_per_minute=0.1",
            "with topology.churn_per_minute",
        ),
    ] {
        let error = error(LEAST, &[strangers, set]);
        assert!(error.contains(what), "{set}: {error}");
    }
}

#[test]
fn limits_and_their_costs() {
    let wait = "rln={generation_ms=1, verification_ms=2}";
    let rln = read(LEAST, &[wait]).scenario.rln.unwrap();
    assert_eq!(rln.verification, Verification::Wait { ns: 2_000_000 });
    assert_eq!((rln.message_limit, rln.epoch_s), (100, 600));
    let batches = "rln={generation_ms=1, verification=\"batches\", single_ms=1, \
                   batch_base_ms=2, batch_per_proof_ms=3}";
    let rln = read(LEAST, &[batches]).scenario.rln.unwrap();
    let expected = Verification::Batches {
        single_ns: 1_000_000,
        batch_base_ns: 2_000_000,
        batch_per_proof_ns: 3_000_000,
    };
    assert_eq!(rln.verification, expected);
    assert_eq!(
        error(LEAST, &[wait, "rln.single_ms=1"]),
        "--set rln={generation_ms=1, verification_ms=2} --set rln.single_ms=1: rln.single_ms has no effect here: the other \
         kind of rln.verification would use it"
    );
}

#[test]
fn the_router_is_reachable_by_its_own_names() {
    let gossip = |overrides: &[&str]| read(LEAST, overrides).scenario.relay.gossip;
    assert_eq!(
        gossip(&["relay.strategy=flood"]).strategy,
        StrategyKind::Flood
    );
    assert_eq!(
        gossip(&["relay.heartbeat_ms=700"]).heartbeat.as_millis(),
        700
    );
    assert_eq!(
        gossip(&["relay.flood_publish=off"]).flood_publish,
        FloodPublish::Off
    );
    let bounded = gossip(&["relay.flood_publish_bytes_per_ms=5"]).flood_publish;
    assert_eq!(
        bounded,
        FloodPublish::BoundedByRate {
            rate_bytes_per_ms: 5
        }
    );
    assert_eq!(
        gossip(&["relay.idontwant=false"]).idontwant_threshold_bytes,
        usize::MAX
    );
    let relay = |overrides: &[&str]| read(LEAST, overrides).scenario.relay;
    assert_eq!(relay(&[]).topics_per_node, None);
    let some = relay(&["relay.topics=8", "relay.topics_per_node=2"]);
    assert_eq!((some.topics, some.topics_per_node), (8, Some(2)));
    assert_eq!(gossip(&["relay.limits.seen_max=9"]).limits.seen_max, 9);
    assert_eq!(gossip(&["relay.score.enabled=false"]).score, None);
    let score = gossip(&["relay.base=libp2p", "relay.score.behaviour_weight=-3"]).score;
    assert_eq!(score.unwrap().behaviour_weight, -3.0);
    let topics = gossip(&["relay.score.topics.x.time_in_mesh_cap=7"])
        .score
        .unwrap()
        .topics;
    assert_eq!(topics["x"].time_in_mesh_cap, 7.0);
    assert_eq!(
        gossip(&["relay.thresholds.gossip=-7"]).thresholds.gossip,
        -7.0
    );
}

#[test]
fn publishers_and_faults() {
    let publishers = |overrides: &[&str]| read(LEAST, overrides).scenario.traffic.publishers;
    assert_eq!(publishers(&["traffic.publisher=3"]), Publishers::One(3));
    assert_eq!(
        publishers(&["traffic.publishers=random"]),
        Publishers::Random
    );
    let turn = [
        "traffic.publishers=round-robin",
        "traffic.publisher_count=2",
    ];
    assert_eq!(publishers(&turn), Publishers::RoundRobin(2));
    for (fault, kind) in [
        (
            "kind=\"crash\", noticed_after_s=1",
            FaultKind::Crash {
                noticed_after_ns: 1_000_000_000,
            },
        ),
        ("kind=\"join\"", FaultKind::Join),
        ("kind=\"silent\"", FaultKind::Silent),
        (
            "kind=\"partition\", for_s=2",
            FaultKind::Partition {
                for_ns: 2_000_000_000,
            },
        ),
        ("kind=\"slow\", factor=0.5", FaultKind::Slow { factor: 0.5 }),
        ("kind=\"lossy\", loss=0.5", FaultKind::Lossy { loss: 0.5 }),
        (
            "kind=\"clock-skew\", ahead_ms=-3",
            FaultKind::ClockSkew { by_ns: -3_000_000 },
        ),
        (
            "kind=\"spam\", interval_ms=4",
            FaultKind::Spam {
                interval_ns: 4_000_000,
            },
        ),
    ] {
        let text = format!("faults=[{{at_s=1, nodes=2, {fault}}}]");
        let scenario = read(LEAST, &[&text]).scenario;
        assert_eq!(
            (scenario.faults[0].nodes, scenario.faults[0].kind),
            (2, kind)
        );
    }
}

#[test]
fn mistakes_name_the_place_the_value_and_the_remedy() {
    for (right, wrong, message) in [
        (
            "one_way_ms = 50",
            "one_way = 50",
            r#"s.toml:8: unknown key "network.one_way"; did you mean "one_way_ms"?"#,
        ),
        (
            "one_way_ms = 50",
            "one_way_ms = \"fast\"",
            r#"s.toml:8: network.one_way_ms = "fast": expected a number from 0 to 1000000000000"#,
        ),
        (
            "one_way_ms = 50",
            "one_way_ms = nan",
            "s.toml:8: network.one_way_ms = NaN: expected a number from 0 to 1000000000000",
        ),
        (
            "one_way_ms = 50\n",
            "",
            "s.toml:5: network.one_way_ms is missing: expected milliseconds, or min_one_way_ms and \
          max_one_way_ms, cities, places, or gml instead",
        ),
        (
            "nodes = 10",
            "nodes = 1",
            "s.toml:2: scenario.nodes = 1: expected a whole number from 2 to 4000000",
        ),
        (
            "[traffic]",
            "[trafic]",
            r#"s.toml:9: unknown key "trafic"; did you mean "traffic"?"#,
        ),
        (
            "\"line\"",
            "\"lime\"",
            r#"s.toml:4: topology.kind = "lime": expected one of "dials", "regular", "line", "ring", "star", "full-mesh", "edges", "discovery""#,
        ),
        (
            "\"line\"",
            "\"line\"\ndegree = 3",
            "s.toml:5: topology.degree has no effect here: another topology.kind would use it",
        ),
        (
            "\"line\"",
            "\"regular\"",
            "s.toml:3: topology.degree is missing: expected connections of each node, 1 to 9",
        ),
        (
            "\"line\"",
            "\"edges\"\nedges = [[0, 1],\n[2, 10]]",
            "s.toml:6: topology.edges = a list of 2: expected two different nodes from 0 to 9: [dialler, dialled]",
        ),
        (
            "messages = 1",
            "messages = 2",
            "s.toml:9: traffic.spacing_s is missing: expected seconds between messages",
        ),
        (
            "payload_bytes = 100",
            "payload_bytes = []",
            "s.toml:11: traffic.payload_bytes = a list of 0: expected bytes, 0 to 67108864, or a list of sizes taken in turn",
        ),
        (
            "[scenario]",
            "[scenario",
            "s.toml:1: unclosed table, expected `]`",
        ),
        (
            "[scenario]",
            "[relay]\nd = 20\n[scenario]",
            "s.toml:1: [relay]: gossip configuration: d_low <= d <= d_high must hold",
        ),
        (
            "[scenario]",
            "relay = 3\n[scenario]",
            "s.toml:1: relay = 3: expected a table [relay] of keys",
        ),
        (
            "[scenario]",
            "faults = 3\n[scenario]",
            "s.toml:1: faults = 3: expected tables [[faults]]",
        ),
    ] {
        assert!(LEAST.contains(right), "{right}");
        assert_eq!(error(&LEAST.replacen(right, wrong, 1), &[]), message);
    }
}

#[test]
fn mistakes_in_overrides_name_the_override() {
    for (text, message) in [
        (
            "scenario.nodes",
            "--set scenario.nodes: expected KEY=VALUE, such as network.one_way_ms=100",
        ),
        (
            "=1",
            "--set =1: expected KEY=VALUE, such as network.one_way_ms=100",
        ),
        (
            "relay.dlow=3",
            r#"--set relay.dlow=3: unknown key "relay.dlow"; did you mean "d_low"?"#,
        ),
        (
            "scenario.nodes=many",
            r#"--set scenario.nodes=many: scenario.nodes = "many": expected a whole number from 2 to 4000000"#,
        ),
        (
            "scenario.nodes.x=1",
            "--set scenario.nodes.x=1: scenario.nodes.x = 1: expected no key below scenario.nodes, which is 10",
        ),
    ] {
        assert_eq!(error(LEAST, &[text]), message);
    }
}

#[test]
fn a_profile_sets_what_its_router_does_and_keys_hold_nevertheless() {
    let relay = |overrides: &[&str]| read(LEAST, overrides).scenario.relay.gossip;
    let nim = relay(&["relay.profile=nim"]);
    assert_eq!(nim.policy.profile, "nim");
    assert_eq!(nim.degrees, Config::waku().degrees);
    assert_eq!(nim.gossip_retransmissions, 1);
    let of_libp2p = relay(&["relay.profile=nim", "relay.base=libp2p"]);
    assert_eq!(of_libp2p.degrees.d_out, 3);
    let with_key = relay(&["relay.profile=nim", "relay.gossip_retransmissions=2"]);
    assert_eq!(with_key.gossip_retransmissions, 2);
    assert_eq!(relay(&["relay.profile=undertone"]), Config::waku());
}

#[test]
fn a_handshake_takes_the_place_of_a_number_of_packets() {
    let network = |overrides: &[&str]| read(LEAST, overrides).scenario.network;
    assert_eq!(network(&["network.handshake=constant"]).handshake, None);
    let rust = network(&["network.handshake=rust"]);
    assert_eq!(rust.handshake.map(|known| known.name), Some("rust"));
    let both = ["network.handshake=rust", "network.setup_packets=4"];
    assert!(error(LEAST, &both).contains("setup_packets"));
}

#[test]
fn every_multiplexer_has_a_name_and_the_default_has_no_window() {
    let mux = |overrides: &[&str]| read(LEAST, overrides).scenario.network.mux.0;
    assert_eq!(mux(&[]).name, "none");
    assert_eq!(mux(&[]).flow_control, None);
    for (name, _) in undertone_sim::scenario::Multiplexer::all() {
        assert_eq!(mux(&[&format!("network.mux={name}")]).name, name);
    }
}

#[test]
fn adversaries_publish_as_members() {
    let group = "[[groups]]\nname = \"a\"\nnodes = 2\n[groups.policy]\n";
    let policy = |keys: &str| {
        let scenario = read(&format!("{LEAST}{group}{keys}"), &[]).scenario;
        *scenario.groups[0].policy.clone().unwrap()
    };
    let set = policy(
        "publish_every_s = 2\nsignals = 3\nsignal_gap_s = 0.5\nclock_ahead_ms = -1.5\nroot_spread_s = 4\n",
    );
    assert_eq!(set.publish_every_ns, Some(2_000_000_000));
    assert_eq!((set.signals, set.signal_gap_ns), (3, 500_000_000));
    assert_eq!(set.clock_ahead_ns, -1_500_000);
    assert_eq!(set.root_spread_ns, 4_000_000_000);
    assert_eq!(policy("").publish_every_ns, None);
    assert_eq!(policy("kind = \"double-signal\"\n").signals, 2);
    assert_eq!(
        policy("kind = \"clock-skew\"\n").clock_ahead_ns,
        20_050_000_000
    );
    assert_eq!(
        policy("kind = \"racing-roots\"\n").root_spread_ns,
        16_000_000_000
    );
    let flood = policy("kind = \"nullifier-flood\"\npublish_every_s = 0.25\n");
    assert_eq!(flood.publish_every_ns, Some(250_000_000));
    for (key, value) in [
        ("signals", "0"),
        ("signals", "101"),
        ("publish_every_s", "-1"),
    ] {
        let refused = error(&format!("{LEAST}{group}{key} = {value}\n"), &[]);
        assert!(refused.contains(key), "{refused}");
    }
}
