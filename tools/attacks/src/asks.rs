//! Requests to the services of a node, valid and invalid.

use std::time::{SystemTime, UNIX_EPOCH};

use libp2p::StreamProtocol;
use undertone_message::{MessageHash, WakuMessage, WakuMetadata, metadata};
use undertone_services::filter::{self, SubscribeKind, SubscribeRequest};
use undertone_services::history::{
    ContentCriteria, HistoryCriteria, HistoryQuery, PAGE_MAX, PageDirection,
};
use undertone_services::lightpush::{self, LightpushRequest};
use undertone_services::peer_exchange::{self, PeerExchangeRequest};
use undertone_services::rendezvous::{self, RendezvousRequest};
use undertone_services::store::{self, StoreRequest};
use undertone_services::sync::{
    Fingerprint, RECONCILIATION_PROTOCOL_ID, RangeContent, RangesPayload, SyncId, SyncLimits,
    SyncRange, TRANSFER_PROTOCOL_ID, TransferMessage,
};

use super::topics::CLUSTER;

/// Protocol of store queries.
pub const STORE: StreamProtocol = StreamProtocol::new(store::PROTOCOL_ID);
/// Protocol of filter subscriptions.
pub const FILTER: StreamProtocol = StreamProtocol::new(filter::SUBSCRIBE_PROTOCOL_ID);
/// Protocol on which filter pushes messages.
pub const PUSH: StreamProtocol = StreamProtocol::new(filter::PUSH_PROTOCOL_ID);
/// Protocol of lightpush, version 3.
pub const LIGHTPUSH: StreamProtocol = StreamProtocol::new(lightpush::PROTOCOL_ID);
/// Protocol of lightpush, version 2.
pub const LEGACY_LIGHTPUSH: StreamProtocol = StreamProtocol::new(lightpush::legacy::PROTOCOL_ID);
/// Protocol of peer exchange.
pub const EXCHANGE: StreamProtocol = StreamProtocol::new(peer_exchange::PROTOCOL_ID);
/// Protocol of rendezvous.
pub const RENDEZVOUS: StreamProtocol = StreamProtocol::new(rendezvous::PROTOCOL_ID);
/// Protocol of metadata.
pub const METADATA: StreamProtocol = StreamProtocol::new(metadata::PROTOCOL_ID);
/// Protocol on which stores compare their messages.
pub const RECONCILIATION: StreamProtocol = StreamProtocol::new(RECONCILIATION_PROTOCOL_ID);
/// Protocol on which a store sends messages that another lacks.
pub const TRANSFER: StreamProtocol = StreamProtocol::new(TRANSFER_PROTOCOL_ID);
/// Protocols of all requests, and of synchronisation sessions between stores.
pub static ALL: [StreamProtocol; 9] = [
    STORE,
    FILTER,
    LIGHTPUSH,
    LEGACY_LIGHTPUSH,
    EXCHANGE,
    RENDEZVOUS,
    METADATA,
    RECONCILIATION,
    TRANSFER,
];

/// Number of shards in the longest metadata request.
const SHARDS: u32 = 100;

/// Returns a metadata request that names many shards of the network's cluster.
#[must_use]
pub fn metadata() -> Vec<u8> {
    let metadata = WakuMetadata {
        cluster_id: Some(u32::from(CLUSTER)),
        shards: (0..SHARDS).collect(),
    };
    metadata
        .encode()
        .expect("the shards fit the longest metadata")
}

/// Returns the first payload of a session between stores: the last hour in as many ranges as a payload may have. The
/// sender claims to have other messages in each of them.
#[must_use]
pub fn most_ranges() -> Vec<u8> {
    const HOUR_NS: u64 = 3_600_000_000_000;
    let count = SyncLimits::default().max_ranges as u64;
    let start_ns = now_ns().unsigned_abs().saturating_sub(HOUR_NS);
    let at = |n: u64| SyncId::at(start_ns + HOUR_NS / count * n);
    let ranges = (0..count).map(|n| SyncRange {
        lower: at(n),
        upper: at(n + 1),
        content: RangeContent::Fingerprint(Fingerprint([7; 32])),
    });
    let payload = RangesPayload {
        ranges: ranges.collect(),
        ..RangesPayload::default()
    };
    payload.encode()
}

/// Returns a message in the format of the transfer protocol that no session between stores has requested.
#[must_use]
pub fn unasked(pubsub_topic: &str, content_topic: &str, payload: Vec<u8>) -> Vec<u8> {
    let message = TransferMessage {
        pubsub_topic: pubsub_topic.into(),
        message: WakuMessage {
            timestamp: Some(now_ns()),
            ..WakuMessage::new(payload, content_topic)
        },
    };
    message.encode()
}

/// Returns a registration with a record of maximum length that nobody has signed.
#[must_use]
pub fn forged_registration(namespace: &str) -> Vec<u8> {
    let register = RendezvousRequest::Register {
        namespace: namespace.as_bytes(),
        record: &[0x0a; 2048],
        ttl_s: Some(72 * 3600),
    };
    register.encode()
}

/// Returns a request for all registrations of all namespaces.
#[must_use]
pub fn everybody() -> Vec<u8> {
    let discover = RendezvousRequest::Discover {
        namespace: None,
        limit: Some(u64::MAX),
        cookie: None,
    };
    discover.encode()
}

/// Returns a query for the newest page of at most `limit` messages, with the given content topic or any.
#[must_use]
pub fn newest(content_topic: Option<&str>, limit: u32) -> Vec<u8> {
    query(
        HistoryCriteria::Content(ContentCriteria {
            content_topics: content_topic.map(Into::into).into_iter().collect(),
            ..ContentCriteria::default()
        }),
        limit,
    )
}

/// Returns a query for all times and as many content topics as a request may have; none of them matches.
#[must_use]
pub fn widest() -> Vec<u8> {
    let topics = (0..100).map(|n| format!("/nobody/1/{n}/proto").into());
    query(
        HistoryCriteria::Content(ContentCriteria {
            content_topics: topics.collect(),
            start_ns: Some(1),
            end_ns: Some(i64::MAX),
            ..ContentCriteria::default()
        }),
        PAGE_MAX,
    )
}

/// Returns a query for as many hashes as a request may have; none of them exists.
#[must_use]
pub fn hashes() -> Vec<u8> {
    let hash = |n: u32| {
        let mut bytes = [7; 32];
        bytes[..4].copy_from_slice(&n.to_be_bytes());
        MessageHash(bytes)
    };
    query(
        HistoryCriteria::Hashes((0..1_000).map(hash).collect()),
        PAGE_MAX,
    )
}

fn query(criteria: HistoryCriteria, limit: u32) -> Vec<u8> {
    let request = StoreRequest {
        request_id: "query".into(),
        query: HistoryQuery {
            include_data: true,
            criteria,
            cursor: None,
            direction: PageDirection::Backward,
            limit,
        },
    };
    request.encode()
}

/// Returns a subscription to content topics on a pubsub topic.
#[must_use]
pub fn subscribe(pubsub_topic: &str, content_topics: impl IntoIterator<Item = String>) -> Vec<u8> {
    let request = SubscribeRequest {
        request_id: "subscribe".to_owned(),
        kind: SubscribeKind::Subscribe,
        pubsub_topic: Some(pubsub_topic.into()),
        content_topics: content_topics.into_iter().map(Into::into).collect(),
    };
    request.encode()
}

/// Returns a lightpush request for a message with the present time.
#[must_use]
pub fn push(pubsub_topic: &str, content_topic: &str, payload: Vec<u8>) -> Vec<u8> {
    let message = WakuMessage {
        timestamp: Some(now_ns()),
        ..WakuMessage::new(payload, content_topic)
    };
    push_of(pubsub_topic, message)
}

/// Returns a lightpush request for a message.
#[must_use]
pub fn push_of(pubsub_topic: &str, message: WakuMessage) -> Vec<u8> {
    let request = LightpushRequest {
        request_id: "push".to_owned(),
        pubsub_topic: Some(pubsub_topic.into()),
        message,
    };
    request.encode()
}

/// Returns a request for records of peers.
#[must_use]
pub fn peers(num_peers: u64) -> Vec<u8> {
    let num_peers = Some(num_peers);
    PeerExchangeRequest { num_peers }.encode()
}

/// Returns the present time, Unix nanoseconds.
#[must_use]
pub fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(i64::MAX)
}
