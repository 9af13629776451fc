use std::collections::BTreeMap;

use libp2p::multiaddr::Protocol;
use libp2p::swarm::dial_opts::DialOpts;
use libp2p::swarm::{ConnectionId, DialError};
use libp2p::{Multiaddr, PeerId, Swarm};
use libp2p_gossipsub::{IdentTopic, PublishError, SubscriptionError};
use undertone_conformance::frame_counter::TrafficCounter;
use undertone_conformance::payload::{self, StampError};
use undertone_conformance::protocol::{
    Command, Connected, Content, Outcome, Peers, Published, Reply, Request, Stat,
};
use undertone_node_process::host::{cpu_us, monotonic_ns, rss_kib};

use crate::network::Behaviour;

/// Executor of commands, with the dials that are still to be answered.
pub(crate) struct Commands {
    counter: TrafficCounter,
    dialling: BTreeMap<ConnectionId, u64>,
}

/// Next action after a command was started.
pub(crate) enum NextCommand {
    Answer(Outcome),
    /// The answer follows after an event of the network.
    Later,
    Quit,
}

#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("address {addr}: {source}")]
    Addr {
        addr: String,
        source: libp2p::multiaddr::Error,
    },
    #[error("address {addr}: it must end in /p2p/ and a peer id")]
    NoPeerId { addr: String },
    #[error("dial: {0}")]
    Dial(#[from] DialError),
    #[error("hex: {0}")]
    Hex(#[from] hex::FromHexError),
    #[error(transparent)]
    Stamp(#[from] StampError),
    #[error("publish: {0}")]
    Publish(#[from] PublishError),
    #[error("subscribe: {0}")]
    Subscribe(#[from] SubscriptionError),
}

impl Commands {
    pub(crate) fn new(counter: TrafficCounter) -> Self {
        Self {
            counter,
            dialling: BTreeMap::new(),
        }
    }

    pub(crate) fn start(&mut self, swarm: &mut Swarm<Behaviour>, request: Request) -> NextCommand {
        let done = match request.command {
            Command::Quit => return NextCommand::Quit,
            Command::Connect { addr } => match self.dial(swarm, &addr, request.reference) {
                Ok(()) => return NextCommand::Later,
                Err(refusal) => Err(refusal),
            },
            Command::Stat => Ok(object(&Stat {
                cpu_us: cpu_us(),
                rss_kib: rss_kib(),
            })),
            Command::Control => Ok(object(&self.counter.read())),
            Command::Subscribe { topic } => subscribe(swarm, topic),
            Command::Unsubscribe { topic } => {
                swarm
                    .behaviour_mut()
                    .gossip
                    .unsubscribe(&IdentTopic::new(topic));
                Ok(serde_json::json!({}))
            }
            Command::Publish { topic, content } => publish(swarm, topic, content),
            Command::Peers { topic } => {
                let topic = IdentTopic::new(topic).hash();
                let all = swarm.behaviour().gossip.all_peers();
                let subscribed = all.filter(|(_, topics)| topics.contains(&&topic));
                Ok(peers(subscribed.map(|(peer, _)| peer)))
            }
            Command::Mesh { topic } => Ok(peers(
                swarm
                    .behaviour()
                    .gossip
                    .mesh_peers(&IdentTopic::new(topic).hash()),
            )),
        };
        NextCommand::Answer(match done {
            Ok(value) => Outcome::Ok(value),
            Err(refusal) => Outcome::Error(refusal.to_string()),
        })
    }

    /// Returns the reply to the command that dialled this connection, if one did.
    pub(crate) fn connected(&mut self, connection: ConnectionId, peer: PeerId) -> Option<Reply> {
        let reference = self.dialling.remove(&connection)?;
        let outcome = Outcome::Ok(object(&Connected {
            peer: peer.to_string(),
        }));
        Some(Reply { reference, outcome })
    }

    /// Returns the reply to the command whose dial failed, if one did.
    pub(crate) fn not_connected(
        &mut self,
        connection: ConnectionId,
        error: &DialError,
    ) -> Option<Reply> {
        let reference = self.dialling.remove(&connection)?;
        Some(Reply {
            reference,
            outcome: Outcome::Error(format!("dial: {error}")),
        })
    }

    fn dial(
        &mut self,
        swarm: &mut Swarm<Behaviour>,
        addr: &str,
        reference: u64,
    ) -> Result<(), Refusal> {
        let parsed: Multiaddr = addr.parse().map_err(|source| Refusal::Addr {
            addr: addr.to_owned(),
            source,
        })?;
        let Some(Protocol::P2p(peer)) = parsed.iter().last() else {
            return Err(Refusal::NoPeerId {
                addr: addr.to_owned(),
            });
        };
        let options = DialOpts::peer_id(peer).addresses(vec![parsed]).build();
        let connection = options.connection_id();
        swarm.dial(options)?;
        self.dialling.insert(connection, reference);
        Ok(())
    }
}

fn subscribe(swarm: &mut Swarm<Behaviour>, topic: String) -> Result<serde_json::Value, Refusal> {
    swarm
        .behaviour_mut()
        .gossip
        .subscribe(&IdentTopic::new(topic))?;
    Ok(serde_json::json!({}))
}

fn publish(
    swarm: &mut Swarm<Behaviour>,
    topic: String,
    content: Content,
) -> Result<serde_json::Value, Refusal> {
    let data = match content {
        Content::Stamped { seq, size } => payload::stamped(seq, size, monotonic_ns())?,
        Content::Raw { hex } => hex::decode(hex)?,
    };
    let id = swarm
        .behaviour_mut()
        .gossip
        .publish(IdentTopic::new(topic), data)?;
    Ok(object(&Published {
        id: hex::encode(&id.0),
    }))
}

fn peers<'a>(ids: impl Iterator<Item = &'a PeerId>) -> serde_json::Value {
    object(&Peers {
        peers: ids.map(PeerId::to_string).collect(),
    })
}

fn object(value: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(value).expect("answers have string keys and finite numbers only")
}
