//! Raw peer that dials a node, offers store and lightpush, and lies: its history is empty, and it claims that
//! messages were published.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt;
use libp2p::identity::Keypair;
use libp2p::swarm::{Stream, StreamProtocol};
use libp2p::{Multiaddr, PeerId};
use libp2p_stream::IncomingStreams;
use tokio::task::JoinSet;
use undertone_services::history::HistoryPage;
use undertone_services::lightpush::{
    self, LightpushCodecLimits, LightpushRequest, LightpushResponse, LightpushStatus,
};
use undertone_services::store::{self, StoreLimits, StoreRequest, StoreResponse, StoreStatus};

use super::frames::{read_one, write_last};
use super::{Network, RawError, swarm};

/// Claimed number of peers to which a message was sent.
const RELAY_PEERS: u32 = 5;

/// Peer that lies about services; a drop closes the connection.
pub struct LyingServices {
    id: PeerId,
    asked: Arc<AtomicU64>,
    _network: Network,
    _tasks: JoinSet<()>,
}

impl LyingServices {
    /// Dials `addr` with `key`, and answers the other side's requests.
    pub async fn dial(key: Keypair, addr: &Multiaddr) -> Result<Self, RawError> {
        let id = key.public().to_peer_id();
        let failed = |source| RawError::Dial {
            addr: addr.clone(),
            source: Box::new(source),
        };
        let mut swarm = swarm(key)?;
        let mut control = swarm.behaviour().streams.new_control();
        let mut accept = |protocol| {
            let accepted = control.accept(StreamProtocol::new(protocol));
            accepted.expect("a new swarm accepts no protocol yet")
        };
        let mut tasks = JoinSet::new();
        let (pushed, asked) = (Arc::default(), Arc::default());
        let pushes = accept(lightpush::PROTOCOL_ID);
        tasks.spawn(answer_all(pushes, published, pushed));
        let queries = accept(store::PROTOCOL_ID);
        tasks.spawn(answer_all(queries, no_history, Arc::clone(&asked)));
        swarm.dial(addr.clone()).map_err(failed)?;
        let idle = StreamProtocol::new("/undertone-interop/idle/1");
        let mut network = Network::start(swarm, &idle, None);
        network.connected().await?.map_err(failed)?;
        Ok(Self {
            id,
            asked,
            _network: network,
            _tasks: tasks,
        })
    }

    /// Returns this peer's own id.
    #[must_use]
    pub fn id(&self) -> PeerId {
        self.id
    }

    /// Returns the number of history queries answered.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::Relaxed)
    }
}

async fn answer_all(
    mut requests: IncomingStreams,
    lie: fn(&[u8]) -> Option<Vec<u8>>,
    answered: Arc<AtomicU64>,
) {
    while let Some((_, stream)) = requests.next().await {
        if answer(stream, lie).await.is_some() {
            answered.fetch_add(1, Ordering::Relaxed);
        }
    }
}

async fn answer(mut stream: Stream, lie: fn(&[u8]) -> Option<Vec<u8>>) -> Option<()> {
    let request = read_one(&mut stream).await?;
    write_last(&mut stream, &lie(&request)?).await
}

fn no_history(request: &[u8]) -> Option<Vec<u8>> {
    let request = StoreRequest::decode(request, &StoreLimits::default()).ok()?;
    let response = StoreResponse {
        request_id: request.request_id,
        status: StoreStatus::Ok,
        description: "OK".into(),
        page: HistoryPage::default(),
    };
    Some(response.encode())
}

fn published(request: &[u8]) -> Option<Vec<u8>> {
    let limits = LightpushCodecLimits::default();
    let request = LightpushRequest::decode(request, &limits).ok()?;
    let response = LightpushResponse {
        request_id: request.request_id,
        status: LightpushStatus::OK,
        status_desc: None,
        relay_peer_count: Some(RELAY_PEERS),
    };
    Some(response.encode())
}
