//! A folder with a registry and an archive, the program run in it, and nodes.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tempfile::TempDir;
use undertone_membership::SqliteRegistry;
use undertone_message::{PubsubTopic, Shard};
use undertone_node::assemble::{Assembled, assemble};
use undertone_node::config::{NodeConfig, Sources};

/// Guards against hangs only.
pub(crate) const HANG: Duration = Duration::from_secs(120);

/// The longest epoch that a node takes: it began in 2001 and ends in 2033.
pub(crate) const EPOCH_S: u64 = 1_000_000_000;

pub(crate) struct Place(TempDir);

/// What the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn registry(&self) -> SqliteRegistry {
        SqliteRegistry::open(self.path("members.sqlite")).unwrap()
    }

    /// Runs `undertone store` in the folder, while nodes of this process go on.
    pub(crate) fn store(&self, line: &str) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_undertone"));
        command.arg("store").args(line.split_whitespace());
        command
            .current_dir(self.0.path())
            .env_remove("UNDERTONE_LOG");
        let mut run = || command.output().unwrap();
        let output = match tokio::runtime::Handle::try_current() {
            Ok(_) => tokio::task::block_in_place(run),
            Err(_) => run(),
        };
        Ran {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Verifies a store against the registry of the folder.
    pub(crate) fn verify(&self, more: &str) -> Ran {
        self.store(&format!(
            "verify --network local --rln-registry members.sqlite --rln-epoch-s {EPOCH_S} --json {more}"
        ))
    }

    /// Starts a node with its files in a folder of this name.
    pub(crate) async fn node(
        &self,
        name: &str,
        peers: &[String],
        more: &[(&str, &str)],
    ) -> Assembled {
        let folder = self.path(name).display().to_string();
        let registry = self.path("members.sqlite").display().to_string();
        let (epoch_s, peers) = (EPOCH_S.to_string(), peers.join(","));
        let mut flags = vec![
            ("data-dir", folder.as_str()),
            ("rln-registry", &registry),
            ("rln-epoch-s", &epoch_s),
            ("network", "local"),
            ("shards", "0"),
            ("listen-address", "127.0.0.1"),
            ("tcp-port", "0"),
            ("rest", "false"),
            ("rln-tokens", "0"),
            ("rln-verify-threads", "1"),
        ];
        flags.extend(more);
        if !peers.is_empty() {
            flags.push(("static-peers", &peers));
        }
        let flags = flags
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let config = NodeConfig::load(&Sources {
            flags: flags.collect(),
            ..Sources::default()
        });
        assemble(&config.unwrap()).await.unwrap()
    }
}

impl Ran {
    /// Asserts the exit code; the JSON object printed.
    pub(crate) fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// Asserts that it failed, printed no result, and said all this.
    pub(crate) fn failed(&self, code: i32, said: &[&str]) {
        assert_eq!((self.code, self.stdout.as_str()), (code, ""), "{self:?}");
        for text in said {
            assert!(self.stderr.contains(text), "{text:?} not in {self:?}");
        }
    }
}

/// Address by which a node's services are asked.
pub(crate) fn address(node: &Assembled) -> String {
    let address = node.node.addresses[0].to_string();
    match address.contains("/p2p/") {
        true => address,
        false => format!("{address}/p2p/{}", node.node.peer_id),
    }
}

pub(crate) fn pubsub_topic() -> PubsubTopic {
    PubsubTopic::Static(Shard::new(66, 0).unwrap())
}

pub(crate) fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_nanos()).unwrap()
}
