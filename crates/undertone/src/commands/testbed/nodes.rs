//! The processes: their files, their flags, and when they are ready.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use undertone_membership::{Registry, RegistryError, SqliteRegistry};
use undertone_node::Keypair;
use undertone_node::config::{NodeConfig, Sources};
use undertone_rln::{Identity, IdentityFile};
use undertone_sim::{Plan, Scenario};
use undertone_testbed::{Host, Testbed};

use super::folder::RunFolder;
use super::{RunError, rest};

/// Between two looks at a node that is starting.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// How much of a dead node's last words is repeated, bytes.
const LAST_WORDS: usize = 2_000;

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

/// A running node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) index: u32,
    pub(crate) peer_id: String,
    pub(crate) child: Child,
    pub(crate) deliveries: PathBuf,
    log: PathBuf,
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

/// Starts all nodes of a plan and waits until each is connected to all its peers.
pub(crate) fn start(
    scenario: &Scenario,
    plan: &Plan,
    setup: &Setup,
    testbed: &Testbed,
    folder: &RunFolder,
) -> Result<Vec<Node>, RunError> {
    let registry = registry(scenario, folder)?;
    let shared = flags(scenario, setup);
    let mut keys = Vec::new();
    for node in 0..scenario.nodes {
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
            if plan
                .messages()
                .iter()
                .any(|message| message.publisher == node)
            {
                IdentityFile::write(&data_dir.join("rln-identity.json"), &identity)?;
            }
        }
        keys.push((data_dir, key.public().to_peer_id().to_string()));
    }
    let mut nodes = Vec::new();
    for (host, (data_dir, peer_id)) in testbed.hosts().iter().zip(&keys) {
        let peers = plan.dialled_by(host.index()).into_iter().map(|peer| {
            let address = testbed.hosts()[peer as usize].address();
            let (_, id) = &keys[peer as usize];
            format!("/ip4/{address}/tcp/60000/p2p/{id}")
        });
        let mut command = Command::new(&setup.program);
        command.arg("node");
        for (key, value) in &shared {
            command.arg(format!("--{}={value}", key.replace('.', "-")));
        }
        let own = [
            ("data-dir", data_dir.display().to_string()),
            (
                "delivery-log",
                data_dir.join("deliveries").display().to_string(),
            ),
            (
                "rln-registry",
                folder.path().join("registry.sqlite").display().to_string(),
            ),
            ("static-peers", peers.collect::<Vec<_>>().join(",")),
        ];
        for (key, value) in own {
            if !value.is_empty() {
                command.arg(format!("--{key}={value}"));
            }
        }
        // The scenario alone decides.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"UNDERTONE_") {
                command.env_remove(name);
            }
        }
        let log = data_dir.join("log");
        let output = File::create(&log).map_err(|error| RunError::Folder {
            path: log.clone(),
            error,
        })?;
        nodes.push(Node {
            index: host.index(),
            peer_id: peer_id.clone(),
            child: host.launch(&command, Some(&output))?,
            deliveries: data_dir.join("deliveries"),
            log,
        });
    }
    let began = Instant::now();
    for node in &mut nodes {
        let host = &testbed.hosts()[node.index as usize];
        let publishes = plan.messages().iter().any(|m| m.publisher == node.index);
        let wanted = Wanted {
            peers: plan.degree(node.index),
            tokens: match &scenario.rln {
                Some(rln) if publishes => setup.tokens.min(rln.message_limit),
                _ => 0,
            },
        };
        node.wait(host, &wanted, began, setup.ready)?;
    }
    Ok(nodes)
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

/// When a node is ready.
struct Wanted {
    peers: usize,
    tokens: u32,
}

impl Node {
    fn wait(
        &mut self,
        host: &Host,
        wanted: &Wanted,
        began: Instant,
        limit: Duration,
    ) -> Result<(), RunError> {
        loop {
            let Some(missing) = self.missing(host, wanted)? else {
                return Ok(());
            };
            self.check()?;
            if began.elapsed() > limit {
                return Err(RunError::NotReady {
                    node: self.index,
                    after_s: limit.as_secs(),
                    missing,
                });
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// What it still lacks.
    fn missing(&self, host: &Host, wanted: &Wanted) -> Result<Option<&'static str>, RunError> {
        let Some(health) = self.ask(host, "/health")? else {
            return Ok(Some("it does not answer"));
        };
        let peers = self.ask(host, "/admin/v1/peers/connected")?;
        let peers = peers.as_ref().and_then(Value::as_array).map_or(0, Vec::len);
        if peers < wanted.peers {
            return Ok(Some("it is not connected to all its peers"));
        }
        if health["nodeHealth"] != "READY" {
            return Ok(Some("it has no mesh, or does not know the members yet"));
        }
        if wanted.tokens > 0 {
            let rln = self.ask(host, "/debug/v1/rln")?.unwrap_or_default();
            if rln["tokens"]["ready"].as_u64() < Some(wanted.tokens.into()) {
                return Ok(Some("its tokens are not prepared yet"));
            }
        }
        Ok(None)
    }

    /// What a path says; none while the node does not listen yet.
    pub(crate) fn ask(&self, host: &Host, path: &str) -> Result<Option<Value>, RunError> {
        let Ok(stream) = rest::connect(host)? else {
            return Ok(None);
        };
        let answer = rest::get(stream, path).map_err(|error| RunError::Rest {
            node: self.index,
            path: path.to_owned(),
            error,
        })?;
        Ok(serde_json::from_str(&answer.body).ok())
    }

    /// An error if the process has ended.
    pub(crate) fn check(&mut self) -> Result<(), RunError> {
        let Ok(Some(status)) = self.child.try_wait() else {
            return Ok(());
        };
        let said = fs::read(&self.log).unwrap_or_default();
        let from = said.len().saturating_sub(LAST_WORDS);
        Err(RunError::Ended {
            node: self.index,
            status,
            said: String::from_utf8_lossy(&said[from..]).into_owned(),
        })
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Fails for a process that has ended; waited for either way, so that its files are closed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
