//! Filter v2: messages pushed to light clients by content topic.
//!
//! [`FilterServer`] serves clients; clients use the frames [`SubscribeRequest`], [`SubscribeResponse`]
//! and [`MessagePush`].

mod codec;
mod in_flight;
mod io;
mod refusal;
mod seen;
mod server;
mod subscriptions;

pub use codec::{
    FilterCodecLimits, FilterStatus, MessagePush, SubscribeKind, SubscribeRequest,
    SubscribeResponse,
};
pub use io::{
    ClientSubscription, FilterLimits, FilterStats, FilterUsage, Input, Output, PUSH_TIMEOUT,
};
pub use server::FilterServer;
pub use subscriptions::FilterCriterion;

/// Identifier of the protocol on which clients subscribe.
pub const SUBSCRIBE_PROTOCOL_ID: &str = "/vac/waku/filter-subscribe/2.0.0-beta1";

/// Identifier of the protocol on which messages are pushed to clients.
pub const PUSH_PROTOCOL_ID: &str = "/vac/waku/filter-push/2.0.0-beta1";
