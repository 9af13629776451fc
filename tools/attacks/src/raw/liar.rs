//! Raw peer that offers filter and cheats: it acknowledges every request, but never pushes the requested
//! messages.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use libp2p::identity::Keypair;
use libp2p::swarm::{Stream, StreamProtocol};
use libp2p::{Multiaddr, PeerId};
use libp2p_stream as stream;
use parking_lot::Mutex;
use tokio::task::JoinSet;
use undertone_message::WakuMessage;
use undertone_services::filter::{
    FilterCodecLimits, FilterStatus, MessagePush, PUSH_PROTOCOL_ID, SUBSCRIBE_PROTOCOL_ID,
    SubscribeRequest, SubscribeResponse,
};

use super::frames::{read_one, write_last};
use super::{RawError, listening};

/// Interval at which unrequested messages are pushed.
const PUSH_EVERY: Duration = Duration::from_secs(1);

/// How a peer cheats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Nothing is pushed.
    Silence,
    /// Unrequested messages are pushed.
    Noise,
}

/// Filter peer that cheats; a drop closes its connections.
pub struct LyingPeer {
    id: PeerId,
    addr: Multiaddr,
    _tasks: JoinSet<()>,
}

impl LyingPeer {
    /// Listens on an address of loopback.
    pub async fn start(lie: Lie, ip: Ipv4Addr) -> Result<Self, RawError> {
        let key = Keypair::generate_secp256k1();
        let id = key.public().to_peer_id();
        let (mut swarm, addr) = listening(key, ip).await?;
        let mut control = swarm.behaviour().streams.new_control();
        let requests = control
            .accept(StreamProtocol::new(SUBSCRIBE_PROTOCOL_ID))
            .expect("a new swarm accepts no protocol yet");
        let clients = Clients::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                swarm.select_next_some().await;
            }
        });
        tasks.spawn(acknowledge(requests, Arc::clone(&clients)));
        if lie == Lie::Noise {
            tasks.spawn(make_noise(control, clients));
        }
        Ok(Self {
            id,
            addr,
            _tasks: tasks,
        })
    }

    /// Returns the peer's identity.
    #[must_use]
    pub fn id(&self) -> PeerId {
        self.id
    }

    /// Returns the address to connect to, with `/p2p`.
    #[must_use]
    pub fn addr(&self) -> &Multiaddr {
        &self.addr
    }
}

type Clients = Arc<Mutex<BTreeSet<PeerId>>>;

/// Acknowledges every request.
async fn acknowledge(mut requests: stream::IncomingStreams, clients: Clients) {
    let mut answers = JoinSet::new();
    while let Some((peer, stream)) = requests.next().await {
        answers.spawn(answer(stream, peer, Arc::clone(&clients)));
        while answers.try_join_next().is_some() {}
    }
}

/// Answers one request with success; returns `None` if none came, as on a stream that only keeps the connection
/// alive.
async fn answer(mut stream: Stream, peer: PeerId, clients: Clients) -> Option<()> {
    let frame = read_one(&mut stream).await?;
    let request = SubscribeRequest::decode(&frame, &FilterCodecLimits::default()).ok()?;
    clients.lock().insert(peer);
    let response = SubscribeResponse {
        request_id: request.request_id,
        status: FilterStatus::OK,
        status_desc: None,
    };
    write_last(&mut stream, &response.encode()).await
}

/// Pushes unrequested messages to all clients that ever subscribed.
async fn make_noise(mut control: stream::Control, clients: Clients) {
    let mut number = 0_u64;
    loop {
        tokio::time::sleep(PUSH_EVERY).await;
        let clients: Vec<_> = clients.lock().iter().copied().collect();
        for client in clients {
            number += 1;
            let payload = number.to_be_bytes().to_vec();
            let push = MessagePush {
                message: WakuMessage::new(payload, "/noise/1/unasked/proto"),
                pubsub_topic: Some("/waku/2/rs/66/0".into()),
            };
            let opened = control.open_stream(client, StreamProtocol::new(PUSH_PROTOCOL_ID));
            // Skip clients that are gone.
            if let Ok(mut stream) = opened.await {
                write_last(&mut stream, &push.encode()).await;
            }
        }
    }
}
