//! Lies of a service node: answers that look genuine and are not.

use bytes::Bytes;
use undertone_message::{MessageHash, WakuMessage};
use undertone_services::filter::MessagePush;
use undertone_services::history::{HistoryCriteria, HistoryEntry, HistoryPage, StoredMessage};
use undertone_services::lightpush::legacy::{LegacyRequest, LegacyResponse};
use undertone_services::lightpush::{
    LightpushCodecLimits, LightpushRequest, LightpushResponse, LightpushStatus,
};
use undertone_services::peer_exchange::{PeerExchangeResponse, PeerExchangeStatus};
use undertone_services::store::{StoreLimits, StoreRequest, StoreResponse, StoreStatus};

use crate::node::input::UNCOUNTED;
use crate::services::frames::{StreamFrame, StreamService};
use crate::services::records;
use crate::services::server::SimService;
use crate::world::World;

/// Content topic of unrequested messages.
const UNASKED_TOPIC: &str = "/lies/1/unasked/proto";

/// Number of entries in a false answer.
const LIES: usize = 3;

impl SimService {
    /// Returns the false answer to a request. Returns `None` for a true answer; filter lies later, in its pushes.
    pub(super) fn lie(
        &mut self,
        world: &World,
        service: StreamService,
        request: &Bytes,
    ) -> Option<Bytes> {
        match service {
            // Metadata of another cluster would lose the client.
            StreamService::Filter | StreamService::Metadata => None,
            StreamService::PeerExchange => {
                // Nodes that do not serve.
                let nodes = u64::from(world.service_nodes().start);
                let invented = (0..LIES).filter(|_| nodes > 0);
                let invented = invented.map(|_| records::encode(self.rng.below(nodes) as u32));
                let response = PeerExchangeResponse {
                    enrs: invented.collect(),
                    status: PeerExchangeStatus::OK,
                    status_desc: None,
                    skipped: 0,
                };
                Some(response.encode().into())
            }
            StreamService::LegacyLightpush => {
                let limits = LightpushCodecLimits::default();
                let request = LegacyRequest::decode(request, &limits).ok()?;
                let response = LegacyResponse {
                    request_id: request.request_id,
                    is_success: true,
                    info: None,
                };
                Some(response.encode().into())
            }
            StreamService::Lightpush => {
                let limits = LightpushCodecLimits::default();
                let request = LightpushRequest::decode(request, &limits).ok()?;
                let response = LightpushResponse {
                    request_id: request.request_id,
                    status: LightpushStatus::OK,
                    status_desc: None,
                    relay_peer_count: Some(LIES as u32),
                };
                Some(response.encode().into())
            }
            StreamService::Store => {
                let request = StoreRequest::decode(request, &StoreLimits::default()).ok()?;
                let entries = match (&request.query.criteria, request.query.include_data) {
                    // Hashes of messages that do not exist.
                    (HistoryCriteria::Content(_), false) => (0..LIES)
                        .map(|_| HistoryEntry {
                            hash: self.invented_hash(),
                            data: None,
                        })
                        .collect(),
                    // Messages that were not requested.
                    (_, true) => vec![entry(StoredMessage::new(
                        "/waku/2/rs/0/0",
                        unasked(self.rng.below(u64::MAX)),
                    ))],
                    // Nothing, whatever the archive has.
                    (HistoryCriteria::Hashes(_), false) => Vec::new(),
                };
                let response = StoreResponse {
                    request_id: request.request_id,
                    status: StoreStatus::Ok,
                    description: "OK".into(),
                    page: HistoryPage {
                        entries,
                        next: None,
                    },
                };
                Some(response.encode().into())
            }
        }
    }

    /// Pushes an unrequested message to every client.
    pub(super) fn push_lies(&mut self, world: &World) {
        let push = MessagePush {
            message: unasked(self.rng.below(u64::MAX)),
            pubsub_topic: Some(world.shards[0].clone()),
        };
        let body = Bytes::from(push.encode());
        let len = body.len();
        let frame = StreamFrame::Push { body }.encode();
        for conn in self.connections() {
            self.write_push(world, conn, len, frame.clone());
        }
    }

    fn invented_hash(&mut self) -> MessageHash {
        let mut hash = [0; 32];
        for word in hash.chunks_exact_mut(8) {
            word.copy_from_slice(&self.rng.below(u64::MAX).to_le_bytes());
        }
        MessageHash(hash)
    }
}

fn entry(stored: StoredMessage) -> HistoryEntry {
    HistoryEntry {
        hash: stored.hash,
        data: Some(undertone_services::history::HistoryData {
            pubsub_topic: stored.pubsub_topic,
            message: stored.message,
        }),
    }
}

fn unasked(number: u64) -> WakuMessage {
    let mut payload = UNCOUNTED.to_le_bytes().to_vec();
    payload.extend(number.to_le_bytes());
    WakuMessage::new(payload, UNASKED_TOPIC)
}
