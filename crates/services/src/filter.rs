//! Filter v2: messages pushed to light clients by content topic.

mod codec;

pub use codec::{
    CodecLimits, MessagePush, Status, SubscribeKind, SubscribeRequest, SubscribeResponse,
};

/// Identifier of the protocol on which clients subscribe.
pub const SUBSCRIBE_PROTOCOL_ID: &str = "/vac/waku/filter-subscribe/2.0.0-beta1";

/// Identifier of the protocol on which messages are pushed to clients.
pub const PUSH_PROTOCOL_ID: &str = "/vac/waku/filter-push/2.0.0-beta1";
