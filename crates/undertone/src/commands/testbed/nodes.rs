//! The processes: their files, their flags, and when they are ready.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use undertone_membership::{Registry, RegistryError, SqliteRegistry};
use undertone_node::Keypair;
use undertone_node::config::{NodeConfig, Sources};
use undertone_rln::{Identity, IdentityFile};
use undertone_sim::scenario::Dialling;
use undertone_sim::{Dial, Plan, Scenario};
use undertone_testbed::Testbed;

use super::folder::RunFolder;
use super::node::{Node, Wanted};
use super::timeline::{Life, early_dials, is_configured};
use super::{RunError, faults, traffic};

/// How nodes are started.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// This program.
    pub(crate) program: PathBuf,
    /// Proofs that publishers prepare ahead.
    pub(crate) tokens: u32,
    /// How long nodes may take until they are connected.
    pub(crate) ready: Duration,
}

/// Flags that all nodes of a scenario have, as keys and values.
pub(crate) fn flags(scenario: &Scenario, setup: &Setup) -> Vec<(String, String)> {
    let relay = &scenario.relay;
    let gossip = &relay.gossip;
    let degrees = &gossip.degrees;
    let shards: Vec<_> = (0..relay.topics).map(|n| n.to_string()).collect();
    let flood = gossip.flood_publish != undertone_gossip::FloodPublish::Off;
    let mut flags = vec![
        ("network", "local".to_owned()),
        ("shards", shards.join(",")),
        ("max-message-bytes", relay.max_message_bytes.to_string()),
        ("protocols", relay.protocol.clone()),
        ("rest-admin", true.to_string()),
        ("rln", scenario.rln.is_some().to_string()),
        ("log-level", "warn".to_owned()),
        ("gossip.d", degrees.d.to_string()),
        ("gossip.d-low", degrees.d_low.to_string()),
        ("gossip.d-high", degrees.d_high.to_string()),
        ("gossip.d-score", degrees.d_score.to_string()),
        ("gossip.d-out", degrees.d_out.to_string()),
        ("gossip.d-lazy", degrees.d_lazy.to_string()),
        (
            "gossip.heartbeat-ms",
            gossip.heartbeat.as_millis().to_string(),
        ),
        ("gossip.gossip-factor", gossip.gossip_factor.to_string()),
        ("gossip.history-length", gossip.history_length.to_string()),
        ("gossip.history-gossip", gossip.history_gossip.to_string()),
        ("gossip.seen-ttl-s", gossip.seen_ttl.as_secs().to_string()),
        (
            "gossip.prune-backoff-s",
            gossip.prune_backoff.as_secs().to_string(),
        ),
        ("gossip.flood-publish", flood.to_string()),
    ];
    if scenario.rln.is_some() {
        flags.push(("rln-tokens", setup.tokens.to_string()));
        // They are prepared before the first message, and nothing waits for a rest meanwhile.
        flags.push(("rln-tokens-max-cpu", "100".to_owned()));
    }
    let owned = |(key, value): (&str, String)| (key.to_owned(), value);
    flags.into_iter().map(owned).collect()
}

/// The configuration that all nodes share.
pub(crate) fn config(flags: &[(String, String)]) -> Result<NodeConfig, RunError> {
    let sources = Sources {
        flags: flags.to_vec(),
        ..Sources::default()
    };
    Ok(NodeConfig::load(&sources)?)
}

/// Makes the files of all nodes of a plan, starts those that are there from the beginning, and waits until
/// each is connected to all its peers among them.
pub(crate) fn start(
    scenario: &Scenario,
    plan: &Plan,
    setup: &Setup,
    testbed: &Testbed,
    folder: &RunFolder,
) -> Result<Vec<Node>, RunError> {
    let mut nodes = prepare(scenario, plan, setup, testbed, folder)?;
    let hosts = testbed.hosts();
    let is_early = |node: u32| Life::of(scenario, plan, node).joins_ns.is_none();
    for node in &mut nodes {
        if is_early(node.index) {
            node.launch(&hosts[node.index as usize])?;
        }
    }
    let began = Instant::now();
    let early = early_dials(scenario, plan);
    if scenario.dialling == Dialling::OneByOne {
        for node in nodes.iter_mut().filter(|node| is_early(node.index)) {
            node.wait(
                &hosts[node.index as usize],
                &Wanted::NOTHING,
                began,
                setup.ready,
            )?;
        }
        connect_one_by_one(scenario, &early, &nodes, testbed, setup)?;
    }
    for node in nodes.iter_mut().filter(|node| is_early(node.index)) {
        let ends = |dial: &&Dial| [dial.from, dial.to].contains(&node.index);
        let wanted = Wanted {
            peers: early.iter().filter(ends).count(),
            tokens: match &scenario.rln {
                Some(rln) if publishes(plan, node.index) => setup.tokens.min(rln.message_limit),
                _ => 0,
            },
        };
        node.wait(&hosts[node.index as usize], &wanted, began, setup.ready)?;
    }
    Ok(nodes)
}

/// Has every node make its connections at their times, counted from the moment at which the first nodes
/// of the scenario start.
fn connect_one_by_one(
    scenario: &Scenario,
    dials: &[Dial],
    nodes: &[Node],
    testbed: &Testbed,
    setup: &Setup,
) -> Result<(), RunError> {
    let zero = Instant::now();
    let failures = thread::scope(|scope| {
        let mut under_way = Vec::new();
        for dial in dials {
            let after_ns = dial.at_ns.saturating_sub(scenario.start_ns);
            traffic::sleep_until(zero + Duration::from_nanos(after_ns));
            let address = &nodes[dial.to as usize].address;
            under_way.push(scope.spawn(move || faults::dial(testbed, dial, address, setup.ready)));
        }
        let ended = under_way.into_iter().map(|dialling| {
            let ended = dialling.join();
            ended.expect("dialling does not panic")
        });
        ended.collect::<Result<Vec<_>, _>>()
    })?;
    match failures.into_iter().flatten().next() {
        None => Ok(()),
        Some(dial) => Err(RunError::NotReady {
            node: dial.from,
            after_s: setup.ready.as_secs(),
            missing: "a peer that it was to connect to does not answer",
        }),
    }
}

fn publishes(plan: &Plan, node: u32) -> bool {
    let mut messages = plan.messages().iter();
    messages.any(|message| message.publisher == node)
}

fn prepare(
    scenario: &Scenario,
    plan: &Plan,
    setup: &Setup,
    testbed: &Testbed,
    folder: &RunFolder,
) -> Result<Vec<Node>, RunError> {
    let registry = registry(scenario, folder)?;
    let shared = flags(scenario, setup);
    let mut nodes = Vec::new();
    for host in testbed.hosts() {
        let node = host.index();
        let data_dir = folder.folder(&format!("node-{node}"))?;
        let key = Keypair::generate_secp256k1();
        let encoded = key.to_protobuf_encoding().map_err(|error| RunError::Key {
            node,
            error: error.into(),
        })?;
        write(data_dir.join("node-key"), &encoded)?;
        if let (Some(registry), Some(rln)) = (&registry, &scenario.rln) {
            let identity = identity()?;
            registry.register(identity.commitment(), rln.message_limit)?;
            if publishes(plan, node) {
                IdentityFile::write(&data_dir.join("rln-identity.json"), &identity)?;
            }
        }
        let mut command = Command::new(&setup.program);
        command.arg("node");
        for (key, value) in &shared {
            command.arg(format!("--{}={value}", key.replace('.', "-")));
        }
        let deliveries = data_dir.join("deliveries");
        let registry = folder.path().join("registry.sqlite");
        for (key, path) in [
            ("data-dir", &data_dir),
            ("delivery-log", &deliveries),
            ("rln-registry", &registry),
        ] {
            command.arg(format!("--{key}={}", path.display()));
        }
        // The scenario alone decides.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"UNDERTONE_") {
                command.env_remove(name);
            }
        }
        let peer_id = key.public().to_peer_id().to_string();
        nodes.push(Node {
            index: node,
            address: format!("/ip4/{}/tcp/60000/p2p/{peer_id}", host.address()),
            peer_id,
            deliveries,
            log: data_dir.join("log"),
            command,
            child: None,
            is_meant_to_end: false,
        });
    }
    configure_peers(scenario, plan, &mut nodes);
    Ok(nodes)
}

/// Names the peers that nodes connect to by themselves.
fn configure_peers(scenario: &Scenario, plan: &Plan, nodes: &mut [Node]) {
    let mut dials = plan.dials();
    dials.retain(|dial| is_configured(scenario, plan, dial));
    for node in 0..nodes.len() {
        let own = dials.iter().filter(|dial| dial.from as usize == node);
        let addresses = own.map(|dial| nodes[dial.to as usize].address.clone());
        let addresses: Vec<_> = addresses.collect();
        if !addresses.is_empty() {
            let flag = format!("--static-peers={}", addresses.join(","));
            nodes[node].command.arg(flag);
        }
    }
}

fn registry(scenario: &Scenario, folder: &RunFolder) -> Result<Option<SqliteRegistry>, RunError> {
    let Some(rln) = &scenario.rln else {
        return Ok(None);
    };
    let path = folder.path().join("registry.sqlite");
    let opened = SqliteRegistry::open_or_create(path, rln.message_limit);
    Ok(Some(opened.map_err(RegistryError::from)?))
}

fn identity() -> Result<Identity, RunError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(RunError::Random)?;
    Ok(Identity::from_seed(&seed))
}

fn write(path: PathBuf, bytes: &[u8]) -> Result<(), RunError> {
    fs::write(&path, bytes).map_err(|error| RunError::Folder { path, error })
}
