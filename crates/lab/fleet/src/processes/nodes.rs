//! Processes of all nodes: their files and flags, their start, and waiting until they are ready.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use undertone_membership::{RegistryError, SqliteRegistry};
use undertone_node::Keypair;
use undertone_node::config::{NodeConfig, Sources};
use undertone_rln::IdentityFile;
use undertone_sim::scenario::{Dialling, FaultKind};
use undertone_sim::{Dial, Plan, Scenario};
use undertone_testbed::Testbed;

use super::error::RunError;
use super::folder::RunFolder;
use super::node::{NodeProcess, Wanted};
use super::timeline::{Life, early_dials, is_configured, spams};
use super::{faults, traffic};
use crate::credentials::random_identity;

const NS_PER_MS: i64 = 1_000_000;

/// Number of shards of the network `local`; more are configured if the scenario has more topics.
const SHARDS: u32 = 8;

/// Minimum length of the fragments that a node cuts messages into, bytes.
const PART_BYTES_MIN: u32 = 1_000;

/// Settings for starting nodes.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Path of the program that runs a node.
    pub program: PathBuf,
    /// Arguments with which the program runs an honest node; a node's flags follow.
    pub node: &'static [&'static str],
    /// Arguments with which the program runs a node that reuses message ids; a node's flags follow.
    pub attacker: &'static [&'static str],
    /// Number of proofs that each publisher prepares ahead.
    pub tokens: u32,
    /// Time limit for the nodes to become connected.
    pub ready: Duration,
    /// Whether the nodes connect over QUIC instead of TCP.
    pub quic: bool,
}

impl Setup {
    /// Port at which each node is dialled, as the part of an address after the host.
    fn port(&self) -> &'static str {
        match self.quic {
            true => "udp/60000/quic-v1",
            false => "tcp/60000",
        }
    }
}

/// Returns the flags that all nodes of a scenario share, as keys and values.
pub(crate) fn flags(scenario: &Scenario, setup: &Setup) -> Vec<(String, String)> {
    let relay = &scenario.relay;
    let shards: Vec<_> = (0..relay.topics).map(|n| n.to_string()).collect();
    let mut flags = vec![
        ("network", "local".to_owned()),
        ("shards", shards.join(",")),
        (
            "num-shards-in-network",
            relay.topics.max(SHARDS).to_string(),
        ),
        ("max-message-bytes", relay.max_message_bytes.to_string()),
        ("protocols", relay.protocol.clone()),
        ("rest-admin", true.to_string()),
        // Only this program reaches the node, in a network namespace of its own.
        ("rest-auth", "none".to_owned()),
        ("rln", scenario.rln.is_some().to_string()),
        ("log-level", "warn".to_owned()),
    ];
    if setup.quic {
        flags.push(("quic-support", true.to_string()));
    }
    if let Some(part_bytes) = part_bytes(scenario) {
        flags.push(("gossip.fragment-bytes", part_bytes.to_string()));
    }
    if let Some(rln) = &scenario.rln {
        flags.push(("rln-epoch-s", rln.epoch_s.to_string()));
        flags.push(("rln-user-message-limit", rln.message_limit.to_string()));
        flags.push(("rln-tokens", setup.tokens.to_string()));
        // Tokens are prepared before the first message, so a processor limit would only delay the start.
        flags.push(("rln-tokens-max-cpu", "100".to_owned()));
    }
    let owned = |(key, value): (&str, String)| (key.to_owned(), value);
    flags.into_iter().map(owned).collect()
}

/// Returns the fragment length, bytes, that splits every message into the scenario's number of fragments;
/// `None` if messages are published whole, or if no length does so for every payload size.
pub(crate) fn part_bytes(scenario: &Scenario) -> Option<u32> {
    let parts = scenario.relay.fragments;
    let sizes = &scenario.traffic.payload_bytes;
    let bytes = sizes.iter().max()?.div_ceil(parts.max(1));
    let fits = |size: &u32| size.div_ceil(bytes.max(1)) == parts;
    (parts > 1 && bytes >= PART_BYTES_MIN && sizes.iter().all(fits)).then_some(bytes)
}

/// Returns the configuration that all nodes share, without the router's parameters.
pub(crate) fn config(flags: &[(String, String)]) -> Result<NodeConfig, RunError> {
    let sources = Sources {
        flags: flags.to_vec(),
        ..Sources::default()
    };
    Ok(NodeConfig::load(&sources)?)
}

/// Returns the command line that all nodes share: their flags, and the path of a file in the run's folder
/// to which the router's parameters are written.
pub(crate) fn command_line(
    flags: &[(String, String)],
    relay_parameters: &str,
    folder: &RunFolder,
) -> Result<Vec<String>, RunError> {
    let path = folder.path().join("relay.toml");
    let written = format!("--relay-parameters={}", path.display());
    write(path, relay_parameters.as_bytes())?;
    let flags = flags.iter();
    let flags = flags.map(|(key, value)| format!("--{}={value}", key.replace('.', "-")));
    Ok(flags.chain([written]).collect())
}

/// Creates the files of all nodes of a plan, starts the nodes that run from the beginning, and waits
/// until each is connected to all its peers among them.
pub(crate) fn start(
    scenario: &Scenario,
    plan: &Plan,
    setup: &Setup,
    flags: &[String],
    (testbed, folder): (&Testbed, &RunFolder),
) -> Result<Vec<NodeProcess>, RunError> {
    let mut nodes = prepare(scenario, plan, setup, flags, (testbed, folder))?;
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

/// Makes every node open its connections at their planned times. The current moment stands for the
/// scenario's `start_ns`.
fn connect_one_by_one(
    scenario: &Scenario,
    dials: &[Dial],
    nodes: &[NodeProcess],
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
    flags: &[String],
    (testbed, folder): (&Testbed, &RunFolder),
) -> Result<Vec<NodeProcess>, RunError> {
    let registry = registry(scenario, folder)?;
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
        let mut faults = scenario.faults.iter();
        let spams = faults.any(|fault| spams(plan, fault, node));
        if let (Some(registry), Some(rln)) = (&registry, &scenario.rln) {
            let identity = random_identity().map_err(RunError::Random)?;
            registry.register(identity.commitment(), rln.message_limit)?;
            if publishes(plan, node) || spams {
                IdentityFile::write(&data_dir.join("rln-identity.json"), &identity)?;
            }
        }
        let mut command = undertone_node_process::command(&setup.program);
        command.args(if spams { setup.attacker } else { setup.node });
        command.args(flags);
        let deliveries = data_dir.join("deliveries");
        let registry = folder.path().join("registry.sqlite");
        for (key, path) in [
            ("data-dir", &data_dir),
            ("delivery-log", &deliveries),
            ("rln-registry", &registry),
        ] {
            command.arg(format!("--{key}={}", path.display()));
        }
        if let Some(ahead_ms) = clock_ahead_ms(scenario, plan, node) {
            command.arg(format!("--clock-ahead-ms={ahead_ms}"));
        }
        let peer_id = key.public().to_peer_id().to_string();
        let port = setup.port();
        nodes.push(NodeProcess {
            index: node,
            address: format!("/ip4/{}/{port}/p2p/{peer_id}", host.address()),
            peer_id,
            deliveries,
            log: data_dir.join("log"),
            command,
            process: None,
            end: None,
        });
    }
    configure_peers(scenario, plan, &mut nodes);
    Ok(nodes)
}

/// Returns how far a node's clock is ahead from its start on, milliseconds. As in the simulator, a clock
/// fault before the node's start has no effect.
fn clock_ahead_ms(scenario: &Scenario, plan: &Plan, node: u32) -> Option<i64> {
    let set = scenario.faults.iter().filter_map(|fault| match fault.kind {
        FaultKind::ClockSkew { by_ns } => {
            let is_set =
                plan.afflicted(fault).contains(&node) && fault.at_ns >= plan.starts_ns(node);
            is_set.then_some((fault.at_ns, by_ns))
        }
        _ => None,
    });
    // The latest fault counts; of simultaneous ones, the last in the list.
    let (_, by_ns) = set.max_by_key(|(at_ns, _)| *at_ns)?;
    Some(by_ns / NS_PER_MS)
}

/// Adds to each node's flags the static peers that the node dials by itself.
fn configure_peers(scenario: &Scenario, plan: &Plan, nodes: &mut [NodeProcess]) {
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

fn write(path: PathBuf, bytes: &[u8]) -> Result<(), RunError> {
    fs::write(&path, bytes).map_err(|error| RunError::Folder { path, error })
}

#[cfg(test)]
#[path = "tests/nodes.rs"]
mod tests;
