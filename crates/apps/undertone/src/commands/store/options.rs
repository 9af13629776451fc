//! Flags that select messages of a store, and the network.

use std::path::PathBuf;

use undertone_archive::ArchiveUrl;
use undertone_message::ContentTopic;
use undertone_node::Multiaddr;
use undertone_node::config::{ConfigKey, NodeConfig};
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryQuery, PAGE_MAX, PageDirection,
};

use crate::commands::Failure;
use crate::commands::node_flags::{NodeFlags, NodeKeySelection};

const NS_PER_S: u64 = 1_000_000_000;

/// Keys of a node that select the network and the membership.
const KEYS: [&str; 12] = [
    "cluster-id",
    "data-dir",
    "max-message-bytes",
    "network",
    "num-shards-in-network",
    "rln-epoch-s",
    "rln-eth-chain-id",
    "rln-eth-contract",
    "rln-eth-mode",
    "rln-eth-rpc",
    "rln-eth-store",
    "rln-registry",
];

/// Keys of the network and its membership.
#[derive(Debug)]
pub(super) struct NetworkKeys;

impl NodeKeySelection for NetworkKeys {
    const HEADING: &'static str = "The network and its membership, as for `undertone node`";

    fn takes(key: &ConfigKey) -> bool {
        KEYS.contains(&key.name)
    }

    fn is_common(_: &ConfigKey) -> bool {
        true
    }

    fn help(key: &ConfigKey) -> &'static str {
        match key.name {
            "rln-eth-mode" => {
                "full, which is needed here: the newest roots do not tell of the past"
            }
            "rln-eth-store" => {
                "file of what was read from the chain, continued if it exists; not that of a running node \
                 [<data-dir>/rln-chain.sqlite]"
            }
            _ => key.help,
        }
    }
}

/// Store whose messages are meant.
#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
pub(super) struct StoreOrigin {
    /// Store of a peer: its address, such as /ip4/203.0.113.7/tcp/60000/p2p/16Uiu2...
    #[arg(long, value_name = "MULTIADDR")]
    pub(super) peer: Option<Multiaddr>,
    /// Archive, opened for reading alone, also while its node runs: sqlite://PATH or
    /// postgres://USER:PASSWORD@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    pub(super) archive: Option<ArchiveUrl>,
}

/// Messages of a store that are meant.
#[derive(clap::Args, Debug)]
pub(super) struct Selection {
    #[command(flatten)]
    pub(super) origin: StoreOrigin,
    /// Only messages with timestamps from this Unix time on, seconds
    #[arg(long, value_name = "S")]
    start_s: Option<u64>,
    /// Only messages with timestamps up to this Unix time, seconds
    #[arg(long, value_name = "S")]
    end_s: Option<u64>,
    /// Only messages of this content topic; may be repeated
    #[arg(long, value_name = "TOPIC", value_parser = content_topic)]
    content_topic: Vec<String>,
    /// Only messages of this pubsub topic
    #[arg(long, value_name = "TOPIC")]
    pubsub_topic: Option<String>,
    /// How long a store or an endpoint may fail before the command gives up, seconds
    #[arg(long, value_name = "S", default_value_t = 60)]
    pub(super) patience_s: u64,
    #[command(flatten)]
    pub(super) network: NodeFlags<NetworkKeys>,
}

impl Selection {
    /// Reads the configuration of the network.
    pub(super) fn config(&self) -> Result<NodeConfig, Failure> {
        NodeConfig::load(&self.network.sources()).map_err(|error| Failure::usage(error.to_string()))
    }

    /// Returns the query for the messages, the oldest first.
    pub(super) fn query(&self) -> Result<HistoryQuery, Failure> {
        let (start_ns, end_ns) = (ns(self.start_s), ns(self.end_s));
        if let (Some(start_s), Some(end_s)) = (self.start_s, self.end_s)
            && start_s > end_s
        {
            let message = format!("--start-s {start_s} is after --end-s {end_s}");
            return Err(Failure::usage(message).with_help("exchange them"));
        }
        let content_topics = self.content_topic.iter().map(|topic| topic.as_str().into());
        Ok(HistoryQuery {
            include_data: true,
            criteria: HistoryCriteria::Content(ContentCriteria {
                pubsub_topic: self.pubsub_topic.as_deref().map(Into::into),
                content_topics: content_topics.collect(),
                start_ns,
                end_ns,
            }),
            cursor: None,
            direction: PageDirection::Forward,
            limit: PAGE_MAX,
        })
    }

    /// Returns the location of the store, in readable form.
    pub(super) fn place(&self) -> String {
        match (&self.origin.peer, &self.origin.archive) {
            (Some(peer), _) => peer.to_string(),
            (None, Some(archive)) => archive.to_string(),
            (None, None) => String::new(),
        }
    }
}

fn ns(s: Option<u64>) -> Option<i64> {
    let ns = s?.saturating_mul(NS_PER_S);
    Some(i64::try_from(ns).unwrap_or(i64::MAX))
}

fn content_topic(text: &str) -> Result<String, String> {
    let parsed = ContentTopic::parse(text);
    parsed
        .map(|_| text.to_owned())
        .map_err(|error| error.to_string())
}

/// A temporary folder, removed when dropped.
pub(super) struct TemporaryFolder(pub(super) PathBuf);

impl TemporaryFolder {
    /// Creates a new folder among the system's temporary files.
    pub(super) fn new() -> Result<Self, Failure> {
        let mut random = [0; 8];
        getrandom::fill(&mut random)
            .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
        let name = format!("undertone-{}", hex::encode(random));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).map_err(|error| {
            Failure::at(&path, error).with_help("set TMPDIR to a folder that can be written")
        })?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // The folder only contains the key of a peer that no longer exists.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
