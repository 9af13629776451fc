use std::{fs, path::Path};

use tempfile::TempDir;
use tracing::Level;
use undertone_rln::{BatchPolicy, PoolConfig};

use super::*;

mod bounds;
mod chain;
mod checked;
mod discovery;
mod explain;
mod gossip;
mod network;
mod program;
mod rest;
mod services;
mod traces;
mod transports;

/// Sources with a file of the given text; the file exists as long as the returned directory.
fn with_file(text: &str) -> (TempDir, Sources) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("node.toml");
    fs::write(&path, text).unwrap();
    (
        dir,
        Sources {
            file: Some(path),
            ..Sources::default()
        },
    )
}

fn environment(variables: &[(&str, &str)]) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    variables
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn flags(flags: &[(&str, &str)]) -> Vec<(String, String)> {
    flags
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect()
}

fn load_file(text: &str) -> Result<NodeConfig, ConfigError> {
    let (_dir, sources) = with_file(text);
    NodeConfig::load(&sources)
}

fn load_flags(set: &[(&str, &str)]) -> Result<NodeConfig, ConfigError> {
    NodeConfig::load(&Sources {
        flags: flags(set),
        ..Sources::default()
    })
}

/// Error text without the directory of the file, which differs from run to run.
fn file_error(text: &str) -> String {
    let (dir, sources) = with_file(text);
    let error = NodeConfig::load(&sources).unwrap_err().to_string();
    error.replace(&format!("{}/", dir.path().display()), "")
}

fn flag_error(name: &str, value: &str) -> String {
    load_flags(&[(name, value)]).unwrap_err().to_string()
}

#[test]
fn without_sources_the_local_preset_counts() {
    let config = NodeConfig::load(&Sources::default()).unwrap();
    assert_eq!(config.network, NetworkPreset::by_name("local").unwrap());
    assert_eq!(config.shards.len(), 8);
    assert_eq!(
        config.shards[7],
        Shard {
            cluster: 66,
            index: 7
        }
    );
    assert_eq!((config.tcp_port, config.websocket_port), (60000, None));
    assert_eq!(config.quic_port, None);
    let rest = config.rest.unwrap();
    assert_eq!(rest.address.to_string(), "127.0.0.1:8645");
    assert_eq!((rest.admin, rest.relay_cache_capacity), (false, 50));
    let rln = config.rln.unwrap();
    assert_eq!(rln.message_limit, 100);
    assert_eq!(rln.registry, Path::new("undertone-data/registry.sqlite"));
    assert_eq!(config.protocols, ["/vac/waku/relay/2.0.0"]);
    assert_eq!(
        config.log,
        LogConfig {
            level: Level::INFO,
            format: LogFormat::Text
        }
    );
}

#[test]
fn flags_go_before_environment_before_file_before_preset() {
    let (_dir, mut sources) = with_file("tcp-port = 1\nrest-port = 1\ncluster-id = 1");
    sources.environment = environment(&[("UNDERTONE_TCP_PORT", "2"), ("UNDERTONE_REST_PORT", "2")]);
    sources.flags = flags(&[("tcp-port", "3")]);
    let config = NodeConfig::load(&sources).unwrap();
    assert_eq!(config.tcp_port, 3, "flag");
    assert_eq!(config.rest.unwrap().address.port(), 2, "environment");
    assert_eq!(config.network.cluster_id, 1, "file");
    assert_eq!(config.network.num_shards.get(), 8, "preset");
}

#[test]
fn tables_merge_key_by_key() {
    let (_dir, mut sources) = with_file("[gossip]\nd = 7\nd-low = 5");
    sources.environment = environment(&[("UNDERTONE_GOSSIP_D_LOW", "4")]);
    sources.flags = flags(&[
        ("gossip.flood-publish", "false"),
        ("gossip.gossip-factor", "0.5"),
    ]);
    let gossip = NodeConfig::load(&sources).unwrap().gossip;
    let expected = GossipOverrides {
        d: Some(7),
        d_low: Some(4),
        flood_publish: Some(false),
        gossip_factor: Some(0.5),
        ..GossipOverrides::default()
    };
    assert_eq!(gossip, expected);
}

#[test]
fn every_key_can_be_set_from_text() {
    for key in KEYS {
        let value = match key.kind {
            Kind::Bool => "true",
            // 1 thread is the default on two processors, and 1 proof is not a valid batch.
            Kind::Integer if key.name == "rln-verify-threads" => "64",
            Kind::Integer if key.name == "rln-batch-from" => "2",
            Kind::Integer if key.name == "gossip.fragment-bytes" => "1000",
            Kind::Integer if key.name == "circuit-relay-bytes" => "2048",
            // Parameters of the router have to fit the defaults of the others.
            Kind::Integer if matches!(key.name, "gossip.d" | "gossip.d-high") => "7",
            Kind::Integer if matches!(key.name, "gossip.d-low" | "gossip.history-length") => "5",
            Kind::Float if key.name == "otlp-sampled-share" => "0.5",
            Kind::Integer | Kind::Float | Kind::IntegerList => "1",
            _ if key.expected.starts_with("an IP address") => "127.0.0.2",
            Kind::Text if key.name == "network" => "twn",
            Kind::Text if key.name == "otlp-endpoint" => traces::COLLECTOR.1,
            Kind::Text if key.name == "nat" => "extip:203.0.113.7",
            Kind::Text if key.name == "relay-client" => "true",
            Kind::Text if key.name == "gossip.strategy" => "reduced",
            Kind::Text if key.name == "log-level" => "debug",
            Kind::Text if key.name == "log-format" => "json",
            Kind::Text if key.name == "metrics-names" => "waku",
            Kind::Text if key.name == "rest-auth" => "all",
            Kind::Text if key.name == "rest-token" => "0123456789abcdef",
            Kind::TextList if key.name == "content-topics" => "/a/1/b/proto",
            Kind::Text if key.name == "store-message-retention-policy" => "capacity:7",
            Kind::Text => "file",
            Kind::TextList if matches!(key.name, "static-peers" | "ext-multiaddr") => {
                "/ip4/127.0.0.1/tcp/1"
            }
            Kind::TextList if key.name.ends_with("node") => services::PEER,
            Kind::TextList if key.name == "shard-bandwidth" => "500000,3:100000",
            Kind::TextList if key.name == "dns-discovery-url" => discovery::LIST,
            Kind::TextList if key.name == "dns-discovery-name-server" => "127.0.0.1:5353",
            Kind::TextList if key.name == "protocols" => "/meshsub/1.1.0,/meshsub/1.0.0",
            Kind::TextList if key.name == "rate-limit" => "store:5/1s,7/1m",
            Kind::TextList => "/a,/b",
        };
        // The contract's keys are valid only together.
        let (mut around, value) = match key.name.starts_with("rln-eth-") {
            true => (chain::WHOLE.to_vec(), chain::other(key.name)),
            // A relay of that network needs an endpoint of its chain.
            false if key.name == "network" => (vec![("relay", "false")], value),
            false if key.name.starts_with("metrics-server-") => {
                (vec![("metrics-server", "true")], value)
            }
            false if key.name.starts_with("websocket-secure-") => {
                (transports::SECURE.to_vec(), value)
            }
            false if key.name == "ext-multiaddr-only" => {
                (vec![("ext-multiaddr", "/ip4/1.2.3.4/tcp/1")], value)
            }
            false if key.name == "otlp-sampled-share" => (vec![traces::COLLECTOR], value),
            false if key.name == "quic-port" => (vec![("quic-support", "true")], value),
            false if key.name == "discv5-udp-port" => (vec![("discv5-discovery", "true")], value),
            false if matches!(key.name, "dns-discovery" | "dns-discovery-name-server") => {
                (vec![("dns-discovery-url", discovery::LIST)], value)
            }
            false if key.name.starts_with("store-sync-") => {
                (vec![("store", "true"), ("store-sync", "true")], value)
            }
            false if key.name.starts_with("store-") => (vec![("store", "true")], value),
            false => (Vec::new(), value),
        };
        let default = match key.name {
            // Without it, the keys around it are not valid.
            "websocket-secure-support" => load_flags(&[]).unwrap(),
            _ => load_flags(&around).unwrap(),
        };
        around.retain(|(name, _)| *name != key.name);
        // A shift of 1 changes the ports, and the WebSocket port is resolved only with WebSocket on.
        around.extend([("websocket", "true"), (key.name, value)]);
        let with_it = load_flags(&around);
        let with_it = with_it.unwrap_or_else(|e| panic!("{}: {e}", key.name));
        let mut on_by_default =
            "autonat circuit-relay rest relay rln filter lightpush lightpush-proofs peer-exchange dns-discovery"
                .split(' ');
        let same_as_default = on_by_default.any(|name| name == key.name);
        assert_eq!(
            NodeConfig {
                websocket_port: default.websocket_port,
                ..with_it.clone()
            } == default
                && with_it.websocket_port == Some(8000)
                && key.name != "websocket",
            same_as_default,
            "{} = {value} must show in the configuration",
            key.name
        );
        assert!(!key.expected.is_empty() && !key.help.is_empty());
    }
}

#[test]
fn lists_come_as_toml_or_with_commas() {
    let config = load_file(
        "shards = [3, 1, 3]\nstatic-peers = [\"/ip4/1.2.3.4/tcp/60000\", \"/dns4/a.b/tcp/1/ws\"]",
    );
    let config = config.unwrap();
    assert_eq!(
        config
            .shards
            .iter()
            .map(|shard| shard.index)
            .collect::<Vec<_>>(),
        [1, 3]
    );
    assert_eq!(config.static_peers.len(), 2);
    let config = load_flags(&[
        ("shards", "2, 5"),
        ("protocols", "/meshsub/1.1.0, /floodsub/1.0.0"),
    ])
    .unwrap();
    assert_eq!(
        config
            .shards
            .iter()
            .map(|shard| shard.index)
            .collect::<Vec<_>>(),
        [2, 5]
    );
    assert_eq!(config.protocols, ["/meshsub/1.1.0", "/floodsub/1.0.0"]);
    assert!(load_flags(&[("shards", "")]).unwrap().shards.is_empty());
}

#[test]
fn port_zero_stays_zero_when_ports_are_shifted() {
    let config = load_flags(&[
        ("ports-shift", "5"),
        ("tcp-port", "0"),
        ("websocket", "true"),
        ("quic-support", "true"),
    ]);
    let config = config.unwrap();
    assert_eq!((config.tcp_port, config.websocket_port), (0, Some(8005)));
    assert_eq!(config.quic_port, Some(60005));
    assert_eq!(config.rest.unwrap().address.port(), 8650);
}

#[test]
fn parts_can_be_switched_off() {
    let config = load_file("rest = false\nrln = false\nrelay = false").unwrap();
    assert_eq!((config.rest, config.rln, config.relay), (None, None, false));
    assert_eq!(config.network.rln, None);
}

#[test]
fn what_the_node_remembers_follows_the_data_directory() {
    let config = load_file("data-dir = \"/d\"\nrln-registry = \"/r\"").unwrap();
    let rln = config.rln.unwrap();
    assert_eq!(config.node_key_file, Path::new("/d/node-key"));
    assert_eq!(rln.identity_file, Path::new("/d/rln-identity.json"));
    assert_eq!(rln.counter_file, Path::new("/d/rln-counter"));
    assert_eq!(rln.tables_file, Path::new("/d/rln-tables"));
    assert_eq!(rln.registry, Path::new("/r"));
}

#[test]
fn tokens_have_a_number_and_a_budget() {
    let tokens = |text: &str| load_file(text).unwrap().rln.unwrap().tokens;
    let mut expected = PoolConfig::default();
    expected.root_window = 50;
    expected.refresh_roots = 25;
    assert_eq!(tokens(""), expected);
    let own = "rln-tokens = 0\nrln-tokens-max-cpu = 100\nrln-tokens-refresh = 50\n\
               rln-tokens-lead-s = 2";
    expected.size = 0;
    expected.max_cpu_percent = 100;
    expected.refresh_roots = 50;
    expected.next_epoch_lead_ns = 2_000_000_000;
    assert_eq!(tokens(own), expected);
    for wrong in [
        "rln-tokens = 65",
        "rln-tokens-max-cpu = 0",
        "rln-tokens-max-cpu = 101",
        "rln-tokens-refresh = 0",
        "rln-tokens-refresh = 51",
    ] {
        assert!(
            file_error(wrong).contains("expected a number"),
            "{}",
            file_error(wrong)
        );
    }
}

#[test]
fn proofs_are_checked_together_as_configured() {
    let rln = |text: &str| load_file(text).unwrap().rln.unwrap();
    assert_eq!(rln("").batches, BatchPolicy::default());
    let own = rln(
        "rln-verify-threads = 3\nrln-batch-from = 5\nrln-batch-max = 16\n\
                   rln-batch-max-delay-ms = 7\nrln-suspect-s = 9",
    );
    assert_eq!(own.verifier_threads, 3);
    let mut expected = BatchPolicy::default();
    expected.max_batch = 16;
    expected.single_below = 5;
    expected.max_delay_ns = 7_000_000;
    expected.suspect_for_ns = 9_000_000_000;
    assert_eq!(own.batches, expected);
    for wrong in [
        "rln-verify-threads = 0",
        "rln-batch-from = 1",
        "rln-batch-max = 0",
        "rln-batch-max-delay-ms = 1001",
        "rln-suspect-s = 86401",
    ] {
        let key = wrong.split(' ').next().unwrap();
        assert!(file_error(wrong).contains(key), "{}", file_error(wrong));
        assert!(
            file_error(wrong).contains("expected"),
            "{}",
            file_error(wrong)
        );
    }
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_a_hint() {
    assert_eq!(
        file_error("# a node\n\ntpc-port = 1"),
        "node.toml:3: unknown key \"tpc-port\"; did you mean \"tcp-port\"?"
    );
    assert_eq!(
        file_error("[gossip]\nd = 6\nd-lowe = 4"),
        "node.toml:3: unknown key \"gossip.d-lowe\"; did you mean \"gossip.d-low\"?"
    );
    assert_eq!(
        file_error("tcp-port = 1\n[metrics]\nport = 2"),
        "node.toml:2: unknown key \"metrics\"; see the documentation for the list of keys"
    );
    assert_eq!(
        flag_error("rest-prot", "1"),
        "flag --rest-prot: unknown key \"rest-prot\"; did you mean \"rest-port\"?"
    );
}

#[test]
fn a_slip_in_a_variable_is_named_but_strangers_are_left_alone() {
    let load = |name| {
        let environment = environment(&[(name, "1")]);
        NodeConfig::load(&Sources {
            environment,
            ..Sources::default()
        })
    };
    assert_eq!(
        load("UNDERTONE_TCP_PROT").unwrap_err().to_string(),
        "environment variable UNDERTONE_TCP_PROT: unknown key \"UNDERTONE_TCP_PROT\"; \
         did you mean \"UNDERTONE_TCP_PORT\"?"
    );
    for stranger in ["UNDERTONE_LOG", "UNDERTONE_SEED", "PATH"] {
        assert!(load(stranger).is_ok(), "{stranger}");
    }
}

#[test]
fn a_file_that_is_not_toml_is_named_with_its_line() {
    let error = file_error("tcp-port = 1\nrest-port = = 2");
    assert!(error.starts_with("node.toml:2: "), "{error}");
    let error = file_error("tcp-port = 1\ntcp-port = 2");
    assert!(error.starts_with("node.toml:2: duplicate key"), "{error}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let sources = Sources {
        file: Some("/nowhere/node.toml".into()),
        ..Sources::default()
    };
    let error = NodeConfig::load(&sources).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot read configuration file /nowhere/node.toml: ")
    );
}

#[test]
fn a_log_level_may_be_written_in_any_case_and_as_the_reference_node_does() {
    for (text, level) in [
        ("INFO", Level::INFO),
        ("Debug", Level::DEBUG),
        ("trc", Level::TRACE),
        ("NOTICE", Level::INFO),
        ("FATAL", Level::ERROR),
    ] {
        let config = load_flags(&[("log-level", text)]).unwrap();
        assert_eq!(config.log.level, level, "{text}");
    }
    let config = load_file("log-level = \"TRACE\"").unwrap();
    assert_eq!(config.log.level, Level::TRACE);
}

#[test]
fn a_bad_value_is_named_with_its_source() {
    assert_eq!(
        file_error("rest = true\ntcp-port = 70000"),
        "node.toml:2: tcp-port = 70000: expected a port, 0 to 65535 (0 lets the system choose)"
    );
    assert_eq!(
        file_error("[gossip]\nd = \"many\""),
        "node.toml:2: gossip.d = \"many\": expected a number of peers, 1 or more"
    );
    assert_eq!(
        file_error("gossip = 5"),
        "node.toml:1: gossip = 5: expected a table [gossip] of keys"
    );
    let environment = environment(&[("UNDERTONE_RELAY", "maybe")]);
    let sources = Sources {
        environment,
        ..Sources::default()
    };
    assert_eq!(
        NodeConfig::load(&sources).unwrap_err().to_string(),
        "environment variable UNDERTONE_RELAY: relay = \"maybe\": expected true or false"
    );
    assert_eq!(
        flag_error("gossip.heartbeat-ms", "0"),
        "flag --gossip-heartbeat-ms: gossip.heartbeat-ms = 0: expected milliseconds, 1 or more"
    );
}
