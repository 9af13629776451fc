//! Host with a clock, and a driver that records its outputs.

use bytes::Bytes;
use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use undertone_gossip::Time;
use undertone_message::WakuMessage;

use super::{Filter, LegacyLightpush, Lightpush, PeerExchange, Rendezvous, Store};
use crate::PeerNo;
use crate::filter::{
    FilterCodecLimits, FilterLimits, FilterServer, SubscribeKind, SubscribeRequest,
    SubscribeResponse,
};
use crate::history::{
    ContentCriteria, HistoryCriteria, HistoryPage, HistoryQuery, PageDirection, StoredMessage,
};
use crate::host::{Input, Machines, Output, ProtocolTotals, RequestProtocol, ServiceHost};
use crate::lightpush::legacy::{LegacyRequest, LegacyResponse};
use crate::lightpush::{
    LightpushCodecLimits, LightpushLimits, LightpushRequest, LightpushResponse, LightpushServer,
};
use crate::peer_exchange::{
    PeerExchangeCodecLimits, PeerExchangeLimits, PeerExchangeRequest, PeerExchangeResponse,
    PeerExchangeServer,
};
use crate::rendezvous::{
    DiscoverResponse, RendezvousCodecLimits, RendezvousLimits, RendezvousRequest, RendezvousServer,
    RendezvousStatus,
};
use crate::sharding::Sharding;
use crate::store::{ServerLimits, StoreLimits, StoreRequest, StoreResponse, StoreServer};

const TOPIC: &str = "/waku/2/rs/1/0";
const CHAT: &str = "/my-app/1/chat/proto";

/// Status of an answer beyond a rate limit, except for rendezvous.
pub(super) const TOO_MANY: u32 = 429;

/// Host with a clock. The address of an answer is the name of a stream.
pub(super) struct Bench {
    pub(super) host: ServiceHost<&'static str>,
    pub(super) now: Time,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with_limits("")
    }

    pub(super) fn with_limits(limits: &str) -> Self {
        let limits = limits.parse().unwrap();
        Self {
            host: ServiceHost::new(machines(), limits),
            now: Time::ZERO,
        }
    }

    pub(super) fn at(&mut self, seconds: u64) {
        self.now = Time::from_millis(seconds * 1000);
    }

    pub(super) fn give(&mut self, input: Input<&'static str>) {
        self.host.handle(self.now, input);
    }

    pub(super) fn ask(&mut self, peer: PeerNo, to: &'static str, protocol: RequestProtocol) {
        self.send(peer, to, protocol, request(protocol));
    }

    pub(super) fn send(
        &mut self,
        peer: PeerNo,
        to: &'static str,
        protocol: RequestProtocol,
        bytes: impl Into<Bytes>,
    ) {
        self.give(Input::Request {
            peer,
            to,
            protocol,
            bytes: bytes.into(),
        });
    }

    pub(super) fn outputs(&mut self) -> Vec<Output<&'static str>> {
        std::iter::from_fn(|| self.host.poll()).collect()
    }

    pub(super) fn output(&mut self) -> Output<&'static str> {
        let outputs = self.outputs();
        let [output] = &outputs[..] else {
            panic!("{outputs:?}");
        };
        output.clone()
    }

    /// Carries out the host's outputs with an empty archive and a relay of one peer, and returns stream and status of
    /// the only answer.
    pub(super) fn answer(&mut self, protocol: RequestProtocol) -> (&'static str, u32) {
        match self.output() {
            Output::Query { query, .. } => {
                let result = Ok(HistoryPage::default());
                self.give(Input::Page { query, result });
                self.answer(protocol)
            }
            Output::Publish { publish, .. } => {
                let outcome = Ok(1);
                self.give(Input::Published { publish, outcome });
                self.answer(protocol)
            }
            Output::Respond { to, bytes } => (to, status(protocol, &bytes)),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the status of the answer to another request of a peer.
    pub(super) fn ask_again(&mut self, peer: PeerNo, protocol: RequestProtocol) -> u32 {
        self.ask(peer, "again", protocol);
        self.answer(protocol).1
    }

    pub(super) fn totals(&self, protocol: &str) -> ProtocolTotals {
        self.host
            .totals()
            .get(protocol)
            .copied()
            .unwrap_or_default()
    }
}

pub(super) fn machines() -> Machines {
    let sharding = Sharding {
        cluster: 1,
        num_shards: None,
    };
    let rng = || ChaCha8Rng::from_seed([7; 32]);
    Machines {
        store: Some(StoreServer::new(ServerLimits::default())),
        filter: Some(FilterServer::new(sharding, FilterLimits::default())),
        peer_exchange: Some(PeerExchangeServer::new(
            rng(),
            PeerExchangeLimits::default(),
        )),
        rendezvous: Some(RendezvousServer::new(1, rng(), RendezvousLimits::default())),
        lightpush: Some(LightpushServer::new(sharding, LightpushLimits::default())),
    }
}

/// Returns a request that the protocol's service accepts.
pub(super) fn request(protocol: RequestProtocol) -> Vec<u8> {
    let (request_id, pubsub_topic) = ("id".to_owned(), Some(TOPIC.into()));
    let message = message().message;
    match protocol {
        Store => {
            let query = HistoryQuery {
                include_data: true,
                criteria: HistoryCriteria::Content(ContentCriteria::default()),
                cursor: None,
                direction: PageDirection::Forward,
                limit: 20,
            };
            let request_id = request_id.into();
            StoreRequest { request_id, query }.encode()
        }
        Filter => {
            let request = SubscribeRequest {
                request_id,
                kind: SubscribeKind::Subscribe,
                pubsub_topic,
                content_topics: vec![CHAT.into()],
            };
            request.encode()
        }
        Lightpush => {
            let request = LightpushRequest {
                request_id,
                pubsub_topic,
                message,
            };
            request.encode()
        }
        LegacyLightpush => {
            let request = LegacyRequest {
                request_id,
                pubsub_topic,
                message,
            };
            request.encode()
        }
        PeerExchange => PeerExchangeRequest { num_peers: Some(1) }.encode(),
        Rendezvous => {
            let request = RendezvousRequest::Discover {
                namespace: None,
                limit: None,
                cookie: None,
            };
            request.encode()
        }
    }
}

pub(super) fn message() -> StoredMessage {
    StoredMessage::new(TOPIC, WakuMessage::new(b"hello".to_vec(), CHAT))
}

/// Status of an answer; 200 stands for every success.
fn status(protocol: RequestProtocol, bytes: &Bytes) -> u32 {
    let push_limits = LightpushCodecLimits::default();
    match protocol {
        Store => {
            let response = StoreResponse::decode(bytes, &StoreLimits::default()).unwrap();
            response.status.code()
        }
        Filter => {
            let limits = FilterCodecLimits::default();
            SubscribeResponse::decode(bytes, &limits).unwrap().status.0
        }
        Lightpush => {
            let response = LightpushResponse::decode(bytes, &push_limits).unwrap();
            response.status.0
        }
        LegacyLightpush => {
            let response = LegacyResponse::decode(bytes, &push_limits).unwrap();
            match (response.is_success, response.info.as_deref()) {
                (true, _) => 200,
                (false, Some("TOO_MANY_REQUESTS")) => TOO_MANY,
                (false, info) => panic!("{info:?}"),
            }
        }
        PeerExchange => {
            let limits = PeerExchangeCodecLimits::default();
            let response = PeerExchangeResponse::decode(bytes, &limits).unwrap();
            response.status.0
        }
        Rendezvous => {
            let limits = RendezvousCodecLimits::default();
            let response = DiscoverResponse::decode(bytes, &limits).unwrap();
            match response.status {
                RendezvousStatus::OK => 200,
                status => status.0,
            }
        }
    }
}
