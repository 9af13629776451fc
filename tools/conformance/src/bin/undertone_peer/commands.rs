use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use undertone_conformance::payload::{self, StampError};
use undertone_conformance::protocol::{
    Command, Connected, Content, Control, ControlCounts, Outcome, Peers, Published, Stat,
};
use undertone_gossip::{ControlStats, Stats};
use undertone_message::{DecodeError, PubsubTopic, PubsubTopicError, WakuMessage};
use undertone_node::command::{ConnectFailure, PeerSnapshot, PublishFailure, SubscribeFailure};
use undertone_node::handle::{NodeHandle, Stopped};
use undertone_node_process::host::{cpu_us, monotonic_ns, rss_kib};

/// Content topic of stamped messages, the same as in js-waku's peer.
const CONTENT_TOPIC: &str = "/undertone/1/interop/proto";

#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("address {addr}: {source}")]
    Addr {
        addr: String,
        source: libp2p::multiaddr::Error,
    },
    #[error("address {addr}: it must end in /p2p/ and a peer id")]
    NoPeerId { addr: String },
    #[error("hex: {0}")]
    Hex(#[from] hex::FromHexError),
    #[error("the data is not a WakuMessage: {0}")]
    Decode(#[from] DecodeError),
    #[error(
        "the node would not send these bytes as they are: give a WakuMessage with a timestamp, fields in \
         ascending order and no unknown ones"
    )]
    NotCanonical,
    #[error(transparent)]
    Stamp(#[from] StampError),
    #[error(transparent)]
    Topic(#[from] PubsubTopicError),
    #[error(transparent)]
    Connect(#[from] ConnectFailure),
    #[error(transparent)]
    Subscribe(#[from] SubscribeFailure),
    #[error("publish: {0}")]
    Publish(#[from] PublishFailure),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Carries out a command and returns its outcome.
pub(crate) async fn answer(node: &NodeHandle, command: Command) -> Outcome {
    match carry_out(node, command).await {
        Ok(value) => Outcome::Ok(value),
        Err(refusal) => Outcome::Error(refusal.to_string()),
    }
}

async fn carry_out(node: &NodeHandle, command: Command) -> Result<serde_json::Value, Refusal> {
    match command {
        Command::Connect { addr } => connect(node, addr).await,
        Command::Subscribe { topic } => {
            node.subscribe(PubsubTopic::parse_any(&topic)?).await?;
            Ok(done())
        }
        Command::Unsubscribe { topic } => {
            node.unsubscribe(PubsubTopic::parse_any(&topic)?).await?;
            Ok(done())
        }
        Command::Publish { topic, content } => publish(node, &topic, content).await,
        Command::Peers { topic } => peers(node, &topic, |peer| &peer.topics).await,
        Command::Mesh { topic } => peers(node, &topic, |peer| &peer.in_mesh).await,
        Command::Stat => Ok(object(&Stat {
            cpu_us: cpu_us(),
            rss_kib: rss_kib(),
        })),
        Command::Control => Ok(object(&control(&node.gossip().await?.stats))),
        // The loop that reads commands ends the program.
        Command::Quit => Ok(done()),
    }
}

async fn connect(node: &NodeHandle, addr: String) -> Result<serde_json::Value, Refusal> {
    let parsed: Multiaddr = match addr.parse() {
        Ok(parsed) => parsed,
        Err(source) => return Err(Refusal::Addr { addr, source }),
    };
    let Some(Protocol::P2p(peer)) = parsed.iter().last() else {
        return Err(Refusal::NoPeerId { addr });
    };
    node.connect(parsed).await?;
    let peer = peer.to_string();
    Ok(object(&Connected { peer }))
}

async fn publish(
    node: &NodeHandle,
    topic: &str,
    content: Content,
) -> Result<serde_json::Value, Refusal> {
    let topic = PubsubTopic::parse_any(topic)?;
    let message = match content {
        Content::Stamped { seq, size } => {
            let payload = payload::stamped(seq, size, monotonic_ns())?;
            WakuMessage {
                timestamp: Some(unix_ns()),
                ..WakuMessage::new(payload, CONTENT_TOPIC)
            }
        }
        Content::Raw { hex } => verbatim(hex::decode(hex)?)?,
    };
    let id = hex::encode(node.publish(topic, message).await?.id.0);
    Ok(object(&Published { id }))
}

/// Decodes a message; refuses bytes that the node would encode differently.
fn verbatim(data: Vec<u8>) -> Result<WakuMessage, Refusal> {
    let data = Bytes::from(data);
    let message = WakuMessage::decode(&data)?;
    // The node adds a timestamp to a message without one.
    if message.timestamp_ns() == 0 || message.encode() != data {
        return Err(Refusal::NotCanonical);
    }
    Ok(message)
}

async fn peers(
    node: &NodeHandle,
    topic: &str,
    topics: fn(&PeerSnapshot) -> &Vec<PubsubTopic>,
) -> Result<serde_json::Value, Refusal> {
    let topic = PubsubTopic::parse_any(topic)?;
    let all = node.peers().await?;
    let found = all.iter().filter(|peer| topics(peer).contains(&topic));
    let peers = found.map(|peer| peer.peer_id.to_string()).collect();
    Ok(object(&Peers { peers }))
}

fn control(stats: &Stats) -> Control {
    Control {
        sent: counts(&stats.sent, stats.messages_sent),
        received: counts(
            &stats.received,
            stats.messages_received + stats.duplicates_received,
        ),
    }
}

fn counts(stats: &ControlStats, messages: u64) -> ControlCounts {
    ControlCounts {
        messages,
        // The node counts over all peers.
        links: None,
        graft: stats.graft,
        prune: stats.prune,
        prune_with_backoff: stats.prune_with_backoff,
        // The router counts backoffs but does not keep their values.
        prune_backoff_s: None,
        ihave: stats.ihave,
        iwant: stats.iwant,
        idontwant: stats.idontwant,
    }
}

fn unix_ns() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since_1970.unwrap_or_default().as_nanos()).unwrap_or(i64::MAX)
}

fn done() -> serde_json::Value {
    serde_json::json!({})
}

fn object(value: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("answers have string keys and finite numbers only")
}
