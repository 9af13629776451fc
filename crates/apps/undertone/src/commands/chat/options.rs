//! Flags of `undertone chat`, and the configured node and room that they result in.

use std::path::{Path, PathBuf};

use rand_core::CryptoRng;
use tracing::Level;
use undertone_chat::{ChatRoom, NICK_CHARS_MAX};
use undertone_message::{ContentTopic, PubsubTopic, Shard, shard_of};
use undertone_node::config::{ConfigKey, NodeConfig};
use undertone_payload::SymmetricKey;
use undertone_rln::durable::read_bounded;
use zeroize::Zeroizing;

use crate::commands::Failure;
use crate::commands::node_flags::{NodeFlags, NodeKeySelection};

#[cfg(test)]
#[path = "tests/options.rs"]
mod tests;

/// Content topic of the example chat (RFC 22).
const TOY_CHAT: &str = "/toy-chat/2/huilong/proto";

/// Longest key file or passphrase, bytes; a longer first line suggests a file of another kind.
const SECRET_BYTES_MAX: usize = 1024;

/// Maximum size of a file whose first line is read, bytes.
const SECRET_FILE_BYTES_MAX: u64 = 64 << 10;

/// Keys of a node that a chat sets itself or has no use for.
const NOT_FOR_CHAT: [&str; 8] = [
    "content-topics",
    "metrics-names",
    "metrics-server",
    "metrics-server-address",
    "metrics-server-port",
    "relay",
    "rest",
    "shards",
];

/// Keys that `-h` lists; `--help` lists all.
const COMMON: [&str; 12] = [
    "data-dir",
    "listen-address",
    "log-level",
    "network",
    "rln",
    "rln-eth-contract",
    "rln-eth-rpc",
    "rln-identity-file",
    "rln-registry",
    "static-peers",
    "tcp-port",
    "websocket",
];

/// Flags of `undertone chat`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Content topic of the room
    #[arg(long, value_name = "TOPIC", default_value = TOY_CHAT, conflicts_with = "room")]
    content_topic: String,
    /// Room by its name: the content topic /toy-chat/2/NAME/proto
    #[arg(long, value_name = "NAME")]
    room: Option<String>,
    /// Name that the others see [guest-, and four random digits]
    #[arg(long)]
    nick: Option<String>,
    /// Encrypt with the key in this file: 64 hexadecimal digits, as `openssl rand -hex 32` prints
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_file")]
    key: Option<PathBuf>,
    /// Encrypt with a key made from the first line of this file; choose one that nobody can guess
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// Relay nothing: get messages from filter peers and stores, and send through lightpush peers
    #[arg(long)]
    light: bool,
    /// Print one line for each event, also at a terminal
    #[arg(long)]
    pub(super) lines: bool,
    /// Print one JSON object for each event; every line of the input is a message
    #[arg(long)]
    pub(super) json: bool,
    /// Go on after the end of the input, until SIGTERM or SIGINT; else the chat ends when other nodes have its messages
    #[arg(long)]
    pub(super) listen: bool,
    /// Longest wait for other nodes after the end of the input, in seconds; what none has by then stays in the queue
    #[arg(long, value_name = "S", default_value_t = 60, value_parser = clap::value_parser!(u32).range(..=86_400))]
    pub(super) end_wait_s: u32,
    #[command(flatten)]
    node: NodeFlags<ChatKeys>,
}

/// Keys of the node that the chat accepts.
#[derive(Debug)]
struct ChatKeys;

impl NodeKeySelection for ChatKeys {
    const HEADING: &'static str = "The node";

    fn takes(key: &ConfigKey) -> bool {
        !NOT_FOR_CHAT.contains(&key.name) && !key.name.starts_with("rest-")
    }

    fn is_common(key: &ConfigKey) -> bool {
        COMMON.contains(&key.name)
    }

    fn help(key: &ConfigKey) -> &'static str {
        // A chat may run beside a node, so it uses a free port by default.
        match key.name {
            "tcp-port" => "TCP port of libp2p [one that is free]",
            "log-level" => "least severe level [warn]",
            _ => key.help,
        }
    }
}

impl Args {
    /// Reads the node's configuration and finds the room.
    pub(super) fn resolve(&self) -> Result<(NodeConfig, ChatRoom), Failure> {
        let sources = self.node.sources();
        let mut config =
            NodeConfig::load(&sources).map_err(|error| Failure::usage(error.to_string()))?;
        let content_topic = match &self.room {
            Some(name) => format!("/toy-chat/2/{name}/proto"),
            None => self.content_topic.clone(),
        };
        let shard = shard(&config, &content_topic)?;
        config.shards = vec![shard];
        config.content_topics = Vec::new();
        (config.rest, config.metrics) = (None, None);
        config.relay = !self.light;
        if self.light {
            let services = &mut config.services;
            services.store = None;
            (services.filter, services.lightpush) = (false, false);
        }
        if !self.node.may_set("tcp-port") {
            config.tcp_port = 0;
        }
        if !self.node.may_set("log-level") {
            config.log.level = Level::WARN;
        }
        let room = ChatRoom {
            content_topic,
            pubsub_topic: PubsubTopic::Static(shard),
            key: self.room_key()?,
        };
        Ok((config, room))
    }

    fn room_key(&self) -> Result<Option<SymmetricKey>, Failure> {
        if let Some(path) = &self.passphrase_file {
            let line = first_line(path)?;
            if line.is_empty() {
                return Err(Failure::at(path, "the passphrase is empty")
                    .with_help("give a file whose first line is the passphrase"));
            }
            return Ok(Some(SymmetricKey::from_passphrase(&line)));
        }
        let Some(path) = &self.key else {
            return Ok(None);
        };
        let line = first_line(path)?;
        let digits = line.strip_prefix(b"0x").unwrap_or(&line);
        let mut bytes = Zeroizing::new([0; 32]);
        match hex::decode_to_slice(digits, &mut *bytes) {
            Ok(()) => Ok(Some(SymmetricKey::from_bytes(*bytes))),
            Err(_) => Err(
                Failure::at(path, "the first line is not 64 hexadecimal digits").with_help(
                    "make a key with `openssl rand -hex 32`, and give it to all members",
                ),
            ),
        }
    }

    /// Returns the user's own name.
    pub(super) fn own_nick(&self, rng: &mut impl CryptoRng) -> Result<String, Failure> {
        let Some(nick) = &self.nick else {
            // Truncated on purpose: only the low digits are used.
            return Ok(format!("guest-{:04x}", rng.next_u32() as u16));
        };
        let shown = undertone_chat::nick(nick.as_bytes());
        if *nick != shown {
            let most = NICK_CHARS_MAX;
            return Err(
                Failure::usage(format!("--nick {nick:?}: others would see {shown:?}")).with_help(
                    format!("use 1 to {most} characters without control characters, < and >"),
                ),
            );
        }
        Ok(shown)
    }
}

/// Returns the shard that carries a content topic; with static sharding, the first configured one.
fn shard(config: &NodeConfig, content_topic: &str) -> Result<Shard, Failure> {
    let topic = ContentTopic::parse(content_topic).map_err(|error| {
        Failure::usage(format!("content topic {content_topic:?}: {error}"))
            .with_help("use /application/version/name/encoding, such as /toy-chat/2/huilong/proto")
    })?;
    let network = &config.network;
    if config.autosharding {
        return Ok(Shard {
            cluster: network.cluster_id,
            index: shard_of(&topic, network.num_shards),
        });
    }
    let first = config.shards.first().copied();
    first
        .ok_or_else(|| Failure::usage("shards: none, and static sharding assigns none to the room"))
}

/// Reads the first line of a small file, without its line terminator.
fn first_line(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let failed =
        |error| Failure::at(path, error).with_help("check that the file is there and readable");
    let line = read_bounded(path, SECRET_FILE_BYTES_MAX).map_err(failed)?;
    let mut line = Zeroizing::new(line);
    let end = line.iter().position(|byte| *byte == b'\n');
    let end = end.unwrap_or(line.len());
    line.truncate(end);
    if line.len() > SECRET_BYTES_MAX {
        return Err(Failure::at(path, "the first line is too long"));
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(line)
}
